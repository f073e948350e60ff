import { describe, expect, it } from 'vitest'
import { parseUrlPattern } from '../../../src/auth/url-pattern.ts'
import { assetOf } from '../../../src/stac/target.ts'
import { covers, placeFor, reaches, type S3Credential } from '../../../src/strategies/s3/endpoint.ts'

function credential(sendTo: string, fields: Partial<S3Credential> = {}): S3Credential {
  return { id: 'mine', type: 's3', preference: 0, sendTo: [parseUrlPattern(sendTo)], ...fields }
}

const EU = { region: 'eu-central-1' }
const MINIO = { endpoint: 'https://minio.example/' }

describe('covers', () => {
  it.each([
    ['s3://eo/', EU, 's3://eo/a/b'],
    ['s3://eo/', EU, 'https://eo.s3.eu-central-1.amazonaws.com/a'],
    ['s3://eo/', EU, 'https://s3.eu-central-1.amazonaws.com/eo/a'],
    ['s3://eo/', EU, 'https://eo.s3.dualstack.eu-central-1.amazonaws.com/a'],
    ['s3://eo/', EU, 'https://eo.s3.amazonaws.com/a'],
    ['s3://eo/', {}, 'https://eo.s3.us-west-2.amazonaws.com/a'],
    ['s3://eo/', { region: 'cn-north-1' }, 'https://eo.s3.cn-north-1.amazonaws.com.cn/a'],
    ['s3://eo/maps/', EU, 'https://eo.s3.eu-central-1.amazonaws.com/maps/1.tif'],
    ['s3://eo/', MINIO, 'https://minio.example/eo/a'],
    ['s3://eo/', { ...MINIO, virtualHost: true }, 'https://eo.minio.example/a'],
    ['https://minio.example/', MINIO, 's3://eo/a'],
    ['https://s3.eu-central-1.amazonaws.com/eo/', {}, 'https://s3.eu-central-1.amazonaws.com/eo/k'],
  ])('%s %j covers %s', (pattern, fields, url) => {
    expect(covers(credential(pattern, fields), url)).toBe(true)
  })

  it.each([
    ['s3://eo/', EU, 's3://eo-evil/a'],
    ['s3://eo/', EU, 'https://eo-evil.s3.eu-central-1.amazonaws.com/a'],
    ['s3://eo/', EU, 'https://eo.s3.us-west-2.amazonaws.com/a'],
    ['s3://eo/', EU, 'https://eo.s3.eu-central-1.amazonaws.com.evil.example/a'],
    ['s3://eo/', EU, 'https://eo.s3.evil.example/a'],
    ['s3://eo/', EU, 'https://evil.example/eo/a'],
    ['s3://eo/', EU, 'http://eo.s3.eu-central-1.amazonaws.com/a'],
    ['s3://eo/', EU, 'https://eo.s3.eu-central-1.amazonaws.com:8443/a'],
    ['s3://eo/', {}, 'https://eo.s3.cn-north-1.amazonaws.com.cn/a'],
    ['s3://eo/', { region: 'cn-north-1' }, 'https://eo.s3.amazonaws.com/a'],
    ['s3://eo/maps/', EU, 'https://eo.s3.eu-central-1.amazonaws.com/secret/1.tif'],
    ['s3://eo/maps/', EU, 'https://eo.s3.eu-central-1.amazonaws.com/maps/..%2Fsecret'],
    ['s3://eo/', EU, 'https://s3.eu-central-1.amazonaws.com/eo%2Fx/../other/k'],
    ['s3://eo/', MINIO, 'https://eo.s3.eu-central-1.amazonaws.com/a'],
    ['s3://eo/', MINIO, 'https://eo.minio.example/a'],
    ['s3://eo/', MINIO, 'https://minio.example.evil.example/eo/a'],
    ['s3://eo/', MINIO, 'https://minio.example/x@eo/a'],
    ['s3://eo/', MINIO, 'https://minio.example/eo:80/a'],
    ['s3://eo/', MINIO, 'https://minio.example/[/a'],
    ['s3://eo/', MINIO, 'https://minio.example/%65o/a'],
    ['s3://eo/', MINIO, 'https://minio.example/'],
    ['https://minio.example/', {}, 's3://eo/a'],
    ['https://s3.eu-central-1.amazonaws.com/eo/', {}, 'https://s3.eu-central-1.amazonaws.com/eo-evil/k'],
  ])('%s %j does not cover %s', (pattern, fields, url) => {
    expect(covers(credential(pattern, fields), url)).toBe(false)
  })
})

describe('a key', () => {
  it.each([
    ['s3://eo/year=2026/', 's3://eo/year=2026/a'],
    ['s3://eo/year=2026/', 's3://eo/year%3D2026/a'],
    ['s3://eo/year%3d2026/', 's3://eo/year=2026/a'],
    ['s3://eo/a+b(1)/', 'https://eo.s3.eu-central-1.amazonaws.com/a%2Bb%281%29/k'],
    ['s3://eo/日本/', 's3://eo/%E6%97%A5%E6%9C%AC/k'],
    ['s3://eo/a%7Eb+/', 's3://eo/a~b+/k'],
    ['https://s3.eu-central-1.amazonaws.com/eo/year=2026/', 'https://s3.eu-central-1.amazonaws.com/eo/year%3D2026/k'],
    ['s3://eo/year=2026/', 's3://eo/?list-type=2&prefix=year%3D2026%2F'],
  ])('a key is the same however it is written: %s covers %s', (pattern, url) => {
    expect(covers(credential(pattern, EU), url)).toBe(true)
  })

  it.each([
    ['s3://eo/year=2026/', 's3://eo/year%3D2027/a'],
    ['s3://eo/year=2026/', 's3://eo/year=2026'.replace('2026', '2026%2Fx')],
    ['s3://eo/year=2026/', 's3://eo/year=2026/%2e%2e/secret'],
    ['s3://eo/year=2026/', 's3://eo/year%3D2026/..%2Fsecret'],
    ['s3://eo/a+b/', 's3://eo/a b/k'],
    ['s3://eo/a+b/', 's3://eo/a%20b/k'],
    ['s3://eo/a%2Bb/', 's3://eo/a%252Bb/k'],
    ['s3://eo/a=/', 's3://other/a=/k'],
  ])('a key is another one: %s does not cover %s', (pattern, url) => {
    expect(covers(credential(pattern, EU), url)).toBe(false)
  })
})

describe('a list of a folder', () => {
  const AMAZON = 'https://eo.s3.eu-central-1.amazonaws.com'
  const PATH = 'https://s3.eu-central-1.amazonaws.com/eo'
  const list = (prefix: string, more = '') => `/?list-type=2&encoding-type=url&prefix=${prefix}${more}`

  it.each([
    ['s3://eo/', EU, `s3://eo${list('maps%2F')}`],
    ['s3://eo/', EU, `s3://eo${list('')}`],
    ['s3://eo/maps/', EU, `s3://eo${list('maps%2F')}`],
    ['s3://eo/maps/', EU, `s3://eo${list('maps/2026/', '&max-keys=5&start-after=maps%2F2026%2Fa&continuation-token=x%2B')}`],
    ['s3://eo/maps/', EU, `${AMAZON}${list('maps%2F')}`],
    ['s3://eo/maps/', MINIO, `https://minio.example/eo${list('maps%2F')}`],
    [`${AMAZON}/maps/`, EU, `${AMAZON}${list('maps%2F')}`],
    [`${PATH}/maps/`, {}, `${PATH}${list('maps%2Fa%20b%2F')}`],
    ['https://minio.example/eo/maps/', MINIO, `s3://eo${list('maps%2F')}`],
    ['https://data.example/eo/', {}, `https://data.example/eo${list('maps%2F')}`],
  ])('%s %j covers %s', (pattern, fields, url) => {
    expect(covers(credential(pattern, fields), url)).toBe(true)
  })

  it.each([
    // Outside of the folder, or not surely inside of it.
    ['s3://eo/maps/', EU, `s3://eo${list('secret%2F')}`],
    ['s3://eo/maps/', EU, `s3://eo${list('')}`],
    ['s3://eo/maps/', EU, `s3://eo${list('maps')}`],
    ['s3://eo/maps/', EU, `s3://eo${list('maps%2F2026')}`],
    ['s3://eo/maps/', EU, `s3://eo${list('secret%2F..%2Fmaps%2F')}`],
    ['s3://eo/maps/', EU, `s3://eo${list('maps%2F..%2F')}`],
    ['s3://eo/maps/', EU, `s3://eo${list('maps%2F%2F')}`],
    ['s3://eo/maps/', EU, `s3://eo${list('maps%2F', '&prefix=secret%2F')}`],
    ['s3://eo/maps/', EU, `s3://eo${list('maps%2F', '&list-type=1')}`],
    ['s3://eo/maps/', EU, 's3://eo/?list-type=22&prefix=maps%2F'],
    ['s3://eo/maps/', EU, 's3://eo/?x=list-type=2&prefix=maps%2F'],
    // Something else of the bucket.
    ['s3://eo/maps/', EU, `s3://eo${list('maps%2F', '&policy')}`],
    ['s3://eo/maps/', EU, `s3://eo${list('maps%2F', '&uploads')}`],
    ['s3://eo/maps/', EU, `s3://eo${list('maps%2F', '&delimiter=x')}`],
    // Another bucket, an object, the service itself, another host, a host whose addresses nobody explained.
    ['s3://eo/maps/', EU, `s3://other${list('maps%2F')}`],
    ['s3://eo/maps/', EU, `s3://eo/secret${list('maps%2F')}`],
    [`${PATH}/`, {}, `https://s3.eu-central-1.amazonaws.com${list('eo%2F')}`],
    ['https://minio.example/eo/maps/', MINIO, `https://minio.example${list('eo%2Fmaps%2F')}`],
    ['https://minio.example/eo/maps/', MINIO, `https://other.example/eo${list('maps%2F')}`],
    ['https://data.example/eo/maps/', {}, `https://data.example/eo${list('maps%2F')}`],
  ])('%s %j does not cover %s', (pattern, fields, url) => {
    expect(covers(credential(pattern, fields), url)).toBe(false)
  })
})

describe('reaches', () => {
  it('finds an allowed bucket in another region, of Amazon only', () => {
    expect(reaches(credential('s3://eo/', EU), 'https://eo.s3.us-west-2.amazonaws.com/a')).toBe(true)
    expect(reaches(credential('s3://eo/', EU), 'https://eo.s3.evil.example/a')).toBe(false)
    expect(reaches(credential('https://eo.s3.eu-central-1.amazonaws.com/', EU), 'https://eo.s3.us-west-2.amazonaws.com/a')).toBe(false)
  })

  it('counts the endpoint of the environment as the user’s', () => {
    const keys = Object.assign(async () => ({ accessKeyId: 'a', secretAccessKey: 'b' }), { endpoint: 'http://127.0.0.1:9000' })
    expect(reaches(credential('s3://eo/', { keys }), 'http://127.0.0.1:9000/eo/a')).toBe(true)
    expect(reaches(credential('s3://eo/', { keys }), 'http://127.0.0.1:9000/other/a')).toBe(false)
    expect(reaches(credential('s3://eo/', { keys }), 'https://eo.s3.us-east-1.amazonaws.com/a')).toBe(false)
  })
})

describe('storages of a document', () => {
  const schemes = {
    first: { type: 'custom-s3', platform: 'https://first.example', region: 'one' },
    second: { type: 'custom-s3', platform: 'https://second.example', region: 'two' },
    store: { type: 'custom-s3', platform: 'https://third.example', region: 'three' },
  }
  const target = (refs: readonly string[]) => {
    const asset = { href: 's3://eo/a', 'auth:refs': ['store'], 'storage:refs': refs }
    return assetOf({ type: 'Feature', properties: { 'storage:schemes': schemes }, assets: { data: asset } }, 'data')
  }
  const placed = (one: S3Credential, refs: readonly string[]) => placeFor(one, 's3://eo/a', target(refs)).url

  it('storages of a document are chosen by what the user granted', () => {
    const one = credential('https://second.example/')
    expect(placed(one, ['first', 'second'])).toBe('https://second.example/eo/a')
    expect(covers(one, 's3://eo/a', target(['first', 'second']))).toBe(true)
    expect(covers(one, 's3://eo/a', target(['first']))).toBe(false)
    expect(covers(one, 's3://eo/a')).toBe(false)
  })

  it('storages of a document go first when they have the name of the auth scheme', () => {
    expect(placed(credential('https://other.example/'), ['first', 'store'])).toBe('https://third.example/eo/a')
  })

  it('storages of a document are not joined by an empty list', () => {
    expect(placed(credential('s3://eo/'), [])).toBe('https://eo.s3.us-east-1.amazonaws.com/a')
  })

  it('storages of a document of version 1 tell the region', () => {
    const document = {
      type: 'Feature',
      properties: { 'storage:platform': 'AWS', 'storage:region': 'us-west-2' },
      assets: { data: { href: 's3://eo/a' } },
    }
    expect(placeFor(credential('s3://eo/'), 's3://eo/a', assetOf(document, 'data')).url).toBe('https://eo.s3.us-west-2.amazonaws.com/a')
  })
})
