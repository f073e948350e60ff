import { describe, expect, it } from 'vitest'
import type { HttpRequest } from '../../src/http/message.ts'
import { sleep } from '../../src/net/cancellation.ts'
import { ServiceLimits } from '../../src/services/client/pacer.ts'
import { TimeTrackingClient } from '../../src/services/time-tracking/time-tracking-client.ts'
import { TranslationClient } from '../../src/services/translation/translation-client.ts'
import { membersOf, readResponse, withTokenRetries } from '../../src/strategies/oauth2/endpoint.ts'
import { SigningRateLimiter } from '../../src/strategies/signed-url/rate-limit.ts'
import { FakeClock } from '../harness/fake-clock.ts'
import { type Reply, script } from '../harness/scripted.ts'

/** What is sent to a service whose limit counts: by calls that each send one request. */
type Caller = (answer: (request: HttpRequest) => Promise<Reply>, clock: FakeClock) => () => Promise<unknown>

const TRANSLATED = { translations: [{ detected_source_language: 'EN', text: 'Hallo' }] }

const translation: Caller = (answer, clock) => {
  const limits = new ServiceLimits({ clock, random: clock.random })
  const client = new TranslationClient({ apiKey: 'key', limits, transport: script(answer).send })
  return () => client.translateText({ text: 'Hello', target_lang: 'DE' })
}

const timeTracking: Caller = (answer, clock) => {
  const limits = new ServiceLimits({ clock, random: clock.random })
  const client = new TimeTrackingClient({ baseUrl: 'https://time.example/v1', token: 'token', limits, transport: script(answer).send })
  return () => client.customers.update(7, { name: 'ACME' }, { totalTimeout: false })
}

const tokens: Caller = (answer, clock) => {
  const url = 'https://auth.example/token'
  const { send } = script(answer)
  const state = new Map<string, unknown>()
  const session = {
    resolve: async (key: string, make: () => Promise<unknown>) => {
      if (!state.has(key)) state.set(key, make())
      return state.get(key)
    },
  }
  const context = { clock, random: () => Uint8Array.of(128), session, credential: { id: 'mine' }, signal: new AbortController().signal }
  const endpoint = { credential: 'mine', url, name: 'token endpoint' }
  const ask = async () => membersOf(await readResponse(await send({ method: 'POST', url, headers: {} }), endpoint, clock), endpoint)
  return () => withTokenRetries(url, context as never, ask)
}

const signing: Caller = (answer, clock) => {
  const limiter = new SigningRateLimiter(clock)
  const { send } = script(answer)
  return async () => {
    const { status } = await limiter.run(
      () => send({ method: 'GET', url: 'https://sign.example/', headers: {} }),
      new AbortController().signal,
    )
    if (status !== 200) throw new Error(`refused with ${status}`)
  }
}

/** Accepts so many requests in any second and refuses all others. */
function limited(clock: FakeClock, perSecond: number, refusal: Reply, body: unknown) {
  const came: { readonly at: number; readonly isRefused: boolean }[] = []
  let accepted: number[] = []
  const answer = async (): Promise<Reply> => {
    await sleep(2, clock)
    const at = clock.now()
    accepted = accepted.filter((time) => time > at - 1000)
    const isRefused = accepted.length >= perSecond
    if (!isRefused) accepted.push(at)
    came.push({ at, isRefused })
    await sleep(2, clock)
    return isRefused ? refusal : { body }
  }
  return { came, answer }
}

const TOKEN = { access_token: 't', token_type: 'Bearer', expires_in: 600 }
const REFUSALS: Readonly<Record<string, Reply>> = {
  'a 429': { status: 429 },
  'a 429 with Retry-After': { status: 429, headers: { 'retry-after': '1' } },
  'a 529': { status: 529 },
}
const EVERY = Object.keys(REFUSALS).flatMap((refusal) =>
  [5, 20].flatMap((perSecond) => [150, 1].map((atOnce) => ({ refusal, perSecond, atOnce }))),
)
/** The others share the pacer; these differ in all three. */
const SOME = EVERY.filter((_case, index) => index % 5 === 1 || index === 0)

describe.each([
  { name: 'translations', caller: translation, cases: EVERY },
  { name: 'changes of time records', caller: timeTracking, cases: SOME },
  { name: 'token requests', caller: tokens, cases: SOME },
  { name: 'signing requests', caller: signing, cases: SOME },
])('the pace of $name', ({ caller, cases }) => {
  it.each(cases)('is 80 % of $perSecond/s for $atOnce at once, after $refusal', async ({ refusal, perSecond, atOnce }) => {
    const clock = new FakeClock({ waits: 'in turn' })
    const server = limited(clock, perSecond, REFUSALS[refusal] ?? {}, { ...TRANSLATED, ...TOKEN })
    const call = caller(server.answer, clock)
    const calls = atOnce === 1 ? 200 : 150
    const start = clock.now()
    let left = calls
    const worker = async () => {
      while (left-- > 0) await call()
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
    expect(server.came.some(({ isRefused }) => isRefused)).toBe(true)
    expect(calls / ((clock.now() - start) / 1000)).toBeGreaterThanOrEqual(0.8 * perSecond)
    const later = server.came.filter(({ at }) => at > start + 5000)
    expect(later.filter(({ isRefused }) => isRefused).length).toBeLessThanOrEqual(0.05 * later.length)
  })
})
