/** What every strategy and every HTTP word keeps to, whatever the server does. */
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { platform } from '#platform'
import { contextOf, type EngineContext } from '../../src/auth/authorize.ts'
import { readCredentials } from '../../src/auth/parse-credentials.ts'
import type { CredentialMatch } from '../../src/auth/select.ts'
import { MemorySessions, memoryStore } from '../../src/auth/session.ts'
import { type AuthFlow, type AuthStep, loadStrategies, runFlow, type Strategy } from '../../src/auth/strategy.ts'
import { type AuthError, isAuthError } from '../../src/errors.ts'
import { REGISTERED_SCHEMES, spellingOf } from '../../src/http/challenge.ts'
import type { Connection, HttpRequest } from '../../src/http/message.ts'
import { schemes } from '../../src/strategies/http/schemes.ts'
import { defaultStrategies } from '../../src/strategies/index.ts'
import { leaks, shown } from '../harness/canary.ts'
import { type Reply, type Script, script } from '../harness/scripted.ts'
import { ticketsFor } from '../harness/tickets.ts'
import { DATA, SIGN_URL, SIGNED, secrets, TOKEN_URL } from '../harness/victim.ts'
import { KEYS, type Subject, secret, subjects } from './subjects.ts'

let strategies: readonly Strategy[]
beforeAll(async () => {
  // The system of the user has a ticket for the data.
  const tickets = ticketsFor({ [`HTTP@${new URL(DATA).hostname}`]: new TextEncoder().encode('key') }, () => 'nonce')
  vi.spyOn(platform, 'securityContext').mockImplementation(tickets.securityContext)
  strategies = await loadStrategies(defaultStrategies)
})

/** Challenges as they may come, with whatever any scheme looks for. */
const PARAMS =
  'realm="r", nonce="n", qop="auth, auth-int", algorithm=SHA-256, stale=true, challenge="Y2hhbGxlbmdl", max-age=60, ' +
  'error="use_dpop_nonce", sid=s, data=cj1hLHM9Yg==, token-key="a2V5", version=1, auth-scope="data.victim.example"'
const everything = [...new Set([...REGISTERED_SCHEMES, ...schemes.map(({ name }) => name)])].map((word) => `${spellingOf(word)} ${PARAMS}`)
const asks = (challenge: string): Reply => ({ status: 401, headers: { 'www-authenticate': challenge, 'dpop-nonce': 'n' } })

/** Far enough for Mutual to prove itself, to a server that never does. */
const MUTUAL = 'Mutual version=1, algorithm=iso-kam3-dl-2048-sha256, validation=host, realm="r"'
const KS1 = Buffer.alloc(256).fill(3, 255).toString('base64')
const agreeing = (step: number) => (step === 0 ? 'reason=initial' : `sid=0a, ks1="${KS1}", nc-max=9, nc-window=9, time=60`)

/** A server that never says yes, or says it without a reason. */
const SERVERS: Readonly<Record<string, (step: number) => Reply>> = {
  'asks for everything': () => asks(everything.join(', ')),
  'asks for each scheme with a token': () => asks(REGISTERED_SCHEMES.map((word) => `${word} YII=`).join(', ')),
  'asks with a new nonce each time': (step) => asks(everything.join(', ').replaceAll('"n"', `"n${step}"`)),
  'agrees on a key': (step) => asks(`${MUTUAL}, ${agreeing(step)}`),
  'asks for something else': () => asks('Other realm="r"'),
  'asks without a challenge': () => ({ status: 401 }),
  'asks with an unreadable challenge': () => asks('Digest realm="open'),
  forbids: () => ({ status: 403 }),
  fails: () => ({ status: 500, body: 'no' }),
  'has the file for anybody': () => ({ status: 200, headers: { 'authentication-info': 'rspauth="0", sid=s, data=dj1h, nextnonce="m"' } }),
}

const request = (): HttpRequest => freeze({ method: 'GET', url: `${DATA}f.tif?a=b`, headers: { accept: '*/*', range: 'bytes=0-9' } })

function freeze(asked: HttpRequest): HttpRequest {
  Object.freeze(asked.headers)
  return Object.freeze(asked)
}

/** An engine that begins anew: the same clock, the same random bytes, honest endpoints. */
function downloadContext(replies: (step: number) => Reply): { engine: EngineContext; servers: Script; opened: readonly string[] } {
  const servers = script(({ url }, index) => {
    if (url.startsWith(TOKEN_URL)) return { body: { access_token: secrets.token.value, token_type: 'Bearer', expires_in: 3600 } }
    if (url.startsWith(SIGN_URL)) return { body: { href: SIGNED } }
    return url.startsWith(DATA) ? replies(index) : { status: 404 }
  })
  const clock = { now: () => 1_800_000_000_000 }
  let drawn = 0
  const opened: string[] = []
  const random = (bytes: number) => Uint8Array.from({ length: bytes }, () => (drawn++ * 89) % 256)
  /** Connections are there, and their end tells of itself. */
  const connect = async (): Promise<Connection> => {
    opened.push('open')
    return { send: servers.send, keyingMaterial: (length) => new Uint8Array(length).fill(7), close: () => opened.pop() }
  }
  const transport = Object.assign(servers.send.bind(undefined), { connect })
  const engine = {
    transport,
    sessions: new MemorySessions(clock),
    stores: { persistent: memoryStore(), inMemory: memoryStore() },
    clock,
    random,
    warn: () => {},
    changed: () => {},
    named: new Set<string>(),
    removed: new Set<string>(),
    unstored: new Set<string>(),
  }
  return { servers, opened, engine: { ...engine, used: () => {}, credential: () => undefined, objectStore: async () => ({}) } }
}

/** The choice for a subject; undefined when its entry is one that must be refused. */
function choiceOf({ entry }: Subject): CredentialMatch | undefined {
  const strategy = strategies.find(({ type }) => type === entry.type)
  if (!strategy) throw new Error(`no strategy for ${entry.type}`)
  try {
    const [credential] = readCredentials(entry, strategies)
    return credential && { strategy, credential, scheme: strategy.schemeOf(credential) }
  } catch (error) {
    if (isAuthError(error)) return undefined
    throw error
  }
}

function flowOf(match: CredentialMatch, engine: EngineContext, sent = request()): AuthFlow {
  return match.strategy.authorize(sent, contextOf(engine, match, { url: sent.url }))
}

/** The steps of one run, and how it ended when it failed. */
async function run(match: CredentialMatch, replies: (step: number) => Reply): Promise<{ steps: readonly AuthStep[]; error?: AuthError }> {
  const { engine } = downloadContext(() => ({ status: 200 }))
  const steps: AuthStep[] = []
  const server = script((_request, index) => replies(index))
  try {
    await runFlow(flowOf(match, engine), (step) => {
      steps.push(step)
      return server.send(step.request)
    })
    return { steps }
  } catch (error) {
    if (!isAuthError(error)) throw error
    return { steps, error }
  }
}

const canaries = [secret, ...Object.values(secrets)]

it('covers every word and every type', () => {
  const named = new Set(subjects.map(({ entry }) => String(entry.scheme ?? entry.type)))
  for (const { name } of schemes) expect(named).toContain(name)
  expect(new Set(subjects.map(({ entry }) => entry.type))).toEqual(new Set(strategies.map(({ type }) => type)))
})

it('every HTTP authentication scheme has a credential that matches it', async () => {
  for (const { name } of schemes) {
    const matches = subjects.flatMap((subject) => (subject.entry.scheme === name ? (choiceOf(subject) ?? []) : []))
    const runs = await Promise.all(matches.map((match) => run(match, SERVERS['asks for everything'] ?? (() => ({})))))
    expect(Math.max(...runs.map(({ steps }) => steps.length)), name).toBeGreaterThan(0)
  }
})

describe.each(subjects)('$name', (subject) => {
  it.each(Object.entries(SERVERS))('ends when the server %s, and reports no secret', async (_what, replies) => {
    const match = choiceOf(subject)
    if (!match) return
    const { steps, error } = await run(match, replies)
    expect(steps.length).toBeLessThanOrEqual(8)
    if (!error) return
    expect(error.message).not.toContain('kept asking')
    const texts = { error: shown(error), json: JSON.stringify(error), cause: shown(error.cause) }
    expect(leaks(canaries, texts)).toEqual([])
    for (const pem of Object.values(KEYS)) expect(texts.error).not.toContain(pem.split('\n')[1])
  })

  it('returns the same bytes for the same input', async () => {
    const match = choiceOf(subject)
    if (!match) return
    for (const replies of Object.values(SERVERS)) {
      const [one, other] = [await run(match, replies), await run(match, replies)]
      expect(one.steps.map(withoutRandomized)).toEqual(other.steps.map(withoutRandomized))
    }
  })

  it('leaves nothing behind when it is closed early', async () => {
    const match = choiceOf(subject)
    if (!match) return
    const { engine, servers, opened } = downloadContext(() => ({ status: 200 }))
    for (let stop = 0; stop < 4; stop++) {
      const flow = flowOf(match, engine)
      await advance(flow, stop)
      await flow.return()
      const sent = servers.sent.length
      expect(await flow.next({} as never)).toEqual({ done: true, value: undefined })
      await new Promise((resolve) => setImmediate(resolve))
      expect(servers.sent).toHaveLength(sent)
      expect(opened).toEqual([])
    }
    const again = flowOf(match, engine)
    await advance(again, 1)
    await again.return()
  })
})

/** So many steps, against a server that asks for everything. */
async function advance(flow: AuthFlow, steps: number): Promise<void> {
  const server = script(() => SERVERS['asks for everything']?.(0))
  let response = undefined as never
  try {
    for (let step = 0; step < steps; step++) {
      const { done, value } = await flow.next(response)
      if (done) return
      response = (await server.send(value.request)) as never
    }
  } catch (error) {
    if (!isAuthError(error)) throw error
  }
}

/** Signatures with ECDSA and RSASSA-PSS have a random part of their own. */
function withoutRandomized(step: AuthStep): unknown {
  return JSON.parse(
    JSON.stringify(step).replace(/(?<=[.:])[\w+/-]{86}(?:==)?(?=[":,])|(?<=p=)(?:ME[\w-]{90,96}|[\w-]{342})(?=[",])/g, 'RANDOMIZED'),
  )
}
