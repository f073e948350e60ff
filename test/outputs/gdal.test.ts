import { describe, expect, it } from 'vitest'
import type { AuthorizedRequest } from '../../src/auth/auth.ts'
import { gdal } from '../../src/outputs/gdal.ts'
import { SECRET, withBearer, withObject, withQueryKey } from './requests.ts'

const KEYS = { accessKeyId: `AKID${SECRET}`, secretAccessKey: `key+${SECRET}` }

describe('gdal opens an object store as /vsis3/', () => {
  it('gdal opens an object store as /vsis3/ and lets GDAL sign', () => {
    expect(gdal(withObject).split('\n')).toEqual([
      'AWS_NO_SIGN_REQUEST=NO',
      'CLOUD_NO_SIGN_REQUEST=NO',
      'AWS_S3_ENDPOINT=s3.eu-central-1.amazonaws.com',
      'AWS_REGION=eu-central-1',
      'AWS_DEFAULT_REGION=eu-central-1',
      'AWS_VIRTUAL_HOSTING=TRUE',
      'AWS_HTTPS=YES',
      'AWS_REQUEST_PAYER=requester',
      'GDAL_HTTP_HEADERS=',
      'GDAL_DISABLE_READDIR_ON_OPEN=YES',
      'CPL_VSIL_CURL_ALLOWED_FILENAME=/vsis3/eo/a/b.tif',
      'GDAL_PATH=/vsis3/eo/a/b.tif',
    ])
  })

  it('gdal opens an object store as /vsis3/ with the keys of the request, and no older session token', () => {
    expect(gdal({ ...withObject, keys: KEYS }, { reveal: true }).match(/^AWS_(?:ACCESS|SECRET|SESSION).*$/gm)).toEqual([
      `AWS_ACCESS_KEY_ID=AKID${SECRET}`,
      `AWS_SECRET_ACCESS_KEY=key+${SECRET}`,
      'AWS_SESSION_TOKEN=',
    ])
  })

  it('gdal opens an object store as /vsis3/ with keys that stay hidden', () => {
    const text = gdal({ ...withObject, keys: { ...KEYS, sessionToken: `token/${SECRET}` } })
    expect(text).not.toContain(SECRET)
    expect(text.match(/^AWS_(?:ACCESS|SECRET|SESSION).*$/gm)).toEqual([
      'AWS_ACCESS_KEY_ID=[secret]',
      'AWS_SECRET_ACCESS_KEY=[secret]',
      'AWS_SESSION_TOKEN=[secret]',
    ])
  })

  it('also in path style and without TLS, and unsigned when it is public', () => {
    const location = {
      bucket: 'b',
      key: 'k',
      endpoint: 'http://127.0.0.1:9000',
      region: 'us-east-1',
      virtualHost: false,
      requesterPays: false,
    }
    const { credential: _none, ...anonymous } = { ...withObject, location }
    expect(gdal(anonymous).split('\n')).toEqual([
      'AWS_NO_SIGN_REQUEST=YES',
      'CLOUD_NO_SIGN_REQUEST=YES',
      'AWS_S3_ENDPOINT=127.0.0.1:9000',
      'AWS_REGION=us-east-1',
      'AWS_DEFAULT_REGION=us-east-1',
      'AWS_VIRTUAL_HOSTING=FALSE',
      'AWS_HTTPS=NO',
      'AWS_REQUEST_PAYER=',
      'GDAL_HTTP_HEADERS=',
      'GDAL_DISABLE_READDIR_ON_OPEN=YES',
      'CPL_VSIL_CURL_ALLOWED_FILENAME=/vsis3/b/k',
      'GDAL_PATH=/vsis3/b/k',
    ])
  })

  it('gdal opens an object store as /vsis3/ when its endpoint is not known either', () => {
    const { location: _none, credential: _nobody, ...anonymous } = { ...withObject, url: 's3://public/a%20b/k.tif', headers: {} }
    const text = gdal(anonymous)
    expect(text).toContain('AWS_NO_SIGN_REQUEST=YES\n')
    expect(text).toMatch(/^GDAL_PATH=\/vsis3\/public\/a b\/k\.tif$/m)
    expect(text).not.toMatch(/^AWS_S3_ENDPOINT/m)
  })

  it.each([
    { ...withObject, location: { ...withObject.location, key: 'a\t.tif' } },
    { ...withObject, location: undefined, url: 's3://public/a%0ab.tif' },
    { ...withObject, url: `${withObject.url}?versionId=1` },
    { ...withObject, location: undefined, url: 's3://public/a.tif?versionId=1' },
  ])('gdal opens an object store as /vsis3/, but no key that a line would change, and no version: %#', (request) => {
    expect(() => gdal(request as AuthorizedRequest)).toThrow(expect.objectContaining({ code: 'OUTPUT_UNSUPPORTED' }))
  })
})

describe('gdal opens anything else as /vsicurl/', () => {
  const headersOf = (headers: Readonly<Record<string, string>>) =>
    /^GDAL_HTTP_HEADERS=(.*)$/m.exec(gdal({ ...withBearer, headers, secretIn: { headers: [], url: false } }))?.[1]

  it('gdal opens anything else as /vsicurl/ with its headers', () => {
    expect(gdal({ ...withBearer, headers: { authorization: `Bearer ${SECRET}` } }, { reveal: true }).split('\n')).toEqual([
      'AWS_NO_SIGN_REQUEST=YES',
      'CLOUD_NO_SIGN_REQUEST=YES',
      `GDAL_HTTP_HEADERS=authorization: Bearer ${SECRET}`,
      'CPL_VSIL_CURL_USE_HEAD=NO',
      'GDAL_DISABLE_READDIR_ON_OPEN=YES',
      'CPL_VSIL_CURL_ALLOWED_FILENAME=/vsicurl/https://data.example/B04.tif?x=1',
      'GDAL_PATH=/vsicurl/https://data.example/B04.tif?x=1',
    ])
  })

  it('gdal opens anything else as /vsicurl/ without the headers of another request that are still there', () => {
    expect(gdal(withQueryKey)).toMatch(/^GDAL_HTTP_HEADERS=$/m)
  })

  it.each<[Readonly<Record<string, string>>, string]>([
    [{ a: '1', b: '2' }, 'a: 1,b: 2'],
    [{ a: '1, "x"', b: '2' }, '"a: 1, \\"x\\"",b: 2'],
    [{ cookie: 'a="b"' }, '"cookie: a=\\"b\\""'],
    [{ cookie: 'a=1, b\\c' }, 'accept: */*,"cookie: a=1, b\\\\c"'],
    [{ a: '1, y: 2' }, 'accept: */*,"a: 1, y: 2"'],
  ])('gdal opens anything else as /vsicurl/ with a list of %j', (headers, expected) => {
    expect(headersOf(headers)).toBe(expected)
  })
})
