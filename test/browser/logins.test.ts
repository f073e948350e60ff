import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { memoryStore } from '../../src/auth/session.ts'
import type { SessionChange } from '../../src/auth/strategy.ts'
import { completeLogin } from '../../src/browser/complete-login.ts'
import { isAnswerAt } from '../../src/browser/login-record.ts'
import { createLogins } from '../../src/browser/logins.ts'
import { canaryOf, leaks, shown } from '../harness/canary.ts'
import { found } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { unchecked } from '../harness/unchecked.ts'
import { type AuthorizationServer, startAuthorizationServer } from '../servers/authorization-server.ts'
import { browse } from '../servers/person.ts'
import { fakePage } from './fake-page.ts'

const SITE = 'http://127.0.0.1:7777'
const CALLBACK = `${SITE}/callback.html`
let server: AuthorizationServer

beforeAll(async () => {
  const page = {
    client_id: 'page',
    token_endpoint_auth_method: 'none',
    application_type: 'native' as const,
    redirect_uris: ['http://127.0.0.1/callback.html'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    scope: 'openid offline_access read',
  }
  server = await startAuthorizationServer({ clients: [page] })
})
afterAll(() => server.close())
afterEach(() => void vi.useRealTimers())

/** An engine as of one page load; `session` and the texts of the storage are what outlives it. */
function load(page = fakePage(`${SITE}/map?x=1#here`), { session = memoryStore(), id = 'portal', now = Date.now } = {}) {
  const changes: SessionChange[] = []
  const entry = {
    id,
    type: 'openIdConnect',
    issuer: server.issuer,
    clientId: 'page',
    scopes: ['offline_access', 'read'],
    sendTo: server.issuer,
  }
  const auth = createAuth({ credentials: unchecked(entry), session, clock: { now }, onSession: (change) => changes.push(change) })
  return { page, auth, session, changes, logins: createLogins(auth, { callback: '/callback.html', afterLogout: '/bye', page }) }
}

const stop = (url: URL) => url.origin === SITE
const read = async (auth: ReturnType<typeof load>['auth']) => (await auth.fetch(server.resource)).text()

/** Leaves for the provider and gives the address with which the person comes back. */
async function leave(stage: ReturnType<typeof load>, returnTo?: string): Promise<URL> {
  void stage.logins.redirect('portal', returnTo === undefined ? {} : { returnTo }).catch(() => {})
  await expect.poll(() => stage.page.visited.length).toBe(1)
  return (await browse(found(stage.page.visited[0]), { stop })) as URL
}

describe('a login by popup', () => {
  it('a login by popup opens its window before anything is awaited, without a way back to this page', async () => {
    const { page, logins, auth, changes } = load()
    const done = logins.popup('portal')
    expect(page.popups).toMatchObject([{ opener: null, visited: [] }])
    const [popup] = page.popups
    await expect.poll(() => popup?.visited.length).toBe(1)
    const callback = (await browse(found(popup?.visited[0]), { stop })) as URL
    const answering = fakePage(callback.href)
    expect(await completeLogin({ page: answering })).toBe('delivered')
    expect([answering.location.href, answering.isClosed()]).toEqual([CALLBACK, true])
    await done
    expect(popup?.closed).toBe(true)
    expect(await read(auth)).toBe('file of alice')
    expect(changes).toEqual([{ credential: 'portal', change: 'started' }])
  })

  it('a login by popup that the browser blocks is POPUP_BLOCKED, and nothing was asked of anybody', async () => {
    const before = server.log.length
    const { logins } = load(fakePage(SITE, { blocks: true }))
    expect(await failureOf(logins.popup('portal'))).toMatchObject({ name: 'CredentialError', code: 'POPUP_BLOCKED', credential: 'portal' })
    expect(server.log.length).toBe(before)
  })

  it('closes its window when there is no such credential', async () => {
    const { page, logins } = load()
    expect(await failureOf(logins.popup('nobody'))).toMatchObject({ code: 'CONFIG_INVALID' })
    expect(page.popups).toMatchObject([{ closed: true }])
  })

  it('ends after its time, and with the signal of the caller', async () => {
    const { page, auth } = load()
    const hasty = createLogins(auth, { callback: CALLBACK, timeout: 50, page })
    expect(await failureOf(hasty.popup('portal'))).toMatchObject({ code: 'LOGIN_TIMEOUT' })
    expect(await failureOf(load().logins.popup('portal', { signal: AbortSignal.abort() }))).toMatchObject({ code: 'ABORTED' })
  })
})

describe('a login by redirect', () => {
  it('continues at the next page, where the user was; nothing of it stays behind', async () => {
    const stage = load()
    const callback = await leave(stage)
    const answering = fakePage(callback.href, { texts: stage.page.texts })
    expect(await completeLogin({ page: answering })).toBe('returned')
    expect([answering.location.href, ...answering.visited]).toEqual([CALLBACK, `${SITE}/map?x=1#here`])
    const next = load(fakePage(found(answering.visited[0]), { texts: stage.page.texts }))
    expect(await next.logins.finish()).toEqual({ credential: 'portal', returnTo: `${SITE}/map?x=1#here` })
    expect(await read(next.auth)).toBe('file of alice')
    expect([...stage.page.texts]).toEqual([])
    expect(await next.logins.finish()).toBeUndefined()
  })

  it('a login by redirect may come back to a page that finishes it itself, with a clean URL', async () => {
    const stage = load()
    const callback = await leave(stage, '/other')
    const page = fakePage(callback.href, { texts: stage.page.texts })
    expect(await load(page).logins.finish()).toEqual({ credential: 'portal', returnTo: `${SITE}/other` })
    expect(page.location.href).toBe(CALLBACK)
  })

  it.each(['https://evil.example/', '//evil.example/', 'javascript:alert(1)', `${SITE.replace('//', '//user@')}/`])(
    'does not go back to %s',
    async (place) => {
      const { page, logins } = load()
      expect(await failureOf(logins.redirect('portal', { returnTo: place }))).toMatchObject({
        code: 'CONFIG_INVALID',
        pointer: '/returnTo',
      })
      expect(page.visited).toEqual([])
    },
  )

  it('does not go back where someone else has written into the storage', async () => {
    const stage = load()
    const callback = await leave(stage)
    const name = found([...stage.page.texts.keys()][0])
    const record = { ...JSON.parse(found(stage.page.texts.get(name))), returnTo: 'https://evil.example/' }
    const answering = fakePage(callback.href, { texts: new Map([[name, JSON.stringify(record)]]) })
    expect(await failureOf(completeLogin({ page: answering }))).toMatchObject({ code: 'CONFIG_INVALID' })
    expect(answering.visited).toEqual([])
    const before = server.log.length
    for (const forged of ['https://evil.example/', `http://user@127.0.0.1:7777/`, 'javascript:alert(1)']) {
      const texts = new Map([[name, JSON.stringify({ ...record, returnTo: forged })]])
      const next = load(fakePage(callback.href, { texts }))
      expect(await failureOf(next.logins.finish())).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/returnTo' })
      expect([next.changes, [...texts]]).toEqual([[], []])
    }
    expect(server.log.length).toBe(before)
  })

  it('does not take parameters of another page for the response to a login', async () => {
    for (const place of [`${SITE}/map`, `${SITE}/callback.html/more`]) {
      const page = fakePage(`${place}?code=c&state=theirs`)
      expect(await load(page).logins.finish()).toBeUndefined()
      expect([page.location.href, page.isClosed()]).toEqual([`${place}?code=c&state=theirs`, false])
    }
  })

  it.each([
    [`${CALLBACK}?code=c&state=s#x`, true],
    [CALLBACK, true],
    [`${SITE}/callback.htm?code=c`, false],
    ['https://127.0.0.1:7777/callback.html', false],
    ['http://127.0.0.1:7778/callback.html', false],
    ['/callback.html', false],
    ['', false],
  ])('reads a response only at the redirect URI: %s', (address, expected) => {
    expect(isAnswerAt(address, `${CALLBACK}?app=1`)).toBe(expected)
  })

  it('ends when the person comes back without an answer, and without storage before it begins', async () => {
    const { page, logins } = load()
    const first = new AbortController()
    const done = failureOf(logins.redirect('portal', { signal: first.signal }))
    await expect.poll(() => page.visited.length).toBe(1)
    for (const persisted of [false, true])
      (page as unknown as EventTarget).dispatchEvent(Object.assign(new Event('pageshow'), { persisted }))
    expect(await done).toMatchObject({ code: 'ABORTED' })
    expect([...page.texts]).toEqual([])
    const next = new AbortController()
    const [again, record] = [failureOf(logins.redirect('portal', { signal: next.signal })), () => [...page.texts]]
    await expect.poll(() => page.visited.length).toBe(2)
    // What comes of the login before has no say in this one.
    first.abort()
    expect(record()).toHaveLength(1)
    next.abort()
    expect(await again).toMatchObject({ code: 'ABORTED' })
    expect(record()).toEqual([])
    const { logins: storeless } = load(fakePage(SITE, { noStorage: true }))
    expect(await failureOf(storeless.redirect('portal'))).toMatchObject({ code: 'FILE_ACCESS' })
  })
})

describe('an answer', () => {
  it('leaves a URL whose path begins like a host as well', async () => {
    const page = fakePage(`${SITE}//other.example/?code=c&state=s`)
    expect(await completeLogin({ page, timeout: 1 })).toBe('unclaimed')
    expect(page.location.href).toBe(`${SITE}//other.example/`)
  })

  it('an answer that this tab did not request is refused by name, and leaves the URL', async () => {
    const page = fakePage(`${CALLBACK}?code=secret-code-of-a-stranger&state=s`)
    const before = server.log.length
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const refused = failureOf(load(page).logins.finish())
    while (page.location.href !== CALLBACK) await new Promise(setImmediate)
    await vi.advanceTimersByTimeAsync(5000)
    const error = await refused
    expect(error).toMatchObject({ name: 'ProtocolError', code: 'OAUTH_RESPONSE_INVALID' })
    expect(leaks([canaryOf('secret-code-of-a-stranger')], { error: shown(error) })).toEqual([])
    expect(page.location.href).toBe(CALLBACK)
    expect(server.log.slice(before)).toEqual([])
  })

  it('an answer to another login is refused, and the login that this tab began can still end', async () => {
    const stage = load()
    const callback = await leave(stage)
    const { texts } = stage.page
    const page = fakePage(`${CALLBACK}?code=c&state=another`, { texts })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const refused = failureOf(load(page).logins.finish())
    while (page.location.href !== CALLBACK) await new Promise(setImmediate)
    await vi.advanceTimersByTimeAsync(5000)
    expect(await refused).toMatchObject({ code: 'OAUTH_RESPONSE_INVALID' })
    vi.useRealTimers()
    expect(await load(fakePage(callback.href, { texts })).logins.finish()).toMatchObject({ credential: 'portal' })
  })

  it('a login response is used once: neither the record nor the code is used again', async () => {
    const stage = load()
    const callback = await leave(stage)
    const texts = new Map(stage.page.texts)
    await load(fakePage(callback.href, { texts: stage.page.texts })).logins.finish()
    const error = await failureOf(load(fakePage(callback.href, { texts })).logins.finish())
    expect(error).toMatchObject({ code: 'OAUTH_ERROR', actual: 'invalid_grant' })
    expect([...texts]).toEqual([])
  })

  it('a login response is used by one of two calls at once, of one engine or of two', async () => {
    for (const engines of [1, 2]) {
      const stage = load()
      const page = fakePage((await leave(stage)).href, { texts: stage.page.texts })
      const before = server.log.filter((line) => line === 'POST /token').length
      const { logins } = load(page)
      const ends = await Promise.all([logins.finish(), (engines === 1 ? logins : load(page).logins).finish()])
      expect(ends).toEqual([expect.objectContaining({ credential: 'portal' }), undefined])
      expect(server.log.filter((line) => line === 'POST /token').length).toBe(before + 1)
    }
  })

  it('an answer comes too late after ten minutes', async () => {
    const stage = load()
    const callback = await leave(stage)
    const later = load(fakePage(callback.href, { texts: stage.page.texts }), { now: () => Date.now() + 601_000 })
    expect(await failureOf(later.logins.finish())).toMatchObject({ code: 'LOGIN_TIMEOUT' })
  })

  it('an answer to a login of another credential, provider or state is used for none', async () => {
    const stage = load()
    const callback = await leave(stage)
    const name = found([...stage.page.texts.keys()][0])
    const record = JSON.parse(found(stage.page.texts.get(name)))
    const inner = JSON.parse(record.record)
    const texts = (members: object) => new Map([[name, JSON.stringify(members)]])
    const bound = { ...record, record: JSON.stringify({ ...inner, boundTo: inner.boundTo.replace('page', 'other') }) }
    const stranger = { ...record, record: 'not ours' }
    const restated = { ...record, record: JSON.stringify({ ...inner, state: 'another' }) }
    const before = server.log.filter((line) => line === 'POST /token').length
    for (const forged of [bound, stranger, restated]) {
      const error = await failureOf(load(fakePage(callback.href, { texts: texts(forged) })).logins.finish())
      expect(error).toMatchObject({ code: 'OAUTH_RESPONSE_INVALID' })
    }
    expect(server.log.filter((line) => line === 'POST /token').length).toBe(before)
  })

  it('an answer to a login of another copy or engine on this page is left to it', async () => {
    const stage = load()
    const callback = await leave(stage)
    const page = fakePage(callback.href, { texts: stage.page.texts })
    expect(await load(page, { id: 'another' }).logins.finish()).toBeUndefined()
    expect(page.location.href).toBe(callback.href)
    expect(await load(page).logins.finish()).toMatchObject({ credential: 'portal' })
  })
})

describe('a logout', () => {
  it('forgets, revokes, tells, and leaves for the page of the provider only if asked to', async () => {
    const stage = load()
    const callback = await leave(stage)
    const next = load(fakePage(callback.href, { texts: stage.page.texts }))
    await next.logins.finish()
    await next.logins.logout('portal', { atProvider: true })
    const [address] = next.page.visited
    const { origin, searchParams } = new URL(found(address))
    expect([origin, searchParams.get('client_id'), searchParams.get('post_logout_redirect_uri')]).toEqual([
      server.issuer,
      'page',
      `${SITE}/bye`,
    ])
    expect(searchParams.get('id_token_hint')?.split('.')).toHaveLength(3)
    expect(next.changes.map(({ change }) => change)).toEqual(['started', 'removed'])
    expect(await failureOf(read(next.auth))).toMatchObject({ code: 'LOGIN_REQUIRED' })
    await next.logins.logoutAll()
    expect(next.page.visited).toEqual([address])
  })
})
