import { readFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { platform } from '#platform'
import { hmacKey, sha256Hex } from '../../../src/platform/web.ts'
import { presign, signHeaders } from '../../../src/strategies/s3/sigv4.ts'

interface Example {
  readonly name: string
  readonly url: string
  readonly headers?: Record<string, string>
  readonly signed?: string[]
  readonly expiresIn?: number
  readonly signature: string
}

const aws = JSON.parse(readFileSync(new URL('../../../fixtures/s3/aws-examples.json', import.meta.url), 'utf8'))
const examples: readonly Example[] = aws.examples
const { region } = aws
const keys = { accessKeyId: aws.accessKeyId, secretAccessKey: aws.secretAccessKey }
const now = Date.parse(aws.date)
const options = { region, now }
const get = (url: string, headers: Record<string, string> = {}) => ({ method: 'GET', url, headers })
const pathOf = async (url: string) => new URL((await signHeaders(get(url), keys, options)).url).pathname
const queryOf = async (url: string) => (await signHeaders(get(url), keys, options)).url.split('?')[1]

async function signatureOf({ url, headers, signed, expiresIn }: Example): Promise<string | undefined> {
  const request = get(url, headers)
  const done = await (expiresIn ? presign(request, keys, { ...options, expiresIn }) : signHeaders(request, keys, { ...options, signed }))
  return /Signature=([0-9a-f]{64})$/.exec(done.headers.authorization ?? done.url)?.[1]
}

describe('the examples of the AWS reference', () => {
  it('the examples of the AWS reference are four', () => expect(examples).toHaveLength(4))

  it.each(examples)('$name', async (example) => {
    expect(await signatureOf(example)).toBe(example.signature)
  })

  it('the examples of the AWS reference have the same signatures where hashes and keys are promises', async () => {
    const hash = vi.spyOn(platform, 'sha256Hex').mockImplementation(sha256Hex)
    const mac = vi.spyOn(platform, 'hmacKey').mockImplementation(hmacKey)
    const [first] = examples
    // Another key id makes a new signing key; in a header it is not part of what is signed.
    const signing = signHeaders(
      get(first?.url ?? '', first?.headers),
      { ...keys, accessKeyId: 'ANOTHER' },
      { ...options, signed: first?.signed },
    )
    expect(signing).toBeInstanceOf(Promise)
    expect((await signing).headers.authorization).toContain(`Signature=${first?.signature}`)
    for (const example of examples) expect(await signatureOf(example)).toBe(example.signature)
    expect(hash).toHaveBeenCalledTimes(5)
    expect(mac).toHaveBeenCalledTimes(5)
    vi.restoreAllMocks()
  })
})

describe('signHeaders', () => {
  it('signHeaders is there at once where the platform hashes at once', () => {
    expect(signHeaders(get('https://a.example/b/k'), keys, options)).not.toBeInstanceOf(Promise)
  })

  it('signs host and every x-amz header, sorted, and nothing else', async () => {
    const headers = { accept: '*/*', range: 'bytes=0-1', 'user-agent': 'x', 'x-amz-meta-zoo': ' a   b ', 'x-amz-checksum-mode': 'ENABLED' }
    const signed = await signHeaders(
      get('https://a.example/b/k', headers),
      { ...keys, sessionToken: 'T' },
      { ...options, requesterPays: true },
    )
    expect(signed.headers.authorization).toContain(
      'SignedHeaders=host;x-amz-checksum-mode;x-amz-content-sha256;x-amz-date;x-amz-meta-zoo;x-amz-request-payer;x-amz-security-token,',
    )
    expect(signed.headers).toMatchObject({
      ...headers,
      'x-amz-security-token': 'T',
      'x-amz-request-payer': 'requester',
      'x-amz-date': '20130524T000000Z',
    })
    expect(signed.headers).not.toHaveProperty('date')
  })

  it('signs values without the spaces around them, and one space for several', async () => {
    const signature = async (value: string) =>
      (await signHeaders(get('https://a.example/b/k', { 'x-amz-meta-zoo': value }), keys, options)).headers.authorization
    const plain = await signature('a b')
    expect([await signature(' a b '), await signature(' a   b ')]).toEqual([plain, plain])
    expect(await signature('ab')).not.toBe(plain)
  })

  it('sorts the headers that the caller wants to be signed in front of the host, too', async () => {
    const { headers } = await signHeaders(get('https://a.example/b/k', { accept: '*/*' }), keys, { ...options, signed: ['accept'] })
    expect(headers.authorization).toContain('SignedHeaders=accept;host;x-amz-content-sha256;x-amz-date,')
  })

  it('leaves the payload unsigned over https and names the empty one otherwise', async () => {
    const hashOf = async (url: string) => (await signHeaders(get(url), keys, options)).headers['x-amz-content-sha256']
    expect(await hashOf('https://a.example/b/k')).toBe('UNSIGNED-PAYLOAD')
    expect(await hashOf('http://127.0.0.1:9000/b/k')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  })

  it('replaces an authorization that was there and changes nothing it was given', async () => {
    const request = Object.freeze(get('https://a.example/b/k', Object.freeze({ authorization: 'Bearer x' })))
    const { authorization } = (await signHeaders(request, keys, options)).headers
    expect(authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/20130524\/us-east-1\/s3\/aws4_request, /)
  })

  it('encodes the path once, whatever its first spelling, and never normalises it', async () => {
    expect(await pathOf('https://a.example/b/plain-._~/k')).toBe('/b/plain-._~/k')
    expect(await pathOf('https://a.example/b//x//')).toBe('/b//x//')
    expect(await pathOf("https://a.example/b/a+b!'()*@:,;=&$")).toBe('/b/a%2Bb%21%27%28%29%2A%40%3A%2C%3B%3D%26%24')
    expect(await pathOf('https://a.example/b/%61%2b%c3%a9%2525')).toBe('/b/a%2B%C3%A9%2525')
  })

  it('refuses keys that would become others on their way', () => {
    for (const path of ['a%2F..%2Fb', '%2F.', 'a%2F.%2Fb']) {
      expect(() => signHeaders(get(`https://a.example/b/${path}`), keys, options)).toThrow(expect.objectContaining({ code: 'URL_INVALID' }))
    }
    for (const path of ['%FF', '%C3', '%zz', 'k?a=%FF']) {
      expect(() => signHeaders(get(`https://a.example/b/${path}`), keys, options)).toThrow(expect.objectContaining({ code: 'URL_INVALID' }))
    }
  })

  it('sorts the query by encoded name, then value, and gives every name a value', async () => {
    expect(await queryOf('https://a.example/b/?b=2&a=2&a=1&a-=0&&lifecycle&B=%2f&c=x+y&d=e=f')).toBe(
      'B=%2F&a=1&a=2&a-=0&b=2&c=x%20y&d=e%3Df&lifecycle=',
    )
  })

  it('does not mix up two secrets of one key id', async () => {
    const authorization = async (secretAccessKey: string) =>
      (await signHeaders(get('https://a.example/b/k'), { ...keys, secretAccessKey }, options)).headers.authorization
    const first = await authorization('one')
    expect(await authorization('two')).not.toBe(first)
    expect(await authorization('one')).toBe(first)
  })

  it('does not mix up two session tokens of one key', async () => {
    const tokenOf = async (sessionToken: string) => {
      const { url } = await presign(get('https://a.example/b/k'), { ...keys, sessionToken }, { ...options, expiresIn: 60 })
      return new URL(url).searchParams.get('X-Amz-Security-Token')
    }
    expect([await tokenOf('one'), await tokenOf('two')]).toEqual(['one', 'two'])
  })

  it('keeps 64 signing keys at most', async () => {
    const derive = vi.spyOn(platform, 'hmacKey')
    const sign = (index: number) => signHeaders(get('https://a.example/b/k'), { ...keys, accessKeyId: `MANY${index}` }, options)
    for (let index = 0; index < 65; index++) await sign(index)
    expect(derive).toHaveBeenCalledTimes(65 * 5)
    await sign(64)
    expect(derive).toHaveBeenCalledTimes(65 * 5)
    await sign(0)
    expect(derive).toHaveBeenCalledTimes(66 * 5)
    derive.mockRestore()
  })

  it('takes a new date every second and a new key every day', async () => {
    const at = async (date: string) => (await signHeaders(get('https://a.example/b/k'), keys, { region, now: Date.parse(date) })).headers
    expect((await at('2026-12-31T23:59:59.999Z'))['x-amz-date']).toBe('20261231T235959Z')
    const next = await at('2027-01-01T00:00:00.000Z')
    expect(next['x-amz-date']).toBe('20270101T000000Z')
    expect(next.authorization).toContain('/20270101/')
  })
})

describe('presign', () => {
  it('puts everything into the query, the signature last', async () => {
    const request = get('https://a.example/b/k?versionId=7', { accept: '*/*' })
    const signed = await presign(request, { ...keys, sessionToken: 'a/b+c=' }, { ...options, expiresIn: 60, requesterPays: true })
    const { searchParams } = new URL(signed.url)
    expect([...searchParams.keys()]).toEqual([
      'X-Amz-Algorithm',
      'X-Amz-Credential',
      'X-Amz-Date',
      'X-Amz-Expires',
      'X-Amz-Security-Token',
      'X-Amz-SignedHeaders',
      'versionId',
      'x-amz-request-payer',
      'X-Amz-Signature',
    ])
    expect(searchParams.get('X-Amz-Security-Token')).toBe('a/b+c=')
    expect(searchParams.get('X-Amz-SignedHeaders')).toBe('host')
    expect(signed.headers).toEqual({ accept: '*/*' })
  })

  it('presign is valid for at least a second, at most a week, and not longer than its keys', async () => {
    const lifeOf = async (expiresIn: number, expiration?: number) => {
      const { url } = await presign(get('https://a.example/b/k'), { ...keys, expiration }, { ...options, expiresIn })
      return new URL(url).searchParams.get('X-Amz-Expires')
    }
    expect(await lifeOf(1)).toBe('1')
    expect(await lifeOf(604_800)).toBe('604800')
    expect(await lifeOf(900, now + 90_500)).toBe('90')
    expect([await lifeOf(604_800, now + 600_000_000), await lifeOf(604_800, now + 599_999_999)]).toEqual(['600000', '599999'])
    expect(await lifeOf(900, now + 500)).toBe('1')
    for (const none of [0, 604_801, 1.5]) await expect(lifeOf(none)).rejects.toThrow(TypeError)
  })
})
