import { describe, expect, it } from 'vitest'
import { cloudFrontPolicy, endedAt, urlSignature } from '../../src/http/url-signature.ts'

const FILE = 'https://store.example/bucket/a.tif'
const AT = Date.parse('2026-01-01T01:00:00Z')

const S3 =
  'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AK%2F20260101%2Fr%2Fs3%2Faws4_request&X-Amz-Date=20260101T000000Z&X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature=00'
const S3_V2 = 'AWSAccessKeyId=AK&Expires=1767229200&Signature=c2ln'
const GOOGLE =
  'X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Credential=a%2F20260101%2Fauto%2Fstorage%2Fgoog4_request&X-Goog-Date=20260101T000000Z&X-Goog-Expires=3600&X-Goog-SignedHeaders=host&X-Goog-Signature=00'
const GOOGLE_V2 = 'GoogleAccessId=a%40b.iam.gserviceaccount.com&Expires=1767229200&Signature=c2ln'
const CANNED = 'Expires=1767229200&Signature=c2ln&Key-Pair-Id=K1'
const CUSTOM = `Policy=${policy({ Statement: [{ Resource: 'https://c.example/*', Condition: { DateLessThan: { 'AWS:EpochTime': 1767229200 } } }] })}&Signature=c2ln&Key-Pair-Id=K1`
const SERVICE_SAS = 'sv=2022-11-02&sr=b&sp=r&se=2026-01-01T01%3A00%3A00Z&sig=c2ln'
const ACCOUNT_SAS = 'sv=2022-11-02&ss=b&srt=o&sp=r&se=2026-01-01T01%3A00Z&sig=c2ln'
const USER_SAS = `${SERVICE_SAS.replace('01%3A00%3A00Z', '23%3A00%3A00Z')}&skoid=o&sktid=t&skt=2026-01-01&ske=2026-01-01T01%3A00%3A00Z&sks=b&skv=2022-11-02`

function policy(value: unknown): string {
  return btoa(JSON.stringify(value)).replaceAll('+', '-').replaceAll('=', '_').replaceAll('/', '~')
}

/** Returns the query without that parameter. */
function without(query: string, name: string): string {
  return query
    .split('&')
    .filter((pair) => !pair.startsWith(`${name}=`))
    .join('&')
}

describe('a URL that carries a signature', () => {
  it.each([
    ['S3', S3],
    ['S3', S3_V2],
    ['Google Cloud Storage', GOOGLE],
    ['Google Cloud Storage', GOOGLE_V2],
    ['CloudFront', CANNED],
    ['CloudFront', CUSTOM],
    ['Azure Storage', SERVICE_SAS],
    ['Azure Storage', ACCOUNT_SAS],
    ['Azure Storage', USER_SAS],
  ])('is recognized with its expiry: %s %s', (kind, query) => {
    expect(urlSignature(`${FILE}?${query}`)).toEqual({ kind, expiresAt: AT })
    expect(urlSignature(`${FILE}?response-content-type=image%2Ftiff&${query}#part`)).toEqual({ kind, expiresAt: AT })
  })

  it.each([
    [S3, ['X-Amz-Algorithm', 'X-Amz-Credential', 'X-Amz-Date', 'X-Amz-Expires', 'X-Amz-SignedHeaders', 'X-Amz-Signature']],
    [S3_V2, ['AWSAccessKeyId', 'Expires', 'Signature']],
    [GOOGLE, ['X-Goog-Algorithm', 'X-Goog-Credential', 'X-Goog-Date', 'X-Goog-Expires', 'X-Goog-SignedHeaders', 'X-Goog-Signature']],
    [GOOGLE_V2, ['GoogleAccessId', 'Expires', 'Signature']],
    [CANNED, ['Expires', 'Signature', 'Key-Pair-Id']],
    [CUSTOM, ['Policy', 'Signature', 'Key-Pair-Id']],
    [SERVICE_SAS, ['se', 'sig']],
  ])('needs each required parameter, with a value: %s', (query, names) => {
    for (const name of names) {
      expect(urlSignature(`${FILE}?${without(query, name)}`), name).toBeUndefined()
      expect(urlSignature(`${FILE}?${without(query, name)}&${name}=`), name).toBeUndefined()
    }
  })

  it.each(['sig=c2ln', 'Signature=c2ln&Expires=1767229200', 'X-Amz-Signature=00', 'token=abc', 'se=2026-01-01&sv=1', ''])(
    'is not one with a suspicious name alone: %s',
    (query) => {
      expect(urlSignature(`${FILE}?${query}`)).toBeUndefined()
    },
  )

  it('is recognized by the query only', () => {
    expect(urlSignature(FILE)).toBeUndefined()
    expect(urlSignature(`${FILE}#?${S3}`)).toBeUndefined()
    expect(urlSignature(`https://store.example/${S3}`)).toBeUndefined()
  })

  it('is recognized with percent-encoded names', () => {
    expect(urlSignature(`${FILE}?${S3.replace('X-Amz-Signature', 'X-Amz-Sign%61ture')}`)?.kind).toBe('S3')
  })

  it('has names in any case where services ignore it, and exact names elsewhere', () => {
    expect(urlSignature(`${FILE}?${S3.replace(/X-Amz-\w+/g, (name) => name.toLowerCase())}`)).toEqual({ kind: 'S3', expiresAt: AT })
    expect(urlSignature(`${FILE}?${SERVICE_SAS.replace('sig=', 'SIG=').replace('se=', 'Se=')}`)).toEqual({
      kind: 'Azure Storage',
      expiresAt: AT,
    })
    for (const query of [S3_V2, GOOGLE_V2, CANNED]) expect(urlSignature(`${FILE}?${query.toLowerCase()}`)).toBeUndefined()
  })

  it('has no expiry when the query states none that can be read', () => {
    expect(urlSignature(`${FILE}?${S3.replace('20260101T000000Z', 'today')}`)).toEqual({ kind: 'S3' })
    expect(urlSignature(`${FILE}?${S3_V2.replace('1767229200', 'soon')}`)).toEqual({ kind: 'S3' })
    expect(urlSignature(`${FILE}?${CUSTOM.replace(/Policy=[^&]+/, 'Policy=e30_')}`)).toEqual({ kind: 'CloudFront' })
    expect(urlSignature(`${FILE}?sv=2022-11-02&sr=c&si=readers&sig=c2ln`)).toEqual({ kind: 'Azure Storage' })
  })

  it('has ended from its expiry on', () => {
    const signature = { kind: 'S3', expiresAt: AT } as const
    expect(endedAt(signature, AT - 1)).toBeUndefined()
    expect(endedAt(signature, AT)).toBe(AT)
    expect(endedAt({ kind: 'S3' }, AT)).toBeUndefined()
  })
})

describe('a custom policy of CloudFront', () => {
  const read = (value: unknown) => cloudFrontPolicy(new URLSearchParams({ Policy: policy(value) }))

  it('has one statement', () => {
    const statement = { Resource: 'https://c.example/*', Condition: { DateLessThan: { 'AWS:EpochTime': 1767229200 } } }
    expect(read({ Statement: [statement] })).toEqual({ resource: 'https://c.example/*', end: AT })
    for (const value of [{}, [], null, 1, { Statement: [] }, { Statement: [statement, statement] }, { Statement: statement }])
      expect(read(value)).toBeUndefined()
    expect(read({ Statement: [null] })).toEqual({ resource: undefined, end: undefined })
  })

  it('is undefined when it is missing or is not base64', () => {
    expect(cloudFrontPolicy(new URLSearchParams(''))).toBeUndefined()
    expect(cloudFrontPolicy(new URLSearchParams('Policy=%25%25'))).toBeUndefined()
  })
})
