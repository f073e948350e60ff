/** Plays the flow of an HTTP authentication scheme by hand: a context with a fixed clock and known randomness, responses in, steps out. */

import { Secret } from '../../src/auth/credential.ts'
import { MemorySessions, memoryStore } from '../../src/auth/session.ts'
import { type AuthFlow, type AuthStep, authorizedStep, runFlow } from '../../src/auth/strategy.ts'
import type { HttpContext } from '../../src/strategies/http/http-strategy.ts'
import { type Reply, script } from './scripted.ts'

const SECRET_FIELDS = new Set(['username', 'password', 'token', 'privateKey', 'consumerKey', 'consumerSecret', 'tokenSecret'])

export interface Circumstances {
  /** Milliseconds since the epoch; may be moved between requests. */
  readonly clock?: { now(): number }
  /** What every call for random bytes gives. */
  readonly random?: (bytes: number) => Uint8Array
}

/** What a scheme is given; texts of secret fields are wrapped as on reading. Use it for several requests to share its session. */
export function wordContext(scheme: string, fields: Readonly<Record<string, unknown>>, circumstances: Circumstances = {}): HttpContext {
  const { clock = { now: () => 1_800_000_000_000 }, random = counting() } = circumstances
  const read = Object.entries(fields).map(([name, value]) => [name, SECRET_FIELDS.has(name) ? new Secret(value as string) : value])
  return {
    scheme: { type: 'http', scheme },
    credential: { id: 'mine', type: 'http', scheme, sendTo: [], preference: 0, ...Object.fromEntries(read) },
    resource: { url: 'https://data.example/' },
    session: new MemorySessions(clock).view('mine'),
    send: () => Promise.reject(new Error('no side requests')),
    connect: () => Promise.reject(new Error('no connections')),
    stores: { persistent: memoryStore(), inMemory: memoryStore() },
    clock,
    random,
    warn: () => {},
    changed: () => {},
  }
}

/** The steps that a flow sends to a server which answers like this, in turn, and then with 200. */
export async function stepsOf(flow: AuthFlow, replies: readonly Reply[] = []): Promise<readonly AuthStep[]> {
  const server = script((_request, index) => replies[index])
  const steps: AuthStep[] = []
  await runFlow(flow, (step) => {
    steps.push(step)
    return server.send(step.request)
  })
  return steps
}

/** The request that is ready to be sent, after what must be asked before. */
export async function readyStep(flow: AuthFlow, replies: readonly Reply[] = []): Promise<AuthStep | undefined> {
  const server = script((_request, index) => replies[index])
  return authorizedStep(flow, (step) => server.send(step.request))
}

/** A refusal with that challenge. */
export const unauthorized = (challenge: string, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status: 401,
  headers: { 'www-authenticate': challenge, ...headers },
})

/** Different bytes each time, the same in every run. */
function counting(): (bytes: number) => Uint8Array {
  let calls = 0
  return (bytes) => {
    calls++
    return Uint8Array.from({ length: bytes }, (_, index) => (calls * 31 + index) % 256)
  }
}
