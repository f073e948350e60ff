import { afterEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { importPrivateKey } from '../../../src/crypto/private-key.ts'
import { signatureBase, signatureInput } from '../../../src/strategies/http/gnap.ts'
import { gnap } from '../../../src/strategies/http/schemes.ts'
import { readyStep, wordContext } from '../../harness/auth-flow.ts'
import { canary, leaks, shown } from '../../harness/canary.ts'
import { target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { testKey } from '../../harness/keys.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { type AnsweringServer, startAnswering } from '../../servers/answering-server.ts'
import { digestOf, gnapGuard } from '../../servers/gnap-guard.ts'
import { bearerGuard, type Guard } from '../../servers/guards.ts'

const TOKEN = 'OS9M2PMHKUR64TB8N6BW7OZB8CDFONP219RP1LT0'
const key = testKey.p256()
const entry = { token: TOKEN, privateKey: key.pem, keyId: 'gnap-key "1"' }

/** RFC 9421 §B.1.4 and §B.2.6; Ed25519 gives the same signature each time. */
const RFC = {
  key: { kty: 'OKP', crv: 'Ed25519', d: 'n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU', x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs' },
  components: [
    ['date', 'Tue, 20 Apr 2021 02:07:55 GMT'],
    ['@method', 'POST'],
    ['@path', '/foo'],
    ['@authority', 'example.com'],
    ['content-type', 'application/json'],
    ['content-length', '18'],
  ],
  parameters: { created: 1618884473, keyid: 'test-key-ed25519' },
  input: '("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"',
  signature: 'wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==',
} as const

describe('gnap', () => {
  it('signs the message of RFC 9421 §B.2.6', async () => {
    const signer = await importPrivateKey(JSON.stringify(RFC.key), ['EdDSA'])
    if ('problem' in signer) throw new Error(signer.problem)
    expect(signatureInput(RFC.components, RFC.parameters)).toBe(RFC.input)
    const signature = await signer.sign(signatureBase(RFC.components, RFC.parameters))
    expect(Buffer.from(signature).toString('base64')).toBe(RFC.signature)
  })

  it('covers method, URL and token, and reports which key', async () => {
    const random = (bytes: number) => new Uint8Array(bytes)
    const request = { method: 'GET', url: 'https://data.example/a?b=c', headers: { accept: '*/*' } }
    const step = await readyStep(gnap.authorize(request, wordContext('gnap', entry, { random })))
    expect(step?.request).toEqual({
      ...request,
      headers: {
        accept: '*/*',
        authorization: `GNAP ${TOKEN}`,
        'signature-input':
          'sig1=("@method" "@target-uri" "authorization");created=1800000000;keyid="gnap-key \\"1\\"";nonce="AAAAAAAAAAAAAAAAAAAAAA";tag="gnap"',
        signature: expect.stringMatching(/^sig1=:[A-Za-z0-9+/]{86}==:$/),
      },
    })
  })

  it.each(['{"hello": "world"}', new TextEncoder().encode('{"hello": "world"}')])(
    'covers a body by the digest of RFC 9530 §B.2: %s',
    async (body) => {
      const request = { method: 'POST', url: 'https://data.example/', headers: {}, body }
      const step = await readyStep(gnap.authorize(request, wordContext('gnap', entry)))
      expect(step?.request.headers['content-digest']).toBe('sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:')
      expect(step?.request.headers['signature-input']).toContain('"authorization" "content-digest")')
      expect(step?.request.body).toBe(body)
    },
  )

  it('sends a token without a key as a bearer token', async () => {
    const step = await readyStep(
      gnap.authorize({ method: 'GET', url: 'https://a.example/', headers: {} }, wordContext('gnap', { token: TOKEN })),
    )
    expect(step?.request.headers).toEqual({ authorization: `Bearer ${TOKEN}` })
  })

  it.each([
    ['/keyId', { token: TOKEN, privateKey: key.pem }],
    ['/privateKey', { token: TOKEN, keyId: 'k' }],
    ['/keyId', { ...entry, keyId: 'k\u00e9' }],
    ['/keyId', { ...entry, keyId: 'k\n' }],
  ])('names the field %s that does not fit', async (pointer, fields) => {
    const credentials = { type: 'http', scheme: 'gnap', sendTo: 'https://a.example/', ...fields }
    const error = await failureOf(
      createAuth({ credentials: unchecked(credentials) }).authorize(target({ type: 'http', scheme: 'gnap' }, 'https://a.example/')),
    )
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', pointer: `/credentials/0${pointer}` })
  })
})

describe('gnap against a server', () => {
  const servers: AnsweringServer[] = []
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close()
  })

  async function engine(guard: Guard, fields: object = entry) {
    const server = await startAnswering((request) => guard(request) ?? { status: 200, body: `opened ${request.body}` })
    servers.push(server)
    const auth = createAuth({ credentials: unchecked({ type: 'http', scheme: 'gnap', sendTo: `${server.origin}/`, ...fields }) })
    const wanted = target({ type: 'http', scheme: 'GNAP' }, `${server.origin}/a%20b?c=%7B&d`)
    return { server, fetched: (init?: RequestInit) => auth.fetch(wanted, init) }
  }

  it.each([
    ['P-256', key],
    ['Ed25519', testKey.ed25519()],
    ['RSA', testKey.rsa()],
  ])('gnap against a server opens with a %s key, with and without a body', async (_name, { pem, jwk, publicKey }) => {
    for (const privateKey of [pem, jwk]) {
      const { fetched } = await engine(gnapGuard({ token: TOKEN, keyId: 'k-1', key: publicKey }), {
        token: TOKEN,
        privateKey,
        keyId: 'k-1',
      })
      expect(await (await fetched()).text()).toBe('opened ')
      expect(await (await fetched({ method: 'POST', body: 'a=\u00fc' })).text()).toBe('opened a=\u00fc')
    }
  })

  it('gnap against a server opens with a bearer token', async () => {
    const { fetched } = await engine(
      bearerGuard((token) => token === TOKEN),
      { token: TOKEN },
    )
    expect((await fetched()).status).toBe(200)
  })

  const bound = { token: TOKEN, keyId: 'k-1', key: key.publicKey }
  const good = { token: TOKEN, privateKey: key.pem, keyId: 'k-1' }

  it.each([
    ['the key of somebody else', { ...good, privateKey: testKey.p256().pem }],
    ['another name for the key', { ...good, keyId: 'k-2' }],
    ['another token', { ...good, token: 'another-token-of-mine' }],
    ['the bound token alone', { token: TOKEN }],
  ])('gnap against a server is refused with %s, and told where tokens are granted', async (_name, fields) => {
    const { server, fetched } = await engine(gnapGuard(bound), fields)
    const error = await failureOf(fetched())
    expect(error).toMatchObject({
      code: 'AUTH_REJECTED',
      status: 401,
      hint: expect.stringContaining('as_uri https://as.example/tx, access dolphin'),
    })
    expect(server.exchanges).toHaveLength(1)
  })

  it.each([
    ['echoes the token', (token: string) => `GNAP as_uri="https://as.example/${token}", access="${token.toLowerCase()}"`],
    [
      'echoes the token in other words',
      (token: string) =>
        `GNAP as_uri="https://as.example/${token.replace(/./g, (char) => `%${char.charCodeAt(0).toString(16)}`)}", access="${btoa(token)}"`,
    ],
    ['says something unprintable', () => 'GNAP as_uri="https://as.example/\u0080", access="a b"'],
    ['says nothing', () => 'GNAP'],
    ['speaks of something else', () => 'Bearer as_uri="https://as.example/"'],
  ])('gnap against a server gets no challenge from a server that %s', async (_name, challenge) => {
    const token = canary('gnap')
    const { fetched } = await engine(() => ({ status: 401, headers: { 'www-authenticate': challenge(token.value) } }), {
      ...good,
      token: token.value,
    })
    const error = await failureOf(fetched())
    expect(error).toMatchObject({ code: 'AUTH_REJECTED', hint: expect.not.stringContaining('where') })
    expect(leaks([token], { error: shown(error) })).toEqual([])
  })

  it('gnap against a server is checked by a server that reads the digest', () => {
    expect(digestOf('{"hello": "world"}')).toBe('sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:')
  })
})
