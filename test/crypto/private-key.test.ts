import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { compactJws, importPrivateKey, jwkThumbprint, type PrivateKey, type SignatureAlgorithm } from '../../src/crypto/private-key.ts'
import { testKey } from '../harness/keys.ts'
import { isSignedBy, readJws, thumbprintOf } from '../servers/jws.ts'

const ALL: readonly SignatureAlgorithm[] = ['ES256', 'EdDSA', 'RS256']
const kinds = [
  ['ES256', testKey.p256()],
  ['EdDSA', testKey.ed25519()],
  ['RS256', testKey.rsa()],
] as const

async function keyFrom(text: string, algorithms = ALL): Promise<PrivateKey> {
  const key = await importPrivateKey(text, algorithms)
  if ('problem' in key) throw new Error(key.problem)
  return key
}

describe('importPrivateKey', () => {
  it.each(kinds)('reads an %s key as PEM and as JWK, and signs with it', async (algorithm, { pem, jwk, publicKey }) => {
    for (const text of [pem, pem.replaceAll('\n', '\r\n'), ` ${pem}\n\n`, jwk, JSON.stringify(JSON.parse(jwk), null, 2)]) {
      const key = await keyFrom(text)
      expect(key.algorithm).toBe(algorithm)
      expect(key.thumbprint).toBe(thumbprintOf(publicKey))
      const jws = await compactJws(key, { typ: 'JWT', alg: algorithm }, { a: 1 })
      expect(readJws(jws)).toEqual({ header: { typ: 'JWT', alg: algorithm }, claims: { a: 1 } })
      expect(isSignedBy(jws, publicKey)).toBe(true)
      expect(isSignedBy(jws, testKey.p256().publicKey)).toBe(false)
    }
  })

  it.each(kinds)('reports the public half of an %s key and nothing else', async (_algorithm, { jwk, publicKey }) => {
    const key = await keyFrom(jwk)
    expect(key.publicJwk).toEqual(publicKey.export({ format: 'jwk' }))
    expect(JSON.stringify(key)).not.toContain(JSON.parse(jwk).d)
  })

  it.each(kinds)('keeps an %s key where no one can read it out', async (_algorithm, { pem }) => {
    const sign = vi.spyOn(crypto.subtle, 'sign')
    await (await keyFrom(pem)).sign('text')
    expect(sign.mock.calls.map(([, key]) => [key.type, key.extractable])).toEqual([['private', false]])
    sign.mockRestore()
  })

  it('reads a JWK whatever it says about its use', async () => {
    const [, { jwk, publicKey }] = kinds[0]
    const key = await keyFrom(JSON.stringify({ ...JSON.parse(jwk), alg: 'ES256', use: 'sig', key_ops: ['verify'], ext: false, kid: 'k' }))
    expect(key.thumbprint).toBe(thumbprintOf(publicKey))
  })

  const encrypted = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
  }).privateKey
  const [, p256] = kinds[0]
  const { d: _d, ...publicOnly } = JSON.parse(p256.jwk)
  const sec1 = createPrivateKey(p256.pem).export({ type: 'sec1', format: 'pem' }).toString()

  it.each<[string, string, string]>([
    ['plain text', 'hunter2-hunter2', 'is not PEM or a JWK'],
    ['JSON that ends early', '{"kty":"EC","d":"hunter2', 'is not PEM or a JWK'],
    ['a public JWK', JSON.stringify(publicOnly), 'is a JWK without its private part'],
    ['SEC 1', sec1, 'not an unencrypted PKCS #8 key'],
    ['an encrypted key', encrypted, 'not an unencrypted PKCS #8 key'],
    ['a public key in PEM', p256.publicKey.export({ type: 'spki', format: 'pem' }).toString(), 'not an unencrypted PKCS #8 key'],
    ['PEM that is no base64', '-----BEGIN PRIVATE KEY-----\nA=A=\n-----END PRIVATE KEY-----', 'is malformed PEM'],
    ['PEM that is no key', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----', 'is not a private key of type P-256 or'],
    ['another curve', testKey.p384().pem, 'is not a private key of type P-256 or Ed25519 or RSA'],
    ['a JWK of members that are no text', '{"kty":1,"crv":[],"d":"AA"}', 'is not a private key of type'],
    ['RSA that is too short', testKey.rsa(1024).pem, 'is an RSA key with less than 2048 bits'],
  ])('reports why %s is none', async (_name, text, problem) => {
    expect(await importPrivateKey(text, ALL)).toEqual({ problem: expect.stringContaining(problem) })
  })

  it('takes a key of the kinds requested only', async () => {
    expect(await importPrivateKey(p256.pem, ['RS256'])).toEqual({ problem: 'is not a private key of type RSA' })
    expect(await importPrivateKey(p256.jwk, ['RS256'])).toEqual({ problem: 'is not a private key of type RSA' })
  })
})

describe('jwkThumbprint', () => {
  it('jwkThumbprint is that of RFC 7638 §3.1', async () => {
    const n =
      '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W' +
      '-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qN' +
      'Lyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw'
    expect(await jwkThumbprint({ kty: 'RSA', n, e: 'AQAB' })).toBe('NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs')
  })

  it('jwkThumbprint is that of RFC 8037 §A.3', async () => {
    expect(await jwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' })).toBe(
      'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
    )
  })
})
