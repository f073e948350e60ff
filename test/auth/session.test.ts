import { describe, expect, it, vi } from 'vitest'
import { bearer } from '../../src/auth/credential.ts'
import { type CacheEntry, MemorySessions, type Session } from '../../src/auth/session.ts'
import { AbortedError } from '../../src/errors.ts'
import { scheme, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { FakeClock } from '../harness/fake-clock.ts'
import { script } from '../harness/scripted.ts'
import { DATA, entries, secrets, TOKEN_URL, victim } from '../harness/victim.ts'

const HOUR = 3_600_000

/** A value that comes when the test says so. */
function pending<T>() {
  const calls: { readonly signal: AbortSignal; give(entry: CacheEntry<T>): void; fail(error: unknown): void }[] = []
  const obtain = (signal: AbortSignal) => new Promise<CacheEntry<T>>((give, fail) => calls.push({ signal, give, fail }))
  return { obtain, calls }
}

const entry = (value: string, expiresAt?: number): CacheEntry<string> => (expiresAt === undefined ? { value } : { value, expiresAt })

describe('a session', () => {
  it('obtains once for a thousand who wait', async () => {
    const session = new MemorySessions({ now: () => 0 }).view('a')
    const { obtain, calls } = pending<string>()
    const waiting = Array.from({ length: 1000 }, () => session.resolve('k', obtain))
    await expect.poll(() => calls).toHaveLength(1)
    calls[0]?.give(entry('v'))
    expect(new Set((await Promise.all(waiting)).map(({ value }) => value))).toEqual(new Set(['v']))
    expect(session.get('k')?.value).toBe('v')
    expect(calls).toHaveLength(1)
  })

  it('keeps what belongs to different credentials and keys apart', async () => {
    const sessions = new MemorySessions({ now: () => 0 })
    const pairs = [
      ['a', 'k'],
      ['a', 'l'],
      ['b', 'k'],
    ] as const
    for (const [id, key] of pairs) await sessions.view(id).resolve(key, async () => entry(`${id}${key}`))
    expect(pairs.map(([id, key]) => sessions.view(id).get(key)?.value)).toEqual(['ak', 'al', 'bk'])
  })

  it('rejects only the one who aborts, with the reason as cause', async () => {
    const sessions = new MemorySessions({ now: () => 0 })
    const { obtain, calls } = pending<string>()
    const controller = new AbortController()
    const others = [1, 2, 3].map(() => sessions.view('a', new AbortController().signal).resolve('k', obtain))
    const aborted = failureOf(sessions.view('a', controller.signal).resolve('k', obtain))
    const reason = new Error('enough')
    controller.abort(reason)
    const error = await aborted
    expect(error).toBeInstanceOf(AbortedError)
    expect(error).toMatchObject({ name: 'AbortError', code: 'ABORTED', cause: reason })
    expect(calls[0]?.signal.aborted).toBe(false)
    calls[0]?.give(entry('v'))
    expect((await Promise.all(others)).map(({ value }) => value)).toEqual(['v', 'v', 'v'])
  })

  it('aborts the flight when no one waits for it any more, and starts another for who comes next', async () => {
    const sessions = new MemorySessions({ now: () => 0 })
    const { obtain, calls } = pending<string>()
    const controllers = [new AbortController(), new AbortController()]
    const waiting = controllers.map(({ signal }) => failureOf(sessions.view('a', signal).resolve('k', obtain)))
    for (const controller of controllers) controller.abort()
    await Promise.all(waiting)
    expect(calls[0]?.signal.aborted).toBe(true)
    const next = sessions.view('a').resolve('k', obtain)
    expect(calls).toHaveLength(2)
    calls[0]?.give(entry('late'))
    calls[1]?.give(entry('new'))
    expect((await next).value).toBe('new')
    expect(sessions.view('a').get('k')?.value).toBe('new')
  })

  it('does not end a flight that someone without a signal waits for', async () => {
    const sessions = new MemorySessions({ now: () => 0 })
    const { obtain, calls } = pending<string>()
    const patient = sessions.view('a').resolve('k', obtain)
    const controller = new AbortController()
    const impatient = failureOf(sessions.view('a', controller.signal).resolve('k', obtain))
    controller.abort()
    await impatient
    expect(calls[0]?.signal.aborted).toBe(false)
    calls[0]?.give(entry('v'))
    expect((await patient).value).toBe('v')
  })

  it('starts nothing for a caller who has aborted already', async () => {
    const obtain = vi.fn()
    const session = new MemorySessions({ now: () => 0 }).view('a', AbortSignal.abort('gone'))
    expect(await failureOf(session.resolve('k', obtain))).toMatchObject({ code: 'ABORTED', cause: 'gone' })
    expect(obtain).not.toHaveBeenCalled()
  })

  it('does not remember a failure', async () => {
    const session = new MemorySessions({ now: () => 0 }).view('a')
    await expect(session.resolve('k', () => Promise.reject(new Error('down')))).rejects.toThrow('down')
    expect((await session.resolve('k', async () => entry('v'))).value).toBe('v')
  })

  it.each([
    ['10 % before the end', HOUR / 2, HOUR / 2 - HOUR / 20],
    ['five minutes before a distant end', 24 * HOUR, 24 * HOUR - 5 * 60_000],
  ])('refreshes %s', async (_name, life, refreshed) => {
    const clock = new FakeClock({ now: 1_000_000 })
    const session = new MemorySessions(clock).view('a')
    const obtain = vi.fn(async () => entry('v', clock.now() + life))
    await session.resolve('k', obtain)
    clock.advance(refreshed - 1)
    await session.resolve('k', obtain)
    expect(obtain).toHaveBeenCalledTimes(1)
    clock.advance(1)
    expect(session.get('k')).toBeUndefined()
    await session.resolve('k', obtain)
    expect(obtain).toHaveBeenCalledTimes(2)
  })

  it('keeps a value when its refresh fails before its expiry, and not after it', async () => {
    const clock = new FakeClock({ now: 0 })
    const session = new MemorySessions(clock).view('a')
    await session.resolve('k', async () => entry('old', HOUR))
    const down = () => Promise.reject(new Error('down'))
    clock.advance(HOUR - 1000)
    expect((await session.resolve('k', down)).value).toBe('old')
    clock.advance(1000)
    await expect(session.resolve('k', down)).rejects.toThrow('down')
  })

  it('drops a value only if it is still that one', async () => {
    const session: Session = new MemorySessions({ now: () => 0 }).view('a')
    await session.resolve('k', async () => entry('new'))
    session.invalidate('k', 'old')
    expect(session.get('k')?.value).toBe('new')
    session.invalidate('k', 'new')
    expect(session.get('k')).toBeUndefined()
  })

  it('keeps the most recent ten thousand values', async () => {
    const session = new MemorySessions({ now: () => 0 }).view('a')
    for (let index = 0; index < 10_001; index++) await session.resolve(`k${index}`, async () => entry('v'))
    expect(session.get('k0')).toBeUndefined()
    expect(session.get('k1')).toBeDefined()
    expect(session.get('k10000')).toBeDefined()
  })

  it('keeps what is used, however old it is', async () => {
    const session = new MemorySessions({ now: () => 0 }).view('a')
    await session.resolve('used', async () => entry('v'))
    for (let index = 0; index < 20_000; index++) {
      await session.resolve(`k${index}`, async () => entry('v'))
      if (index % 4000 === 0) session.get('used')
    }
    expect(session.get('used')?.value).toBe('v')
    expect(session.get('k9999')).toBeUndefined()
  })
})

describe('the engine', () => {
  const wanted = target(scheme.client(TOKEN_URL), `${DATA}f.tif`)
  const answer = { body: { access_token: secrets.token.value, token_type: 'Bearer', expires_in: 3600 } }

  it('requests one token when a thousand authorize at once', async () => {
    const { auth, script: servers } = victim()
    const requests = await Promise.all(Array.from({ length: 1000 }, () => auth.authorize(wanted)))
    expect(servers.sent).toHaveLength(1)
    expect(new Set(requests.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${secrets.token.value}`]))
  })

  it('refreshes once when a thousand are refused at once', async () => {
    let issued = 0
    const servers = script(({ url, headers }) => {
      if (url === TOKEN_URL) return { body: { ...answer.body, access_token: `t${++issued}` } }
      return { status: headers.authorization === 'Bearer t1' ? 401 : 200 }
    })
    const { auth } = victim({}, servers)
    const responses = await Promise.all(Array.from({ length: 1000 }, () => auth.fetch(wanted)))
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
    expect(issued).toBe(2)
  })

  it('lets one of several give up without disturbing the others', async () => {
    let give = (_reply: typeof answer) => {}
    const servers = script(() => new Promise((resolve) => (give = resolve)))
    const { auth } = victim({}, servers)
    const controller = new AbortController()
    const given = failureOf(auth.authorize(wanted, { signal: controller.signal }))
    const kept = auth.authorize(wanted)
    await expect.poll(() => servers.sent).toHaveLength(1)
    controller.abort('bored')
    expect(await given).toMatchObject({ code: 'ABORTED', cause: 'bored' })
    give(answer)
    expect((await kept).credential).toBe('oauth')
    expect(servers.sent).toHaveLength(1)
  })

  it('ends the token request when everybody has given up', async () => {
    const servers = script(() => new Promise(() => {}))
    const { auth } = victim({}, servers)
    const controllers = [new AbortController(), new AbortController()]
    const given = controllers.map(({ signal }) => failureOf(auth.fetch(wanted, { signal })))
    await expect.poll(() => servers.sent).toHaveLength(1)
    for (const controller of controllers) controller.abort()
    for (const error of await Promise.all(given)) expect(error).toMatchObject({ name: 'AbortError' })
    expect(servers.sent[0]?.options.signal?.aborted).toBe(true)
  })

  it('shares nothing between engines', async () => {
    const { auth: first, script: servers } = victim({ credentials: entries.oauth })
    const { auth: second } = victim({ credentials: [entries.oauth, bearer('x', 'https://other.example/')] }, servers)
    await first.authorize(wanted)
    await second.authorize(wanted)
    expect(servers.to('auth.victim.example')).toHaveLength(2)
  })
})
