import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openPopup, type PopupOptions } from '../../src/browser/logins.ts'
import { found } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { fakePage } from './fake-page.ts'

const URI = 'https://site.example/callback.html'
const LOGIN = { state: 'state-1', record: '' }

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

/** A popup on its way to the provider; `outcome` is what came of the wait so far. */
function waiting(options: Partial<PopupOptions> = {}) {
  const page = fakePage('https://site.example/')
  const popup = openPopup({ page, credential: 'portal', uri: URI, timeout: 300_000, watchClosing: true, ...options })
  const outcomes: unknown[] = []
  const isOurs = (url: URL) => url.searchParams.get('state') === LOGIN.state
  const answer = popup.redirection.answer('https://identity.example/auth', isOurs, LOGIN)
  void answer.then((url) => outcomes.push(url.href)).catch((error: { code: string }) => outcomes.push(error.code))
  return { page, popup, answer, window: found(page.popups[0]), outcomes }
}

/** Somebody of this origin, or not, speaks to the page directly, as from a frame of another site. */
function speak(page: ReturnType<typeof fakePage>, origin: string, data: unknown): unknown[] {
  const replies: unknown[] = []
  const source = { postMessage: (...reply: unknown[]) => replies.push(reply) }
  ;(page as unknown as EventTarget).dispatchEvent(Object.assign(new Event('message'), { origin, data, source }))
  return replies
}

const answerOf = (url: string, state = LOGIN.state) => ({ type: 'stac-auth login', state, answer: url })

describe('the window of a login', () => {
  it('counts as closed when it stays closed for a second while this page has the focus', async () => {
    const { page, window, outcomes } = waiting()
    await vi.advanceTimersByTimeAsync(250)
    page.focused = false
    window.closed = true
    await vi.advanceTimersByTimeAsync(60_000)
    expect(outcomes).toEqual([])
    page.focused = true
    await vi.advanceTimersByTimeAsync(1000)
    expect(outcomes).toEqual(['LOGIN_DENIED'])
  })

  it('has to look closed for longer when it never left its blank page, as a window whose link was severed', async () => {
    const { page, window, outcomes } = waiting()
    window.location.href = 'about:blank'
    await vi.advanceTimersByTimeAsync(250)
    window.closed = true
    await vi.advanceTimersByTimeAsync(4500)
    page.focused = false
    await vi.advanceTimersByTimeAsync(60_000)
    expect(outcomes).toEqual([])
    page.focused = true
    await vi.advanceTimersByTimeAsync(5000)
    expect(outcomes).toEqual(['LOGIN_DENIED'])
  })

  it('the window of a login is not polled where its pages sever the opener, or after its timeout', async () => {
    const { window, outcomes } = waiting({ watchClosing: false })
    window.closed = true
    await vi.advanceTimersByTimeAsync(299_000)
    expect(outcomes).toEqual([])
    await vi.advanceTimersByTimeAsync(1000)
    expect(outcomes).toEqual(['LOGIN_TIMEOUT'])
  })

  it('takes an answer from this origin, at the redirect URI, with this state; and from no one else', async () => {
    const { page, answer, outcomes } = waiting()
    const good = `${URI}?code=c&state=state-1`
    for (const [origin, message] of [
      ['https://evil.example', answerOf(good)],
      ['https://site.example', answerOf('https://evil.example/callback.html?code=c&state=state-1')],
      ['https://site.example', answerOf('https://site.example/other.html?code=c&state=state-1')],
      ['https://site.example', answerOf(`${URI}?code=c&state=another`)],
      ['https://site.example', answerOf(good, 'another')],
      ['https://site.example', { ...answerOf(good), type: 'of another library' }],
      ['https://site.example', answerOf('no address')],
      ['https://site.example', null],
    ] as const) {
      expect(speak(page, origin, message)).toEqual([])
    }
    await vi.advanceTimersByTimeAsync(1000)
    expect(outcomes).toEqual([])
    expect(speak(page, 'https://site.example', answerOf(good))).toEqual([
      [{ type: 'stac-auth login', state: 'state-1', taken: true }, { targetOrigin: 'https://site.example' }],
    ])
    expect((await answer).href).toBe(good)
  })

  it.each(['?', '#'])('hands a response with the state of this login behind %s to the engine, which names the fault', async (mark) => {
    const page = fakePage('https://site.example/')
    const popup = openPopup({ page, credential: 'portal', uri: URI, timeout: 1000, watchClosing: true })
    const answer = popup.redirection.answer('https://identity.example/auth', () => false, LOGIN)
    expect(speak(page, 'https://site.example', answerOf(`${URI}${mark}code=c&state=another`))).toEqual([])
    const strange = `${URI}${mark}code=c&iss=strange&state=state-1`
    speak(page, 'https://site.example', answerOf(strange))
    expect((await answer).href).toBe(strange)
  })

  it('keeps its opener in a frame, which it could not reach otherwise', () => {
    const page = Object.assign(fakePage('https://site.example/'), { parent: fakePage('https://host.example/') })
    openPopup({ page, credential: 'portal', uri: URI, timeout: 1, watchClosing: true })
    expect(page.popups).toMatchObject([{ opener: 'the page' }])
  })

  it('leaves nothing behind: what comes later is heard by no one', async () => {
    const { page, outcomes } = waiting({ timeout: 10 })
    await vi.advanceTimersByTimeAsync(10)
    expect(outcomes).toEqual(['LOGIN_TIMEOUT'])
    expect(speak(page, 'https://site.example', answerOf(`${URI}?code=c&state=state-1`))).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('the window of a login is not opened for a call that is over already', async () => {
    const page = fakePage('https://site.example/')
    const popup = openPopup({ page, credential: 'portal', uri: URI, timeout: 1, watchClosing: true, signal: AbortSignal.abort() })
    expect(await failureOf(popup.redirection.answer('https://identity.example/', () => true, LOGIN))).toMatchObject({ code: 'ABORTED' })
    expect(page.popups).toMatchObject([{ visited: [] }])
  })
})
