import { createHash, getDiffieHellman } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { mutual } from '../../../src/strategies/http/schemes.ts'
import { readyStep, stepsOf, unauthorized, wordContext } from '../../harness/auth-flow.ts'
import { shown } from '../../harness/canary.ts'
import { failureOf } from '../../harness/failure.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { DATA, victim } from '../../harness/victim.ts'
import type { MutualServerOptions } from '../../servers/mutual-server.ts'
import { ADA, ALGORITHM, asset, engine, F, ORIGIN } from './mutual-engine.ts'

const request = { method: 'GET', url: F, headers: { accept: '*/*' } }

/** RFC 8121 has no numbers to check against: these were computed by a third program from its formulas. */
describe('the messages of RFC 8120', () => {
  const COMMON = `version=1, algorithm=${ALGORITHM}, validation=host, auth-scope="data.victim.example", realm="files"`
  const init = unauthorized(`Basic realm="b", Mutual ${COMMON}, reason=initial`)
  const ks1 = Buffer.alloc(256, 0).fill(3, 255).toString('base64')
  const exchanged = unauthorized(`Mutual ${COMMON}, sid=0a1b, ks1="${ks1}", nc-max=400, nc-window=128, time=60`)
  const info = 'version=1, sid=0a1b, vks="LUY9+3HlzOoyvTjvlKWlM/grD/ieZ9gUuS8X03tWWCo="'
  const final = { headers: { 'authentication-info': info } }
  const random = (bytes: number) => Uint8Array.from({ length: bytes }, (_, index) => (index === bytes - 1 ? 5 : 0))
  const context = () => wordContext('mutual', { username: 'Ren\u00e9e', password: 'p\u00e9ncil' }, { random })

  it('the messages of RFC 8120 are these', async () => {
    const steps = await stepsOf(mutual.authorize(request, context()), [init, exchanged, final])
    const prime = BigInt(`0x${getDiffieHellman('modp14').getPrime('hex')}`)
    const kc1 = Buffer.from((2n ** 2053n % prime).toString(16).padStart(512, '0'), 'hex')
    expect(createHash('sha256').update(kc1).digest('hex')).toBe('f3a4dcbb33b42af053e6ce8fb5327f95f4128a197c962eff39b6a013059c210a')
    expect(steps.map(({ kind, request: { headers } }) => [kind, headers.authorization])).toEqual([
      ['handshake', undefined],
      ['handshake', `Mutual ${COMMON}, user*=UTF-8''Ren%C3%A9e, kc1="${kc1.toString('base64')}"`],
      ['authorized', `Mutual ${COMMON}, sid=0a1b, nc=1, vkc="TA9w8eQh4NICB55GDhnvqWseDIqWr8hRHfBD0pbOS2k="`],
    ])
    expect(steps.map(({ request: { method, url, headers } }) => [method, url, headers.accept])).toEqual(Array(3).fill(['GET', F, '*/*']))
  })

  it('the messages of RFC 8120 give the last request unsent, with the end of its session', async () => {
    const step = await readyStep(mutual.authorize(request, context()), [init, exchanged])
    expect(step).toMatchObject({ kind: 'authorized', expiresAt: 1_800_000_060_000 })
  })

  it('the messages of RFC 8120 are drawn anew for every exchange', async () => {
    const sent = [engine(), engine()]
    for (const { get } of sent) await get()
    const values = sent.map(({ wire }) => /kc1="([^"]+)"/.exec(wire.sent[1]?.headers.authorization ?? '')?.[1])
    expect(new Set(values).size).toBe(2)
  })
})

describe('with a strict server', () => {
  it('reads a file in three requests, the next one in one', async () => {
    const salting = vi.spyOn(crypto.subtle, 'deriveBits')
    const { get, said } = engine()
    expect(await (await get()).text()).toBe('data')
    expect(await (await get(`${DATA}g.tif`)).text()).toBe('data')
    expect(said()).toEqual(['', 'kc1', '1', '2'])
    expect(salting).toHaveBeenCalledTimes(1)
    salting.mockRestore()
  })

  it('counts requests side by side apart, also beyond one byte', async () => {
    const { get, said } = engine()
    await get()
    const answers = await Promise.all(Array.from({ length: 140 }, () => get()))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(
      said()
        .slice(2)
        .map(Number)
        .sort((a, b) => a - b),
    ).toEqual(Array.from({ length: 141 }, (_, index) => index + 1))
  })

  it('lets several begin at once', async () => {
    const { get } = engine()
    const answers = await Promise.all([get(), get(), get()])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  })

  it.each([
    ['a,b=c', 'a,b=c', 'x'],
    ['Ren\u00e9e of France', 'Rene\u0301e of France', 'p\u00e4ss'],
    ['ada', () => 'ada', 'a\u00a0b'],
  ])('the name %j is understood', async (user, username, password) => {
    const users = { [user]: password.replace('\u00a0', ' ') }
    expect((await engine({ users }, { username, password: async () => password }).get()).status).toBe(200)
  })

  it.each([undefined, ORIGIN, 'data.victim.example', '*.data.victim.example', '*.victim.example'])(
    'authenticates in the scope %j with a strict server',
    async (scope) => {
      expect((await engine(scope === undefined ? {} : { scope }).get()).status).toBe(200)
    },
  )

  it('returns a realm in any letters', async () => {
    const bytes = Buffer.from('d\u00e4ten').toString('latin1')
    const init = unauthorized(
      `Mutual charset="UTF-8", version=1, algorithm=${ALGORITHM}, validation=HOST, realm="${bytes}", reason=initial`,
    )
    const [, opened] = await stepsOf(mutual.authorize(request, wordContext('mutual', { username: 'u', password: 'p' })), [
      init,
      { status: 503 },
    ])
    expect(opened?.request.headers.authorization).toContain(`realm="${bytes}"`)
  })

  it('answers each of its messages once', async () => {
    const { auth, serve } = engine()
    const { headers } = await auth.authorize(asset())
    expect([serve({ headers }).status, serve({ headers }).status]).toEqual([200, 401])
  })

  it('asks nothing of an open file', async () => {
    const { auth } = victim({ credentials: unchecked(ADA) })
    expect(await (await auth.fetch(asset())).text()).toBe('data')
  })
})

describe('is refused', () => {
  it.each([
    ['a wrong password', { password: 'pen' }],
    ['an unknown name', { username: 'eve' }],
  ])('%s, with the error code of the server', async (_name, entry) => {
    const { get, said } = engine({}, entry)
    const error = await failureOf(get())
    expect(error).toMatchObject({ code: 'AUTH_REJECTED', credential: 'mine', message: expect.stringContaining('with 401 (auth-failed)') })
    expect(said()).toEqual(['', 'kc1', '1'])
  })

  it('does not repeat the text of a refusal', async () => {
    const say = 'Mutual version=1, reason="pencil"'
    const answer: MutualServerOptions['answer'] = (one, step) =>
      step === 'exchange' ? { status: 401, headers: { 'www-authenticate': say } } : one
    const error = await failureOf(engine({ answer }).get())
    expect(error).toMatchObject({ code: 'AUTH_REJECTED', message: expect.stringContaining('(auth-failed)') })
    expect(shown(error)).not.toContain('pencil')
  })

  it('reports a refusal with 403', async () => {
    const headers = { 'www-authenticate': `Mutual version=1, algorithm=${ALGORITHM}, validation=host, realm="files", reason=authz-failed` }
    const error = await failureOf(engine({ answer: (one, step) => (step === 'verified' ? { status: 403, headers } : one) }).get())
    expect(error).toMatchObject({ code: 'AUTH_REJECTED', message: expect.stringContaining('403 (authz-failed)') })
  })

  it('refuses an account that cannot be prepared unambiguously, before anything is sent', async () => {
    for (const entry of [{ username: 'a\u0007' }, { password: '\ufffdx' }, { username: '\u2168' }, { password: async () => 'a\u00adb' }]) {
      const { get, wire } = engine({}, entry)
      expect(await failureOf(get())).toMatchObject({ code: 'CREDENTIAL_VALUE_INVALID', credential: 'mine' })
      expect(wire.sent).toEqual([])
    }
  })
})

it('a server in trouble needs no proof', async () => {
  for (const step of ['exchange', 'verified']) {
    expect((await engine({ answer: (one, at) => (at === step ? { status: 503 } : one) }).get()).status).toBe(503)
  }
})
