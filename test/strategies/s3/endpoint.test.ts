import { describe, expect, it } from 'vitest'
import { bucketAndKey, objectAddressOf } from '../../../src/stac/object-address.ts'
import type { Storage } from '../../../src/stac/storage.ts'
import { amazonRegion, type EndpointSources, placeKey, placeOf } from '../../../src/strategies/s3/endpoint.ts'
import { s3 } from '../../../src/strategies/s3/s3.ts'

const storage = (fields: Partial<Storage>): Storage => ({ requesterPays: false, ...fields })
const place = (url: string, known: Partial<EndpointSources> = {}) => {
  const { url: to, region } = placeOf(url, {
    credential: {},
    storages: [],
    environment: {},
    trusts: () => true,
    learned: () => undefined,
    ...known,
  })
  return `${region} ${to}`
}

describe('objectAddressOf', () => {
  it.each([
    ['s3://eo/a/b.tif', 'eo', 'a/b.tif', undefined, false],
    ['https://eo.s3.eu-central-1.amazonaws.com/a/b.tif', 'eo', 'a/b.tif', 'eu-central-1', true],
    ['https://eo.s3-eu-west-1.amazonaws.com/k', 'eo', 'k', 'eu-west-1', true],
    ['https://eo.s3.amazonaws.com/k', 'eo', 'k', '', true],
    ['https://my.s3.bucket.s3.us-west-2.amazonaws.com/k', 'my.s3.bucket', 'k', 'us-west-2', true],
    ['https://eo.s3.dualstack.eu-north-1.amazonaws.com/k', 'eo', 'k', 'eu-north-1', true],
    ['https://eo.s3-fips.us-gov-west-1.amazonaws.com/k', 'eo', 'k', 'us-gov-west-1', true],
    ['https://eo.s3-fips.dualstack.us-east-2.amazonaws.com/k', 'eo', 'k', 'us-east-2', true],
    ['https://eo.s3.cn-north-1.amazonaws.com.cn/k', 'eo', 'k', 'cn-north-1', true],
    ['https://s3.eu-central-1.amazonaws.com/eo/a//b', 'eo', 'a//b', 'eu-central-1', false],
    ['https://s3.amazonaws.com/eo/k', 'eo', 'k', '', false],
    ['https://s3.amazonaws.com/eo', 'eo', '', '', false],
    ['https://eo.s3.waw3-1.cloudferro.com/k', 'eo', 'k', undefined, true],
    ['https://s3.waw3-1.cloudferro.com/eo/k', 'eo', 'k', undefined, false],
  ])('%s', (url, bucket, path, region, virtualHost) => {
    const address = objectAddressOf(url)
    expect(address).toMatchObject({ bucket, path })
    expect(address && amazonRegion(address)).toBe(region)
    expect(address?.virtualHost).toBe(virtualHost)
  })

  it('knows the services it is told about', () => {
    const minio = { endpoint: 'https://minio.example:9000/' }
    expect(objectAddressOf('https://minio.example:9000/eo/a/b', [minio])).toMatchObject({
      bucket: 'eo',
      path: 'a/b',
      endpoint: 'https://minio.example:9000',
    })
    expect(objectAddressOf('https://eo.minio.example:9000/a', [minio])).toBeUndefined()
    expect(objectAddressOf('https://eo.minio.example:9000/a', [{ ...minio, virtualHost: true }])).toMatchObject({ bucket: 'eo', path: 'a' })
    const below = { endpoint: 'https://data.example/store' }
    expect(objectAddressOf('https://data.example/store/eo/a', [below])).toMatchObject({
      bucket: 'eo',
      path: 'a',
      endpoint: 'https://data.example/store',
    })
    expect(objectAddressOf('https://data.example/storehouse/eo/a', [below])).toBeUndefined()
    expect(objectAddressOf('https://data.example.evil.example/store/eo/a', [below])).toBeUndefined()
  })

  it('objectAddressOf is not taken in by names that only look like a service', () => {
    expect(objectAddressOf('https://amazonaws.com.evil.example/k')).toBeUndefined()
    const lookalike = objectAddressOf('https://eo.s3.eu-central-1.amazonaws.com.evil.example/k')
    expect(lookalike && placeKey(lookalike)).toBe('https://s3.eu-central-1.amazonaws.com.evil.example eo')
    expect(objectAddressOf('https://data.example/k')).toBeUndefined()
  })
})

describe('placeOf s3://', () => {
  it('placeOf s3:// is sent to Amazon in the region, the bucket as a label where it can be one', () => {
    expect(place('s3://eo/a%20b')).toBe('us-east-1 https://eo.s3.us-east-1.amazonaws.com/a%20b')
    expect(place('s3://eo/k?versionId=1', { credential: { region: 'eu-central-1' } })).toBe(
      'eu-central-1 https://eo.s3.eu-central-1.amazonaws.com/k?versionId=1',
    )
    expect(place('s3://my.bucket/k')).toBe('us-east-1 https://s3.us-east-1.amazonaws.com/my.bucket/k')
    expect(place('s3://Old_Bucket/k')).toBe('us-east-1 https://s3.us-east-1.amazonaws.com/Old_Bucket/k')
    expect(place('s3://eo/k', { credential: { region: 'cn-north-1' } })).toBe('cn-north-1 https://eo.s3.cn-north-1.amazonaws.com.cn/k')
  })

  it('takes the region from: learned, credential, storage, environment, default', () => {
    const all = {
      credential: { region: 'r-entry' },
      storages: [storage({ region: 'r-storage' })],
      environment: { region: 'r-env' },
      learned: () => 'r-learned',
    }
    const regionOf = (known: Partial<EndpointSources>) => place('s3://eo/k', known).split(' ')[0]
    expect(regionOf(all)).toBe('r-learned')
    expect(regionOf({ ...all, learned: () => undefined })).toBe('r-entry')
    expect(regionOf({ ...all, learned: () => undefined, credential: {} })).toBe('r-storage')
    expect(regionOf({ environment: all.environment })).toBe('r-env')
    expect(regionOf({})).toBe('us-east-1')
  })

  it('does not let a region be anything else', () => {
    for (const region of ['evil.example/', 'x#', 'a@b', 'a/b', '']) {
      expect(place('s3://eo/k', { storages: [storage({ region })] })).toBe('us-east-1 https://eo.s3.us-east-1.amazonaws.com/k')
      expect(place('s3://eo/k', { learned: () => region })).toBe('us-east-1 https://eo.s3.us-east-1.amazonaws.com/k')
    }
  })

  it('placeOf s3:// is sent to the credential’s endpoint before any other', () => {
    const storages = [storage({ platform: 'https://other.example' })]
    const entry = { endpoint: 'https://minio.example/', region: 'waw' }
    expect(place('s3://eo/a/b', { credential: entry, storages })).toBe('waw https://minio.example/eo/a/b')
    expect(place('s3://eo/a/b', { credential: { ...entry, virtualHost: true }, storages })).toBe('waw https://eo.minio.example/a/b')
    expect(place('s3://eo.x/a/b', { credential: { ...entry, virtualHost: true } })).toBe('waw https://minio.example/eo.x/a/b')
  })

  it('expands what the storage extension says', () => {
    const at = (platform: string, region?: string) => place('s3://eo/k', { storages: [storage({ platform, region })] })
    expect(at('https://eodata.example')).toBe('us-east-1 https://eodata.example/eo/k')
    expect(at('https://eodata.example/store/', 'waw3-1')).toBe('waw3-1 https://eodata.example/store/eo/k')
    expect(at('https://{bucket}.s3.{region}.amazonaws.com', 'us-west-2')).toBe('us-west-2 https://eo.s3.us-west-2.amazonaws.com/k')
    expect(at('https://s3.{region}.store.example/{bucket}', 'fr')).toBe('fr https://s3.fr.store.example/eo/k')
  })

  it.each([
    ['s3://xn--a/k', undefined, 'https://s3.us-east-1.amazonaws.com/xn--a/k'],
    ['s3://xn--a/k', 'https://{bucket}.store.example', 'https://store.example/xn--a/k'],
    ['s3://eo/k', 'https://{bucket}.192.0.2.7', 'https://192.0.2.7/eo/k'],
    ['s3://eo/k', 'https://{bucket}.[2001:db8::7]', 'https://[2001:db8::7]/eo/k'],
    ['s3://eo/k', 'https://{bucket}.0x7f.1', 'https://127.0.0.1/eo/k'],
  ])('placeOf s3:// has the bucket in the path where it can be no label of the host: %s on %s', (url, platform, to) => {
    expect(place(url, { storages: platform ? [storage({ platform })] : [] })).toBe(`us-east-1 ${to}`)
  })

  it('ignores a platform that it cannot read', () => {
    for (const platform of [
      'not a url',
      'ftp://x.example',
      'https://u:p@x.example',
      'https://{account}.x.example',
      'https://x.example/{key}',
      'https://x.example/?a=b',
    ]) {
      expect(place('s3://eo/k', { storages: [storage({ platform })] })).toBe('us-east-1 https://eo.s3.us-east-1.amazonaws.com/k')
    }
  })

  it('uses the endpoint of the environment when nothing else is said', () => {
    const environment = { endpoint: 'http://127.0.0.1:9000', region: 'local' }
    expect(place('s3://eo/k', { environment })).toBe('local http://127.0.0.1:9000/eo/k')
    expect(place('s3://eo/k', { environment, storages: [storage({ platform: 'https://two.example' })] })).toBe(
      'local https://two.example/eo/k',
    )
  })
})

describe('placeOf https://', () => {
  it('leaves the URL as it is and takes the region of the host first', () => {
    const url = 'https://eo.s3.eu-west-1.amazonaws.com/a%20b?x=1'
    expect(place(url, { credential: { region: 'us-east-2' } })).toBe(`eu-west-1 ${url}`)
    expect(place('https://minio.example/eo/k', { storages: [storage({ region: 'waw' })] })).toBe('waw https://minio.example/eo/k')
    expect(place('https://eo.s3.amazonaws.com/k', { credential: { region: 'us-east-2' } })).toBe('us-east-2 https://eo.s3.amazonaws.com/k')
    expect(place('https://data.example')).toBe('us-east-1 https://data.example')
  })

  it('follows a learned region on Amazon’s hosts only, within the same kind of host', () => {
    const learned = () => 'ap-south-1'
    expect(place('https://eo.s3.eu-west-1.amazonaws.com/k?x=1', { learned })).toBe(
      'ap-south-1 https://eo.s3.ap-south-1.amazonaws.com/k?x=1',
    )
    expect(place('https://s3.dualstack.eu-west-1.amazonaws.com/eo/k', { learned })).toBe(
      'ap-south-1 https://s3.dualstack.ap-south-1.amazonaws.com/eo/k',
    )
    expect(place('https://eo.s3.amazonaws.com/k', { learned })).toBe('ap-south-1 https://eo.s3.ap-south-1.amazonaws.com/k')
    expect(place('https://minio.example/eo/k', { learned })).toBe('ap-south-1 https://minio.example/eo/k')
  })
})

describe('addressProblem', () => {
  it.each([
    ['s3://arn:aws:s3:us-west-2:123456789012:accesspoint/mine/k', 'access points'],
    ['arn:aws:s3:us-west-2:123456789012:accesspoint/mine', 'access points'],
    ['https://mine-123456789012.s3-accesspoint.us-west-2.amazonaws.com/k', 'access points'],
    ['s3://arn:aws:s3::123456789012:accesspoint/mine.mrap/k', 'multi-region access points'],
    ['https://mine.accesspoint.s3-global.amazonaws.com/k', 'multi-region access points'],
    ['s3://arn:aws:s3-outposts:us-west-2:123456789012:outpost/op-1/accesspoint/x', 'Outposts'],
    ['https://x-123456789012.op-1.s3-outposts.us-west-2.amazonaws.com/k', 'Outposts'],
    ['https://x.s3-object-lambda.us-west-2.amazonaws.com/k', 'Object Lambda'],
    ['s3://logs--usw2-az1--x-s3/k', 'directory buckets'],
  ])('%s', (href, name) => {
    expect(s3.addressProblem?.(href)).toMatchObject({ code: 'SCHEME_UNSUPPORTED', message: expect.stringContaining(name) })
  })

  it.each(['s3://eo/a/../b', 's3://eo/./b', 's3://eo/a/%2E%2e/b', 's3://eo/..', 's3:///k', 's3://a:b/k', 's3://a%2fb/k'])('%s', (href) => {
    expect(s3.addressProblem?.(href)).toMatchObject({ code: 'URL_INVALID' })
  })

  it.each([
    's3://eo/a/b..c/.d/...',
    's3://eo',
    'https://data.example/a/../b',
    './b.tif',
    'https://data.example/arn:aws:s3.s3-accesspoint.x',
  ])('%s is fine', (href) => {
    expect(s3.addressProblem?.(href)).toBeUndefined()
  })
})

describe('bucketAndKey', () => {
  it('decodes the key once', () => {
    expect(bucketAndKey('s3://eo/a%20b/c+d')).toEqual({ bucket: 'eo', key: 'a b/c+d' })
    expect(bucketAndKey('https://eo.s3.us-west-2.amazonaws.com/k')).toEqual({ bucket: 'eo', key: 'k' })
    expect(bucketAndKey('https://s3.waw3-1.cloudferro.com/eo/k')).toEqual({ bucket: 'eo', key: 'k' })
  })

  it('gives up on hosts that are not known to be object stores', () => {
    expect(bucketAndKey('https://data.example/eo/a')).toBeUndefined()
    expect(bucketAndKey('s3://eo/%FF')).toBeUndefined()
  })
})
