import { afterEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { compactJws, type PrivateKey } from '../../../src/crypto/private-key.ts'
import { dpop } from '../../../src/strategies/http/schemes.ts'
import { readyStep, stepsOf, unauthorized, wordContext } from '../../harness/auth-flow.ts'
import { canaryOf, leaks, shown } from '../../harness/canary.ts'
import { found, target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { testKey } from '../../harness/keys.ts'
import { unchecked } from '../../harness/unchecked.ts'
import type { AnsweringServer } from '../../servers/answering-server.ts'
import { type DpopResource, provenClaims, startDpopResource } from '../../servers/dpop-resource.ts'
import { readJws, thumbprintOf } from '../../servers/jws.ts'

/** RFC 9449 §7.1. */
const TOKEN = 'Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU'
const ATH = 'fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo'

/** RFC 9449 §4.1, in the parts of the proof. */
const PROOF = {
  header:
    'eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCR' +
    'nMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19',
  claims:
    'eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ',
  signature: '2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg',
  x: 'l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs',
  y: '9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA',
  jkt: '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I',
}

const key = testKey.p256()
const entry = { token: TOKEN, privateKey: key.pem }
const get = (url: string, method = 'GET') => ({ method, url, headers: {} })
const F = 'https://data.example/a/f.tif?x=1'
const wantsNonce = (nonce: string) => unauthorized('DPoP error="use_dpop_nonce", error_description="a, b"', { 'dpop-nonce': nonce })

function proofOf(headers: Readonly<Record<string, string>> | undefined) {
  return found(readJws(headers?.dpop ?? ''))
}

describe('dpop', () => {
  it('writes and hashes as the examples of RFC 9449 §4.1, §6.1 and §7.1', async () => {
    const signer: PrivateKey = {
      algorithm: 'ES256',
      publicJwk: { kty: 'EC', x: PROOF.x, y: PROOF.y, crv: 'P-256' },
      thumbprint: PROOF.jkt,
      pair: {} as CryptoKeyPair,
      sign: async (text) => {
        expect(text).toBe(`${PROOF.header}.${PROOF.claims}`)
        return Uint8Array.from(Buffer.from(PROOF.signature, 'base64url'))
      },
    }
    const claims = { jti: '-BwC3ESc6acc2lTc', htm: 'POST', htu: 'https://server.example.com/token', iat: 1562262616 }
    const proof = await compactJws(signer, { typ: 'dpop+jwt', alg: signer.algorithm, jwk: signer.publicJwk }, claims)
    expect(provenClaims(proof, PROOF.jkt)).toEqual(claims)
    expect(provenClaims(proof.replace(/.g$/, 'Ag'), PROOF.jkt)).toBeUndefined()
    const [step] = await stepsOf(dpop.authorize(get(F), wordContext('dpop', entry)))
    expect(proofOf(step?.request.headers).claims.ath).toBe(ATH)
  })

  it.each([
    ['ES256', key],
    ['EdDSA', testKey.ed25519()],
    ['RS256', testKey.rsa()],
  ])('proves an %s key for method and URL, without query', async (alg, { pem, publicKey }) => {
    const random = () => Buffer.from('-BwC3ESc6acc2lTc', 'base64url')
    const context = wordContext('dpop', { token: TOKEN, privateKey: pem }, { random })
    const step = await readyStep(dpop.authorize(get(F, 'POST'), context))
    expect(step?.request.headers.authorization).toBe(`DPoP ${TOKEN}`)
    const { header } = proofOf(step?.request.headers)
    expect(Object.keys(header)).toEqual(['typ', 'alg', 'jwk'])
    expect(header).toMatchObject({ typ: 'dpop+jwt', alg, jwk: publicKey.export({ format: 'jwk' }) })
    expect(provenClaims(step?.request.headers.dpop ?? '', thumbprintOf(publicKey))).toEqual({
      jti: '-BwC3ESc6acc2lTc',
      htm: 'POST',
      htu: 'https://data.example/a/f.tif',
      iat: 1_800_000_000,
      ath: ATH,
    })
  })

  it('makes a new proof for each step, with the nonce that was requested', async () => {
    const steps = await stepsOf(dpop.authorize(get(F), wordContext('dpop', entry)), [wantsNonce('n-1')])
    const claims = steps.map(({ request }) => proofOf(request.headers).claims)
    expect(claims.map(({ nonce }) => nonce)).toEqual([undefined, 'n-1'])
    expect(new Set(claims.map(({ jti }) => jti)).size).toBe(2)
  })

  it('keeps the newest nonce of each origin', async () => {
    const context = wordContext('dpop', entry)
    const nonces = async (url: string, replies = [{}]) =>
      (await stepsOf(dpop.authorize(get(url), context), replies)).map(({ request }) => proofOf(request.headers).claims.nonce)
    expect(await nonces(F, [{ headers: { 'dpop-nonce': 'n-1' } }])).toEqual([undefined])
    expect(await nonces('https://other.example/')).toEqual([undefined])
    expect(await nonces('https://data.example/b', [{ headers: { 'dpop-nonce': 'n-2' } }])).toEqual(['n-1'])
    expect(await nonces(F, [wantsNonce('n-3'), { headers: { 'dpop-nonce': 'n-4' } }])).toEqual(['n-2', 'n-3'])
    expect(await nonces(F)).toEqual(['n-4'])
  })

  it.each([
    ['no nonce', unauthorized('DPoP error="use_dpop_nonce"')],
    ['a nonce that is no text', unauthorized('DPoP error="use_dpop_nonce"', { 'dpop-nonce': 'a b"' })],
    ['a nonce without end', wantsNonce('x'.repeat(2049))],
    ['another error', unauthorized('DPoP error="invalid_token"', { 'dpop-nonce': 'n' })],
    ['the error of another scheme', unauthorized('Bearer error="use_dpop_nonce"', { 'dpop-nonce': 'n' })],
    ['a forbidden file', { status: 403, headers: { 'dpop-nonce': 'n', 'www-authenticate': 'DPoP error="use_dpop_nonce"' } }],
    ['64 kB of challenges', unauthorized(`DPoP x="${'x'.repeat(65_536)}", error="use_dpop_nonce"`, { 'dpop-nonce': 'n' })],
  ])('dpop is not asked twice by %s', async (_name, reply) => {
    expect(await stepsOf(dpop.authorize(get(F), wordContext('dpop', entry)), [reply, reply, reply])).toHaveLength(1)
  })

  it('follows a key that changes', async () => {
    const keys = [testKey.p256(), testKey.p256()]
    const texts = keys.map(({ pem }) => pem)
    const context = wordContext('dpop', { token: () => TOKEN, privateKey: async () => texts.shift() })
    for (const { publicKey } of keys) {
      const [step] = await stepsOf(dpop.authorize(get(F), context), [{ headers: { 'dpop-nonce': 'n' } }])
      const claims = provenClaims(step?.request.headers.dpop ?? '', thumbprintOf(publicKey))
      expect(claims).toMatchObject({ ath: ATH })
      expect(claims).not.toHaveProperty('nonce')
    }
  })

  it('does not send the same nonce twice', async () => {
    const context = wordContext('dpop', entry)
    await stepsOf(dpop.authorize(get(F), context), [{ headers: { 'dpop-nonce': 'n-1' } }])
    expect(await stepsOf(dpop.authorize(get(F), context), [wantsNonce('n-1'), wantsNonce('n-1')])).toHaveLength(1)
  })

  it.each([
    ['a token with blanks', { ...entry, token: 'abc def-hunter2' }],
    ['no key', { ...entry, privateKey: 'hunter2-hunter2' }],
    ['an empty key', { ...entry, privateKey: '' }],
    ['a key with a NUL', { ...entry, privateKey: `${key.pem}\0` }],
    ['a key without end', { ...entry, privateKey: key.pem.padEnd(20_000) }],
    ['a P-384 key', { ...entry, privateKey: testKey.p384().pem }],
  ])('needs a token and a key, not %s', async (_name, fields) => {
    const error = await failureOf(stepsOf(dpop.authorize(get(F), wordContext('dpop', fields))))
    expect(error).toMatchObject({ code: 'CREDENTIAL_VALUE_INVALID' })
    expect(
      leaks([canaryOf(fields.token), canaryOf(fields.privateKey.slice(40, 80) || 'hunter2-hunter2')], { error: shown(error) }),
    ).toEqual([])
  })
})

describe('dpop against a resource', () => {
  const servers: AnsweringServer[] = []
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close()
  })

  async function engine(resource: Partial<DpopResource> = {}, fields: object = entry) {
    const server = await startDpopResource({ token: TOKEN, jkt: thumbprintOf(key.publicKey), ...resource })
    servers.push(server)
    const auth = createAuth({ credentials: unchecked({ type: 'http', scheme: 'dpop', sendTo: `${server.origin}/`, ...fields }) })
    return { server, fetched: () => auth.fetch(target({ type: 'http', scheme: 'DPoP' }, `${server.origin}/f.tif?a=b`)) }
  }

  const statuses = ({ exchanges }: AnsweringServer) => exchanges.map(({ answer }) => answer.status)

  it('learns the nonce once and follows it from then on', async () => {
    let count = 0
    const { server, fetched } = await engine({ nonce: () => `n-${Math.floor(++count / 4)}` })
    for (let i = 0; i < 4; i++) expect((await fetched()).status).toBe(200)
    expect(statuses(server)).toEqual([401, 200, 200, 200, 200])
    const nonces = server.exchanges.map(({ request }) => proofOf({ dpop: String(request.headers.dpop) }).claims.nonce)
    expect(nonces).toEqual([undefined, 'n-0', 'n-1', 'n-1', 'n-2'])
  })

  it('H22 gives up on a nonce that never counts', async () => {
    let count = 0
    const { server, fetched } = await engine({ nonce: () => `n-${count++}` })
    expect(await failureOf(fetched())).toMatchObject({ code: 'AUTH_REJECTED', message: expect.stringContaining('use_dpop_nonce') })
    expect(statuses(server)).toEqual([401, 401])
  })

  it.each([
    ['another key', { ...entry, privateKey: testKey.p256().pem }, 'invalid_dpop_proof'],
    ['another token', { ...entry, token: 'other-token-of-mine' }, 'invalid_token'],
  ])('dpop against a resource is refused with %s', async (_name, fields, word) => {
    const { server, fetched } = await engine({}, fields)
    const error = await failureOf(fetched())
    expect(error).toMatchObject({ code: 'AUTH_REJECTED', message: expect.stringContaining(word) })
    expect(leaks([canaryOf(fields.token)], { error: shown(error) })).toEqual([])
    expect(statuses(server)).toEqual([401])
  })
})
