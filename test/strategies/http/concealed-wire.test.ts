import { describe, expect, it, onTestFinished } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import type { CredentialInput } from '../../../src/auth/credential.ts'
import type { Transport } from '../../../src/http/message.ts'
import { undiciTransport } from '../../../src/node/transport/undici-transport.ts'
import { target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { testKey } from '../../harness/keys.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { concealedGuard } from '../../servers/concealed-guard.ts'
import type { Guard } from '../../servers/guards.ts'
import { CERTIFIED, TEST_CA } from '../../servers/harness.ts'
import { startProtectedFiles } from '../../servers/protected-files.ts'

const keys = { ed25519: testKey.ed25519(), p256: testKey.p256(), other: testKey.ed25519(), rsa: testKey.rsa() }
const known = new Map([
  ['ada', keys.ed25519.publicKey],
  ['ada/ü'.repeat(30), keys.p256.publicKey],
  ['rsa', keys.rsa.publicKey],
])

async function filesBehind(guard: Guard, secure = true) {
  const server = await startProtectedFiles({ '/f.tif': { guard, content: 'data' } }, secure ? CERTIFIED : undefined)
  onTestFinished(() => server.close())
  return server
}

const CONCEALED = { type: 'http', scheme: 'concealed' } as const

function engine(origin: string, fields: Partial<CredentialInput> = {}, transport: Transport = undiciTransport({ ca: TEST_CA, env: {} })) {
  const credential = { id: 'mine', ...CONCEALED, privateKey: keys.ed25519.pem, keyId: 'ada', ...fields, sendTo: `${origin}/` }
  return createAuth({ credentials: unchecked(credential), transport })
}

const file = (origin: string) => target({ type: 'http', scheme: 'Concealed' }, `${origin}/f.tif?a=b`)

describe('a proof', () => {
  it.each([
    ['Ed25519', { privateKey: keys.ed25519.pem, keyId: 'ada' }],
    ['P-256, with a long identifier', { privateKey: keys.p256.jwk, keyId: 'ada/ü'.repeat(30) }],
    ['RSA in PEM', { privateKey: keys.rsa.pem, keyId: 'rsa' }],
    ['RSA in a JWK', { privateKey: keys.rsa.jwk, keyId: 'rsa' }],
  ])('a proof by %s opens the file, on its own connection, at once', async (_name, fields) => {
    const server = await filesBehind(concealedGuard(known))
    const auth = engine(server.origin, fields)
    for (let round = 0; round < 2; round++) expect(await (await auth.fetch(file(server.origin))).text()).toBe('data')
    expect(server.exchanges).toHaveLength(2)
    expect(server.connections).toBe(2)
  })

  it('names the realm when the credential does', async () => {
    const server = await filesBehind(concealedGuard(known, 'the archive'))
    expect(await (await engine(server.origin, { realm: 'the archive' }).fetch(file(server.origin))).text()).toBe('data')
    expect((await engine(server.origin).fetch(file(server.origin))).status).toBe(404)
  })

  it.each<[string, Partial<CredentialInput>]>([
    ['another key', { privateKey: keys.other.pem }],
    ['another identifier', { keyId: 'eve' }],
    ['another kind of key', { privateKey: keys.p256.pem }],
    ['another RSA key', { privateKey: testKey.rsa().pem, keyId: 'rsa' }],
  ])('a proof by %s finds nothing', async (_name, fields) => {
    const server = await filesBehind(concealedGuard(known))
    expect((await engine(server.origin, fields).fetch(file(server.origin))).status).toBe(404)
  })

  it('counts on no other connection', async () => {
    const server = await filesBehind(concealedGuard(known))
    const transport = undiciTransport({ ca: TEST_CA, env: {} })
    await (await engine(server.origin).fetch(file(server.origin))).text()
    const proof = server.exchanges[0]?.request.headers.authorization ?? ''
    expect(proof).toMatch(/^Concealed k=YWRh, a=[\w-]{43}, s=2055, v=[\w-]{22}, p=[\w-]{86}$/)
    const replayed = await transport(
      { method: 'GET', url: `${server.origin}/f.tif`, headers: { authorization: proof } },
      { allowPrivateNetwork: true },
    )
    expect(replayed.status).toBe(404)
    await replayed.discard()
  })

  it('a proof is refused like any other when the server says so', async () => {
    const server = await filesBehind(() => ({ status: 401 }))
    expect(await failureOf(engine(server.origin).fetch(file(server.origin)))).toMatchObject({ code: 'AUTH_REJECTED', credential: 'mine' })
  })
})

describe('nothing is sent', () => {
  it('nothing is sent with a key that is too short', async () => {
    const server = await filesBehind(concealedGuard(known))
    const error = await failureOf(engine(server.origin, { privateKey: testKey.rsa(1024).pem, keyId: 'rsa' }).fetch(file(server.origin)))
    expect(error).toMatchObject({ code: 'CREDENTIAL_VALUE_INVALID', message: expect.stringContaining('2048 bits') })
    expect(server.exchanges).toEqual([])
  })

  it('nothing is sent without encryption', async () => {
    const server = await filesBehind(concealedGuard(known), false)
    const error = await failureOf(engine(server.origin).fetch(file(server.origin)))
    expect(error).toMatchObject({ code: 'SCHEME_UNSUPPORTED', message: expect.stringContaining('TLS 1.3') })
    expect(server.exchanges).toEqual([])
  })

  it('nothing is sent when the request is only authorized', async () => {
    const server = await filesBehind(concealedGuard(known))
    const error = await failureOf(engine(server.origin).authorize(file(server.origin)))
    expect(error).toMatchObject({ code: 'SCHEME_UNSUPPORTED', hint: 'send the request with fetch' })
    expect(server.connections).toBe(0)
  })

  it('nothing is sent over a transport that holds no connections', async () => {
    const error = await failureOf(
      engine('https://data.example', {}, () => Promise.reject(new Error('sent'))).fetch(file('https://data.example')),
    )
    expect(error).toMatchObject({ code: 'SCHEME_UNSUPPORTED', hint: expect.stringContaining('undiciTransport') })
  })
})
