import { describe, expect, it } from 'vitest'
import type { HttpResponse } from '../../../src/http/message.ts'
import { sleep } from '../../../src/net/cancellation.ts'
import { SigningRateLimiter } from '../../../src/strategies/signed-url/rate-limit.ts'
import { scheme, target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { type Reply, routes } from '../../harness/scripted.ts'
import { DATA, entries, SIGN_URL, SIGNED, victim } from '../../harness/victim.ts'

const never = () => new AbortController().signal

function answer(status: number, headers: Record<string, string> = {}): HttpResponse {
  const none = async () => {
    throw new Error('nobody reads it')
  }
  const discard = async () => {}
  return {
    status,
    url: 'https://sign.example/',
    headers: new Headers(headers),
    bytes: none,
    text: none,
    discard,
    toResponse: () => new Response(),
  }
}

/** An endpoint that accepts so many calls in any second and remembers when each came. */
function limited(clock: FakeClock, limit: number, { delay = 5, headers = { 'retry-after': '1' } as Record<string, string> } = {}) {
  const came: number[] = []
  let accepted: number[] = []
  const call = async () => {
    await sleep(delay / 2, clock)
    const now = clock.now()
    came.push(now)
    accepted = accepted.filter((time) => time > now - 1000)
    const isOver = accepted.length >= limit
    if (!isOver) accepted.push(now)
    await sleep(delay / 2, clock)
    return isOver ? answer(429, headers) : answer(200)
  }
  return { call, came }
}

/** The most that came within any second. */
function busiest(times: readonly number[]): number {
  let most = 0
  for (let first = 0, last = 0; last < times.length; last++) {
    while ((times[last] ?? 0) - (times[first] ?? 0) >= 1000) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}

describe('the rate limit of signing calls', () => {
  it.each([
    [50, 500, 20, { 'retry-after': '1' }],
    [500, 3000, 5, { 'retry-after': '1' }],
    [20, 150, 5, {}],
  ] as const)('finds a limit of %i/s by itself, and %i calls all succeed', async (limit, calls, delay, headers) => {
    const clock = new FakeClock({ now: 0, waits: 'in turn' })
    const server = limited(clock, limit, { delay, headers })
    const limiter = new SigningRateLimiter(clock)
    const answers = await Promise.all(Array.from({ length: calls }, () => limiter.run(server.call, never())))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(busiest(server.came)).toBeLessThanOrEqual(limit * 1.05)
    expect(clock.now()).toBeLessThan((calls / limit) * 1000 * 2)
  })

  it('never exceeds the rate that the user says', async () => {
    const clock = new FakeClock({ now: 0, waits: 'in turn' })
    const server = limited(clock, 100)
    const limiter = new SigningRateLimiter(clock, 100)
    await Promise.all(Array.from({ length: 500 }, () => limiter.run(server.call, never())))
    expect(busiest(server.came)).toBeLessThanOrEqual(105)
    expect(server.came.length).toBeLessThanOrEqual(510)
  })

  it('does not hold up the first ten', async () => {
    const clock = new FakeClock({ now: 1_000_000, waits: 'in turn' })
    const limiter = new SigningRateLimiter(clock)
    const starts: number[] = []
    await Promise.all(
      Array.from({ length: 10 }, () =>
        limiter.run(async () => {
          starts.push(clock.now())
          return answer(200)
        }, never()),
      ),
    )
    expect(starts).toEqual(Array(10).fill(1_000_000))
  })

  it.each([
    ['so many seconds', 429, { 'retry-after': '7' }, 7000],
    ['a date', 429, { 'retry-after': 'Thu, 01 Jan 1970 00:00:09 GMT' }, 9000],
    ['529 and seconds', 529, { 'retry-after': '2' }, 2000],
    ['503 and seconds', 503, { 'retry-after': '3' }, 3000],
  ] as const)('rests when %s was requested, and begins again with the refused call', async (_name, status, headers, rest) => {
    const clock = new FakeClock({ now: 0, waits: 'in turn' })
    const limiter = new SigningRateLimiter(clock)
    const times: number[] = []
    const response = await limiter.run(async () => {
      times.push(clock.now())
      return times.length === 1 ? answer(status, headers) : answer(200)
    }, never())
    expect(response.status).toBe(200)
    expect(times).toEqual([0, rest])
  })

  it('returns a refusal after half a minute, and any other status at once', async () => {
    const clock = new FakeClock({ now: 0, waits: 'in turn' })
    let calls = 0
    const call = (status: number) => async () => {
      calls++
      return answer(status)
    }
    expect((await new SigningRateLimiter(clock).run(call(429), never())).status).toBe(429)
    expect(calls).toBeGreaterThanOrEqual(6)
    expect(clock.now()).toBeGreaterThanOrEqual(30_000)
    const before = calls
    for (const status of [503, 500, 404, 302]) expect((await new SigningRateLimiter(clock).run(call(status), never())).status).toBe(status)
    expect(calls).toBe(before + 4)
  })

  it('reports everybody when the rest is longer than two minutes, and asks again when it is nearly over', async () => {
    const clock = new FakeClock({ now: 0, waits: 'in turn' })
    const limiter = new SigningRateLimiter(clock, 10)
    let calls = 0
    const call = async () => (++calls === 1 ? answer(429, { 'retry-after': '600' }) : answer(200))
    const failures = await Promise.all(Array.from({ length: 3 }, () => failureOf(limiter.run(call, never()))))
    for (const failure of failures) expect(failure).toMatchObject({ code: 'RATE_LIMITED', retryable: true, status: 429 })
    expect(await failureOf(limiter.run(call, never()))).toMatchObject({ code: 'RATE_LIMITED' })
    const before = calls
    await sleep(500_000, clock)
    expect((await limiter.run(call, never())).status).toBe(200)
    expect(calls).toBe(before + 1)
    expect(clock.now()).toBeGreaterThanOrEqual(600_000)
  })

  it('lets a caller leave, and continues with the others', async () => {
    const clock = new FakeClock({ now: 0, waits: 'in turn' })
    const limiter = new SigningRateLimiter(clock, 1)
    const controller = new AbortController()
    const call = async () => answer(200)
    const [first, second, third] = [limiter.run(call, never()), failureOf(limiter.run(call, controller.signal)), limiter.run(call, never())]
    controller.abort()
    expect((await first).status).toBe(200)
    expect(await second).toMatchObject({ code: 'ABORTED' })
    expect((await third).status).toBe(200)
    expect(clock.now()).toBeLessThan(2000)
  })

  it('continues by timers where the clock stands still', async () => {
    const limiter = new SigningRateLimiter({ now: () => 0 }, 1000)
    const answers = await Promise.all(Array.from({ length: 5 }, () => limiter.run(async () => answer(200), never())))
    expect(answers).toHaveLength(5)
  })

  it('continues after a call that fails', async () => {
    const limiter = new SigningRateLimiter(new FakeClock({ now: 0, waits: 'in turn' }))
    const fails = async (): Promise<HttpResponse> => {
      throw new Error('broken')
    }
    const failures = await Promise.all(Array.from({ length: 100 }, () => failureOf(limiter.run(fails, never()))))
    expect(failures).toHaveLength(100)
    expect((await limiter.run(async () => answer(200), never())).status).toBe(200)
  })
})

describe('the signing calls of a credential', () => {
  const NOW = Date.UTC(2026, 0, 1)

  /** An engine whose signing API answers like this. */
  function signing(reply: (call: number) => Reply, entry = {}) {
    const clock = new FakeClock({ now: NOW, waits: 'in turn' })
    let calls = 0
    const servers = routes({ [SIGN_URL]: () => reply(++calls) })
    const { auth } = victim({ credentials: { ...entries.signer, ...entry }, clock }, servers)
    return { auth, clock, servers, wanted: target(scheme.signed(SIGN_URL), `${DATA}f.tif`) }
  }

  it('signing calls that come too fast are sent again after the requested pause', async () => {
    const { auth, clock, servers, wanted } = signing((call) =>
      call === 1 ? { status: 429, headers: { 'retry-after': '30' } } : { body: { href: SIGNED } },
    )
    expect((await auth.authorize(wanted)).url).toBe(SIGNED)
    expect(servers.sent).toHaveLength(2)
    expect(clock.now()).toBe(NOW + 30_000)
  })

  it('the signing calls of a credential that are not wanted for an hour are RATE_LIMITED', async () => {
    const { auth, servers, wanted } = signing(() => ({ status: 429, headers: { 'retry-after': '3600' } }))
    expect(await failureOf(auth.authorize(wanted))).toMatchObject({ code: 'RATE_LIMITED', retryable: true })
    expect(servers.sent).toHaveLength(1)
  })

  it('the signing calls of a credential keep to the rate of the credential, all together', async () => {
    const { auth, clock, servers, wanted } = signing(() => ({ body: { href: SIGNED } }), { signingRate: 2 })
    await Promise.all(Array.from({ length: 5 }, (_, index) => auth.authorize({ ...wanted, href: `${DATA}${index}.tif` })))
    expect(servers.sent).toHaveLength(5)
    expect(clock.now() - NOW).toBeGreaterThanOrEqual(1950)
  })
})
