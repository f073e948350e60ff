import { createHmac } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { fromBase64url } from '../../../src/crypto/encoding.ts'
import type { HttpRequest } from '../../../src/http/message.ts'
import { scramSha1, scramSha256 } from '../../../src/strategies/http/schemes.ts'
import { scramKeys } from '../../../src/strategies/http/scram.ts'
import { readyStep, stepsOf, unauthorized, wordContext } from '../../harness/auth-flow.ts'
import { canary, leaks, shown } from '../../harness/canary.ts'
import { target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { script } from '../../harness/scripted.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { DATA, victim } from '../../harness/victim.ts'
import type { Answer } from '../../servers/answering-server.ts'
import { type ScramServerOptions, scramServer } from '../../servers/scram-server.ts'

const F = `${DATA}f.tif`
const request: HttpRequest = { method: 'GET', url: F, headers: { accept: '*/*' } }
const encoded = (text: string) => Buffer.from(text).toString('base64')
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const hmacOf = (hash: string, key: Buffer, text: string) => createHmac(hash, key).update(text).digest('hex')

/** RFC 5802 §5 and RFC 7677 §3, in the frame of RFC 7804. */
const vectors = [
  {
    scheme: scramSha1,
    mechanism: 'SCRAM-SHA-1',
    hash: 'SHA-1',
    clientNonce: 'fyko+d2lbbFgONRv9qkxdawL',
    serverNonce: '3rfcNHYJY1ZVvWVs7j',
    salt: 'QSXCR+Q6sek8bf92',
    salted: '1d96ee3a529b5a5f9e47c01f229a2cb8a6e15f7d',
    proof: 'v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=',
    signature: 'rmF9pqV8S7suAoZWja4dJRkFsKQ=',
  },
  {
    scheme: scramSha256,
    mechanism: 'SCRAM-SHA-256',
    hash: 'SHA-256',
    clientNonce: 'rOprNGfwEbeRWgbNEkqO',
    serverNonce: '%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0',
    salt: 'W22ZaJ0SNY7soEsUEjb6gQ==',
    salted: 'c4a49510323ab4f952cac1fa99441939e78ea74d6be81ddf7096e87513dc615d',
    proof: 'dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=',
    signature: '6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=',
  },
] as const

describe.each(vectors)(
  '$mechanism, as in its RFC',
  ({ scheme, mechanism, hash, clientNonce, serverNonce, salt, salted, proof, signature }) => {
    const nonce = clientNonce + serverNonce
    const offer = unauthorized(`Basic realm="b", ${mechanism} realm="testrealm@example.com"`)
    const first = unauthorized(`${mechanism} sid=AAAABBBBCCCCDDDD, data=${encoded(`r=${nonce},s=${salt},i=4096`)}`)
    const final = { headers: { 'authentication-info': `sid=AAAABBBBCCCCDDDD, data=${encoded(`v=${signature}`)}` } }
    const context = () =>
      wordContext(scheme.name, { username: 'user', password: 'pencil' }, { random: () => fromBase64url(clientNonce) ?? new Uint8Array() })

    it('sends these three requests', async () => {
      const steps = await stepsOf(scheme.authorize(request, context()), [offer, first, final])
      expect(steps.map(({ kind, request: { headers } }) => [kind, headers.authorization])).toEqual([
        ['handshake', undefined],
        ['handshake', `${mechanism} realm="testrealm@example.com", data=${encoded(`n,,n=user,r=${clientNonce}`)}`],
        ['authorized', `${mechanism} sid=AAAABBBBCCCCDDDD, data=${encoded(`c=biws,r=${nonce},p=${proof}`)}`],
      ])
      expect(steps.map(({ request: { method, url, headers } }) => [method, url, headers.accept])).toEqual(Array(3).fill(['GET', F, '*/*']))
    })

    it('keeps keys that open one account, and not the password', async () => {
      const keys = await scramKeys(hash, 'pencil', fromBase64url(salt) ?? new Uint8Array(), 4096)
      expect(hex(keys.client)).toBe(hmacOf(hash, Buffer.from(salted, 'hex'), 'Client Key'))
      expect(hex(keys.server)).toBe(hmacOf(hash, Buffer.from(salted, 'hex'), 'Server Key'))
      expect(Object.keys(keys)).toEqual(['client', 'stored', 'server'])
    })

    it('returns the last request unsent', async () => {
      const step = await readyStep(scheme.authorize(request, context()), [offer, first])
      expect(step?.request.headers.authorization).toBe(`${mechanism} sid=AAAABBBBCCCCDDDD, data=${encoded(`c=biws,r=${nonce},p=${proof}`)}`)
    })
  },
)

const ADA = { id: 'mine', type: 'http', scheme: 'scram-sha-256', username: 'ada', password: 'pencil', sendTo: DATA }

/** An engine whose only server is this one. */
function engine(options: Partial<ScramServerOptions> = {}, entry: object = {}) {
  const { mechanism = 'SCRAM-SHA-256' } = options
  const serve = scramServer({ users: { ada: 'pencil' }, ...options })
  const wire = script(serve)
  const { auth } = victim({ credentials: unchecked({ ...ADA, scheme: mechanism.toLowerCase(), ...entry }) }, wire)
  return { wire, get: () => auth.fetch(target({ type: 'http', scheme: mechanism }, F)), auth }
}

/** A server that says something else in one header. */
function changing(wanted: string, name: string, pattern: RegExp, text: string): Partial<ScramServerOptions> {
  const changed = (headers: Answer['headers']) => ({ [name]: (headers?.[name] ?? '').replace(pattern, text) })
  return { answer: (answer, step) => (step === wanted ? { ...answer, headers: changed(answer.headers) } : answer) }
}

const withHeader = (step: 'offer' | 'first', pattern: RegExp, text: string) => changing(step, 'www-authenticate', pattern, text)
const withInfo = (pattern: RegExp, text: string) => changing('final', 'authentication-info', pattern, text)

describe('with a strict server', () => {
  it.each(['SCRAM-SHA-1', 'SCRAM-SHA-256'] as const)('%s reads a file in three requests', async (mechanism) => {
    const { wire, get } = engine({ mechanism })
    expect(await (await get()).text()).toBe('data')
    expect(wire.sent).toHaveLength(3)
  })

  it.each([
    ['a,b=c', 'a,b=c', 'x'],
    ['\u00fcser', 'u\u0308ser', 'p\u00e4ss'],
    ['IX', '\u2168', 'a b'],
    ['ada', () => 'ada', 'pencil'],
  ])('the name %j is understood', async (user, username, password) => {
    expect((await engine({ users: { [user]: password } }, { username, password: async () => password }).get()).status).toBe(200)
  })

  it('returns a realm in any letters', async () => {
    const bytes = Buffer.from('d\u00e4ten "1"').toString('latin1').replaceAll('"', '\\"')
    const offer = unauthorized(`SCRAM-SHA-256 charset="UTF-8", realm="${bytes}"`)
    const [, opened] = await stepsOf(scramSha256.authorize(request, wordContext('scram-sha-256', { username: 'u', password: 'p' })), [
      offer,
      { status: 503 },
    ])
    expect(opened?.request.headers.authorization).toContain(`realm="${bytes}"`)
  })

  it('salts once, and again when the password was refused', async () => {
    let password = 'pencil'
    const users = { ada: 'pencil' }
    const { get } = engine({ users }, { password: () => password })
    const salting = vi.spyOn(crypto.subtle, 'deriveBits')
    await get()
    await get()
    expect(salting).toHaveBeenCalledTimes(1)
    users.ada = password = 'eraser'
    expect(await failureOf(get())).toMatchObject({ code: 'AUTH_REJECTED' })
    expect((await get()).status).toBe(200)
    expect(salting).toHaveBeenCalledTimes(2)
    salting.mockRestore()
  })

  it('answers each of its messages once', async () => {
    const serve = scramServer({ users: { ada: 'pencil' } })
    const { auth } = victim({ credentials: unchecked(ADA) }, script(serve))
    const { headers } = await auth.authorize(target({ type: 'http', scheme: 'SCRAM-SHA-256' }, F))
    expect([serve({ headers }).status, serve({ headers }).status]).toEqual([200, 401])
  })

  it('asks nothing of an open file', async () => {
    const { auth } = victim({ credentials: unchecked(ADA) })
    expect(await (await auth.fetch(target({ type: 'http', scheme: 'SCRAM-SHA-256' }, F))).text()).toBe('data')
  })
})

describe('is refused', () => {
  it.each([
    ['a wrong password', { password: 'pen' }, 'invalid-proof'],
    ['an unknown name', { username: 'eve' }, 'unknown-user'],
  ])('%s, with the error code of the server', async (_name, entry, word) => {
    const error = await failureOf(engine({}, entry).get())
    expect(error).toMatchObject({ code: 'AUTH_REJECTED', credential: 'mine', message: expect.stringContaining(`with 401 (${word})`) })
  })

  it('reports a refusal without an error message', async () => {
    const { get } = engine({ answer: (answer, step) => (step === 'first' ? { status: 401 } : answer) })
    expect(await failureOf(get())).toMatchObject({ code: 'AUTH_REJECTED', message: expect.stringMatching(/with 401$/) })
  })

  it('does not repeat the text of a refusal', async () => {
    const error = await failureOf(engine({ say: () => 'e=n-pencil' }).get())
    expect(error).toMatchObject({ code: 'AUTH_REJECTED', message: expect.stringContaining('(other-error)') })
    expect(shown(error)).not.toContain('pencil')
  })

  it('refuses an account that cannot be prepared, before anything is sent', async () => {
    for (const entry of [{ username: 'a\u0007' }, { password: '\ufffdx' }, { password: async () => '\u0627\u0031' }]) {
      const { get, wire } = engine({}, entry)
      expect(await failureOf(get())).toMatchObject({ code: 'CREDENTIAL_VALUE_INVALID', credential: 'mine' })
      expect(wire.sent).toEqual([])
    }
  })
})

describe('a server that cheats', () => {
  const replaced = (pattern: RegExp, text: string): Partial<ScramServerOptions> => ({
    say: (message, step) => (step === 'first' ? message.replace(pattern, text) : message),
  })
  it.each<[string, Partial<ScramServerOptions>, string]>([
    ['with a nonce of its own', replaced(/r=./, 'r=!'), '"r"'],
    ['that adds nothing to the nonce', replaced(/(r=.{24})[^,]*/, '$1'), '"r"'],
    ['with too few iterations', replaced(/i=\d+/, 'i=4095'), '"i"'],
    ['with too many iterations', replaced(/i=\d+/, 'i=1000001'), '"i"'],
    ['with iterations that are no number', replaced(/i=\d+/, 'i=1e4'), 'lacks'],
    ['that demands an extension', replaced(/^/, 'm=x,'), '"m"'],
    ['without a salt', replaced(/s=[^,]*,/, ''), 'lacks'],
    ['with a line break at the end', replaced(/$/, '\n'), 'lacks'],
    ['without an id', withHeader('first', /sid=[^,]*, /, ''), '"sid"'],
    ['with an id that no header can carry', withHeader('first', /sid=[^,]*/, 'sid="a b"'), '"sid"'],
    ['with junk for a message', withHeader('first', /data=\S+/, 'data="!"'), '"data"'],
    ['with another hash', withHeader('offer', /256/, '1'), 'does not offer SCRAM-SHA-256'],
    ['with Basic in its place', withHeader('offer', /.*/, 'Basic realm="x"'), 'it offers Basic'],
  ])('%s gets no proof', async (_name, options, told) => {
    const { get, wire } = engine(options)
    expect(await failureOf(get())).toMatchObject({ code: 'AUTH_CHALLENGE_UNSUPPORTED', message: expect.stringContaining(told) })
    for (const { headers } of wire.sent) expect(atob(/data=(\S+)/.exec(headers.authorization ?? '')?.[1] ?? '')).not.toContain('p=')
  })

  it('a server that cheats with a control character in its realm gets no name', async () => {
    const { get, wire } = engine({ realm: 'a\u0001b' })
    expect(await failureOf(get())).toMatchObject({ code: 'AUTH_CHALLENGE_UNSUPPORTED' })
    expect(wire.sent).toHaveLength(1)
  })

  it.each<[string, Partial<ScramServerOptions>]>([
    ['does not prove itself', { answer: (answer, step) => (step === 'final' ? { status: 200, body: answer.body } : answer) }],
    ['proves something else', { say: (message, step) => (step === 'final' ? `v=${encoded('x'.repeat(32))}` : message) }],
    ['proves the beginning only', { say: (message, step) => (step === 'final' ? message.slice(0, 20) : message) }],
    ['says that it failed, with 200', { say: (message, step) => (step === 'final' ? 'e=other-error' : message) }],
    ['proves it for another id', withInfo(/sid=./, 'sid=_-')],
    ['proves it for no id', withInfo(/sid=[^,]*, /, '')],
    ['proves it twice', withInfo(/$/, ', data=dj1h')],
    ['gives the file without a proof of ours', { answer: (answer, step) => (step === 'first' ? { status: 200, body: 'bad' } : answer) }],
    ['leads elsewhere', { answer: (_answer, step) => (step === 'offer' ? _answer : { status: 302, headers: { location: '/x' } }) }],
  ])('%s is not believed', async (_name, options) => {
    const error = await failureOf(engine(options).get())
    expect(error).toMatchObject({ name: 'ProtocolError', code: 'AUTH_SERVER_UNPROVEN', credential: 'mine' })
  })

  it('learns nothing that an error could tell', async () => {
    const secret = canary('scram')
    for (const say of [() => 'e=x', () => 'v=AAAA', (message: string) => `m=x,${message}`]) {
      const error = await failureOf(engine({ users: { ada: secret.value }, say }, { password: secret.value }).get())
      expect(leaks([secret], { error: shown(error) })).toEqual([])
    }
  })

  it('ends when the server only ever offers', async () => {
    const { get, wire } = engine({ answer: () => ({ status: 401, headers: { 'www-authenticate': 'SCRAM-SHA-256 realm="files"' } }) })
    expect(await failureOf(get())).toMatchObject({ code: 'AUTH_REJECTED' })
    expect(wire.sent).toHaveLength(2)
  })
})

it('a missing file needs no proof', async () => {
  const { get } = engine({ answer: (answer, step) => (step === 'final' ? { status: 404 } : answer) })
  expect((await get()).status).toBe(404)
})
