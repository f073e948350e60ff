import { describe, expect, it } from 'vitest'
import type { AuthOptions } from '../../src/auth/create-auth.ts'
import type { CredentialObject } from '../../src/auth/credential.ts'
import type { HttpRequest, Send } from '../../src/http/message.ts'
import { assetOf, type Target } from '../../src/stac/target.ts'
import { asset, found, item, scheme, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { testKey } from '../harness/keys.ts'
import { type Reply, redirectTo, routes } from '../harness/scripted.ts'
import { unchecked } from '../harness/unchecked.ts'
import { DATA, entries, SIGN_URL, SIGNED, secrets, TOKEN_URL, victim } from '../harness/victim.ts'

const F = `${DATA}f.tif`
const END = '2026-01-01T00:01:00.000Z'
const BEFORE = Date.parse('2026-01-01T00:00:30Z')
const AFTER = Date.parse('2026-01-02T00:00:00Z')

const version4 = (vendor: string, algorithm: string) =>
  `X-${vendor}-Algorithm=${algorithm}&X-${vendor}-Credential=a%2F20260101%2Fr%2Fs%2Fr4&X-${vendor}-Date=20260101T000000Z&X-${vendor}-Expires=60&X-${vendor}-SignedHeaders=host&X-${vendor}-Signature=00`

const queries = {
  'S3 (version 4)': version4('Amz', 'AWS4-HMAC-SHA256'),
  'S3 (version 2)': 'AWSAccessKeyId=AK&Expires=1767225660&Signature=c2ln',
  CloudFront: 'Expires=1767225660&Signature=c2ln&Key-Pair-Id=K1',
  'Google (version 4)': version4('Goog', 'GOOG4-RSA-SHA256'),
  'Google (version 2)': 'GoogleAccessId=a&Expires=1767225660&Signature=c2ln',
  Azure: 'sv=2022-11-02&sr=b&sp=r&se=2026-01-01T00%3A01%3A00Z&sig=c2ln',
}
const PRESIGNED = `${F}?${queries['S3 (version 4)']}`

const token = { id: 'token', type: 'http', scheme: 'bearer', token: secrets.bearer.value, sendTo: DATA }
const s3 = { id: 's3', type: 's3', accessKeyId: 'AK', secretAccessKey: 'sk', endpoint: 'https://data.victim.example', sendTo: DATA }
const materials: { readonly [name: string]: readonly [credential: CredentialObject, scheme: object] } = {
  bearer: [token, scheme.bearer],
  basic: [{ ...entries.account, scheme: 'basic' }, scheme.basic],
  digest: [entries.account, { type: 'http', scheme: 'digest' }],
  dpop: [
    { ...token, scheme: 'dpop', privateKey: testKey.p256().pem },
    { type: 'http', scheme: 'dpop' },
  ],
  'a key in a header': [entries.key, scheme.key()],
  'a key in the query': [{ ...entries.queryKey, name: 'key' }, scheme.key('key', 'query')],
  'a key in a cookie': [entries.cookie, scheme.key('session', 'cookie')],
  oauth2: [entries.oauth, scheme.client(TOKEN_URL)],
  signedUrl: [entries.signer, scheme.signed(SIGN_URL)],
  s3: [s3, { type: 's3' }],
}

/** An asset without references. */
const silent = (href: string): Target => found(assetOf(item(undefined, { data: { href } }), 'data'))

function engine(credential: CredentialObject, replies: Parameters<typeof routes>[0] = {}, options: Partial<AuthOptions> = {}) {
  const issued = { body: { access_token: secrets.token.value, token_type: 'Bearer', expires_in: 3600 } }
  const script = routes({ [TOKEN_URL]: issued, [SIGN_URL]: { body: { href: SIGNED } }, [SIGNED]: {}, [F]: { body: 'data' }, ...replies })
  return victim({ credentials: unchecked(credential), clock: { now: () => BEFORE }, ...options }, script)
}

/** Refuses two authentications in one request, as object stores do. */
const strict = ({ headers }: HttpRequest): Reply =>
  Object.keys(headers).length === 0 ? { body: 'data' } : { status: 400, body: '<Error><Code>InvalidArgument</Code></Error>' }

describe.each(Object.entries(materials))('a URL that carries its own signature gets no credential: %s', (_name, [credential, k]) => {
  it('that its references name, in every call that takes a target', async () => {
    const { auth, script } = engine(credential, { [F]: strict })
    const signed = target(k, PRESIGNED)
    await auth.ready()
    expect(auth.peek(signed)).toMatchObject({ url: PRESIGNED, headers: {} })
    expect(await auth.authorize(signed)).toEqual({
      method: 'GET',
      url: PRESIGNED,
      headers: {},
      pointer: '/assets/data',
      expiresAt: END,
      secretIn: { headers: [], url: false },
    })
    expect((await auth.fetch(signed)).status).toBe(200)
    expect((await auth.send(signed)).status).toBe(200)
    expect((await auth.fetchFor(target(k, `${DATA}store`))(PRESIGNED)).status).toBe(200)
    expect(script.sent.map(({ url, headers }) => [url, headers])).toEqual(Array(3).fill([PRESIGNED, {}]))
  })

  it('that is selected by its address', async () => {
    for (const options of [{ byAddress: true }, {}]) {
      const { auth, script } = engine({ ...credential, use: 'by-address' }, { [F]: strict }, options)
      expect(await auth.authorize(silent(PRESIGNED))).not.toHaveProperty('credential')
      expect((await auth.fetch(silent(PRESIGNED))).status).toBe(200)
      expect((await auth.fetch(PRESIGNED)).status).toBe(200)
      expect((await auth.send({ method: 'GET', url: PRESIGNED, headers: {} })).status).toBe(200)
      expect(auth.peek(PRESIGNED)).toMatchObject({ url: PRESIGNED, headers: {} })
      expect(script.sent.map(({ url, headers }) => [url, headers])).toEqual(Array(3).fill([PRESIGNED, {}]))
    }
  })

  it('that redirects to it, also on the same origin', async () => {
    const api = `${DATA}api/f.tif`
    const { auth, script } = engine(credential, {
      [api]: () => redirectTo(PRESIGNED),
      [SIGN_URL]: { body: { href: api } },
      [F]: strict,
    })
    expect((await auth.fetch(target(k, api))).status).toBe(200)
    expect((await auth.fetch(api)).status).toBe(200)
    const toStore = script.sent.filter(({ url }) => url.startsWith(F))
    expect(toStore.map(({ url, headers }) => [url, headers])).toEqual(Array(2).fill([PRESIGNED, {}]))
  })
})

describe('a signed URL', () => {
  it.each(Object.entries(queries))('of %s is requested as it is, and explained', async (name, query) => {
    const { auth, script } = engine(token, { [F]: strict }, { byAddress: true })
    const signature = {
      kind: name
        .replace(/ \(.*/, '')
        .replace(/^(Google) ?.*/, '$1 Cloud Storage')
        .replace('Azure', 'Azure Storage'),
    }
    const url = `${F}?${query}`
    expect((await auth.fetch(target(scheme.bearer, url))).status).toBe(200)
    const explained = { ...signature, expiresAt: END, expired: false }
    expect(await auth.explain(target(scheme.bearer, url))).toMatchObject({ refs: [{ ref: 'k' }], signature: explained })
    const { byAddress, signature: same } = await auth.explain(silent(url))
    expect([byAddress, same]).toEqual([undefined, explained])
    expect(script.sent).toHaveLength(1)
  })

  it('needs no credential, whatever its references name', async () => {
    const { auth } = engine(entries.key)
    const broken = found(assetOf(item({}, { data: asset(PRESIGNED, ['gone']) }), 'data'))
    expect((await auth.fetch(broken)).status).toBe(200)
  })

  it('with a parameter of a signature missing gets the credential', async () => {
    const { auth, script } = engine(token)
    const url = PRESIGNED.replace('&X-Amz-Signature=00', '')
    await auth.fetch(target(scheme.bearer, url))
    expect(script.sent.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${secrets.bearer.value}`])
    expect(await auth.explain(target(scheme.bearer, url))).not.toHaveProperty('signature')
  })

  it.each([400, 401, 403])(
    'that has expired and is refused with %i gets no credential, and the error says when it expired',
    async (status) => {
      const api = `${DATA}api/f.tif`
      const options = { clock: { now: () => AFTER }, byAddress: true }
      const { auth, script } = engine(token, { [F]: { status }, [api]: redirectTo(PRESIGNED) }, options)
      const message = `https://data.victim.example refused a signed URL (S3) with ${status}: it expired at ${END}`
      for (const to of [target(scheme.bearer, PRESIGNED), silent(PRESIGNED), PRESIGNED]) {
        const failure = await failureOf(auth.fetch(to as string))
        expect(failure).toMatchObject({
          code: 'AUTH_REJECTED',
          message,
          status,
          hop: 0,
          hint: expect.stringContaining('read the document'),
        })
        expect(failure).not.toHaveProperty('credential')
      }
      expect(await failureOf(auth.fetch(target(scheme.bearer, api)))).toMatchObject({ code: 'AUTH_REJECTED', message, hop: 1 })
      expect(script.sent.filter(({ url }) => url === PRESIGNED).every(({ headers }) => Object.keys(headers).length === 0)).toBe(true)
      expect(await auth.explain(target(scheme.bearer, PRESIGNED))).toMatchObject({ signature: { expiresAt: END, expired: true } })
    },
  )

  it('that has expired leaves no body of its refusal unread, which would keep the connection', async () => {
    const script = routes({ [F]: { status: 403 } })
    const discarded: string[] = []
    const transport: Send = async (request, options) => {
      const response = await script.send(request, options)
      return { ...response, discard: async () => void discarded.push(request.url) }
    }
    const { auth } = victim({ credentials: unchecked(token), clock: { now: () => AFTER }, transport })
    expect(await failureOf(auth.fetch(PRESIGNED))).toMatchObject({ code: 'AUTH_REJECTED' })
    expect(discarded).toEqual([PRESIGNED])
  })

  it('that is refused while it is valid, or answers something else after its end, gives the response', async () => {
    const valid = engine(token, { [F]: { status: 403 } })
    expect((await valid.auth.fetch(target(scheme.bearer, PRESIGNED))).status).toBe(403)
    for (const status of [200, 404, 500]) {
      const late = engine(token, { [F]: { status } }, { clock: { now: () => AFTER } })
      expect((await late.auth.fetch(target(scheme.bearer, PRESIGNED))).status).toBe(status)
    }
  })
})
