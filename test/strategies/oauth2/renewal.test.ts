import { describe, expect, it } from 'vitest'
import { memoryStore, type SessionStore } from '../../../src/auth/session.ts'
import { NetworkError } from '../../../src/errors.ts'
import type { HttpRequest } from '../../../src/http/message.ts'
import { target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { type Reply, script } from '../../harness/scripted.ts'
import { AUTHORIZE_URL, DATA, entries, loginPage, TOKEN_URL, victim } from '../../harness/victim.ts'

const F = `${DATA}f.tif`
const NOW = 1_800_000_000_000
const wanted = target(
  { type: 'oauth2', flows: { authorizationCode: { authorizationUrl: AUTHORIZE_URL, tokenUrl: TOKEN_URL, scopes: {} } } },
  F,
)
const form = ({ body }: HttpRequest) => Object.fromEntries(new URLSearchParams(String(body)))

/** A person who logged in; every refresh rotates the refresh token, as `answer` lets it. */
async function loggedIn(
  answer: (refresh: number, give: () => Reply) => Reply | Promise<Reply>,
  isGood = (token: string) => token !== 't0',
) {
  const events: string[] = []
  let now = NOW
  let issued = 0
  let refreshes = 0
  const set = () => ({ body: { access_token: `t${issued}`, refresh_token: `r${issued++}`, token_type: 'Bearer', expires_in: 600 } })
  const servers = script(async (request) => {
    if (request.url !== TOKEN_URL) {
      const token = request.headers.authorization?.slice(7) ?? ''
      events.push(`shown ${token}`)
      return { status: isGood(token) ? 200 : 401 }
    }
    const { grant_type, refresh_token } = form(request)
    events.push(`asked ${grant_type} ${refresh_token ?? ''}`.trim())
    return grant_type === 'refresh_token' ? answer(refreshes++, set) : set()
  })
  const memory = memoryStore()
  const store: SessionStore = {
    ...memory,
    write: async (key, text) => {
      events.push(`kept ${JSON.parse(text).refreshToken}`)
      await memory.write(key, text)
    },
  }
  const clock = new FakeClock({ now: () => now, waits: 'skipped' })
  const { auth } = victim({ credentials: entries.login, clock, session: store }, servers)
  const login = () => auth.login('login', { redirect: async () => loginPage() })
  await login()
  return {
    auth,
    events,
    login,
    pass: (milliseconds: number) => {
      now += milliseconds
    },
  }
}

describe('a refused token', () => {
  it('a refused token of a thousand requests at a time is refreshed once, and kept before it is shown', async () => {
    const { auth, events } = await loggedIn((_refresh, give) => give())
    const answers = await Promise.all(Array.from({ length: 1000 }, () => auth.fetch(wanted)))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(events.filter((event) => event.startsWith('asked refresh'))).toEqual(['asked refresh_token r0'])
    expect(events.indexOf('kept r1')).toBeLessThan(events.indexOf('shown t1'))
    expect(events.indexOf('kept r1')).toBeGreaterThan(0)
  })

  it.each([
    [599_000, false],
    [600_000, true],
  ])('a refused token that was shown for %d ms of its 600 000 may be requested again: %s', async (milliseconds, retryable) => {
    const { auth, pass } = await loggedIn(
      (_refresh, give) => give(),
      (token) => {
        if (token === 't1') pass(milliseconds)
        return false
      },
    )
    expect(await failureOf(auth.fetch(wanted))).toMatchObject({ code: 'AUTH_REJECTED', retryable })
  })
})

describe('a token that is about to end', () => {
  it('a token that is about to end is refreshed before it does, in the last tenth of its life', async () => {
    const { auth, events, pass } = await loggedIn(
      (_refresh, give) => give(),
      () => true,
    )
    pass(539_000)
    await auth.fetch(wanted)
    pass(2000)
    await auth.fetch(wanted)
    expect(events.filter((event) => event.startsWith('shown'))).toEqual(['shown t0', 'shown t1'])
  })

  it('a token that is about to end is good enough while the server cannot be reached', async () => {
    const { auth, events, pass } = await loggedIn(
      () => Promise.reject(new NetworkError('NETWORK_RESET', 'gone', { retryable: true })),
      () => true,
    )
    pass(541_000)
    await auth.fetch(wanted)
    expect(events.at(-1)).toBe('shown t0')
    pass(60_000)
    expect(await failureOf(auth.fetch(wanted))).toMatchObject({ code: 'NETWORK_RESET' })
  })
})

describe('O12 a refresh', () => {
  it('O12 a refresh that the server refuses ends the login', async () => {
    const { auth, login } = await loggedIn(() => ({ status: 400, body: { error: 'invalid_grant' } }))
    expect(await failureOf(auth.fetch(wanted))).toMatchObject({ code: 'LOGIN_REQUIRED', credential: 'login' })
    await login()
    expect((await auth.fetch(wanted)).status).toBe(200)
  })

  it.each<[string, Reply, string]>([
    [
      'a code of its own',
      { status: 400, body: { error: 'bad_refresh_token', error_description: 'the session has ended' } },
      'bad_refresh_token: the session has ended',
    ],
    ['another registered code', { status: 401, body: { error: 'invalid_token' } }, 'invalid_token'],
    ['a code that may be a secret', { status: 400, body: { error: 'E-4711 r0' } }, 'an unregistered error code'],
    ['an error in a successful response', { status: 200, body: { error: 'expired_token' } }, 'expired_token'],
    ['a status only', { status: 401, body: 'no' }, 'failed with status 401'],
  ])('O12 a refresh that the server refuses with %s ends the login, and says why', async (_name, reply, why) => {
    const { auth, events, login } = await loggedIn(() => reply)
    for (let times = 0; times < 2; times++) {
      const error = await failureOf(auth.fetch(wanted))
      expect(error).toMatchObject({ code: 'LOGIN_REQUIRED', credential: 'login', hint: expect.stringContaining('stac-auth login login') })
      if (times === 0) expect(error.message).toContain(why)
    }
    expect(events.filter((event) => event.startsWith('asked refresh'))).toHaveLength(1)
    expect(await auth.status()).toMatchObject([{ state: 'none', refreshable: false }])
    await login()
    expect((await auth.fetch(wanted)).status).toBe(200)
  })

  it.each<[Reply, string]>([
    [{ status: 500, body: { error: 'internal' } }, 'OAUTH_ERROR'],
    [{ status: 502, body: '<html>' }, 'HTTP_502'],
    [{ status: 429, body: { error: 'invalid_request' } }, 'OAUTH_ERROR'],
    [{ status: 400, body: { error: 'temporarily_unavailable' } }, 'OAUTH_ERROR'],
    [{ status: 400, body: { error: 'server_error' } }, 'OAUTH_ERROR'],
    [{ status: 404, body: { error: 'Not Found' } }, 'OAUTH_ERROR'],
    [{ status: 403, body: '<html>' }, 'HTTP_403'],
    [{ status: 401, body: { error: 'invalid_client' } }, 'OAUTH_ERROR'],
  ])('O12 a refresh that fails with %j keeps the refresh token', async (reply, code) => {
    let isBack = false
    const { auth, pass } = await loggedIn((_refresh, give) => (isBack ? give() : reply))
    expect(await failureOf(auth.fetch(wanted))).toMatchObject({ code })
    expect(await auth.status()).toMatchObject([{ refreshable: true }])
    isBack = true
    pass(60_000)
    expect((await auth.fetch(wanted)).status).toBe(200)
  })

  it('O12 an early refresh that is refused leaves the access token, also to later programs', async () => {
    const { auth, events, pass } = await loggedIn(
      () => ({ status: 400, body: { error: 'invalid_grant' } }),
      () => true,
    )
    pass(541_000)
    expect((await auth.fetch(wanted)).status).toBe(200)
    expect(events.slice(-3)).toEqual(['asked refresh_token r0', 'kept undefined', 'shown t0'])
    expect(await auth.status()).toMatchObject([{ state: 'valid', refreshable: false }])
    pass(60_000)
    expect(await failureOf(auth.fetch(wanted))).toMatchObject({ code: 'LOGIN_REQUIRED' })
  })

  it('O12 a refresh without an answer is tried again, and ends the login when the token was rotated', async () => {
    const { auth, events } = await loggedIn((refresh) => {
      if (refresh === 0) throw new NetworkError('NETWORK_RESET', 'gone', { retryable: true })
      return { status: 400, body: { error: 'invalid_grant' } }
    })
    expect(await failureOf(auth.fetch(wanted))).toMatchObject({ code: 'LOGIN_REQUIRED' })
    expect(events.filter((event) => event.startsWith('asked refresh'))).toEqual(['asked refresh_token r0', 'asked refresh_token r0'])
  })

  it('O12 a refresh without a new refresh token keeps the old one', async () => {
    let good = 't0'
    const { auth, events } = await loggedIn(
      (refresh) => {
        good = `s${refresh}`
        return { body: { access_token: good, token_type: 'Bearer' } }
      },
      (token) => token === good,
    )
    good = ''
    await auth.fetch(wanted)
    good = ''
    await auth.fetch(wanted)
    expect(events.filter((event) => event.startsWith('asked refresh'))).toEqual(['asked refresh_token r0', 'asked refresh_token r0'])
  })
})

it('O12 an authorization code is never sent twice', async () => {
  const sent: string[] = []
  const servers = script((request) => {
    sent.push(request.url)
    throw new NetworkError('NETWORK_RESET', 'gone', { retryable: true })
  })
  const { auth } = victim({ credentials: entries.login, clock: new FakeClock({ now: () => NOW, waits: 'skipped' }) }, servers)
  expect(await failureOf(auth.login('login', { redirect: async () => loginPage() }))).toMatchObject({ code: 'NETWORK_RESET' })
  expect(sent).toEqual([TOKEN_URL])
})
