import { request as httpRequest } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { HttpRequest } from '../../src/http/message.ts'
import { presign, type SigningOptions, signHeaders } from '../../src/strategies/s3/sigv4.ts'
import { useSwift } from './swift.ts'

const swift = useSwift()

const options = (more: Partial<SigningOptions> = {}) => ({ region: swift().region, now: Date.now(), ...more })
const plain = (key = 'plain.txt', origin = `${swift().url}/${swift().bucket}`): HttpRequest => {
  return { method: 'GET', url: `${origin}/${key.split('/').map(encodeURIComponent).join('/')}`, headers: {} }
}
const signed = async (request = plain(), keys = swift().keys, more: Partial<SigningOptions> = {}) =>
  signHeaders(request, keys, options(more))

/** Status, and the body or the code of the error document. Always dialled at the peer, whatever host the request names. */
function send({ method, url, headers }: HttpRequest): Promise<[number | undefined, string]> {
  const { host, pathname, search } = new URL(url)
  const { hostname, port } = new URL(swift().url)
  return new Promise((resolve, reject) => {
    const sending = httpRequest({ method, hostname, port, path: pathname + search, headers: { ...headers, host } }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve([response.statusCode, /<Code>(.*?)</.exec(text)?.[1] ?? text]))
    })
    sending.on('error', reject)
    sending.end()
  })
}

describe('OpenStack Swift gives', () => {
  it('an object', async () => {
    expect(await send(await signed())).toEqual([200, 'hello world'])
  })

  it('objects with any key', async () => {
    for (const [key, content] of Object.entries(swift().objects)) expect(await send(await signed(plain(key)))).toEqual([200, content])
  })

  it('a range that was asked for after signing', async () => {
    const request = await signed()
    expect(await send({ ...request, headers: { ...request.headers, range: 'bytes=6-' } })).toEqual([206, 'world'])
  })

  it('an object whose bucket is in the host name', async () => {
    expect(await send(await signed(plain('plain.txt', `http://${swift().virtualHost}`)))).toEqual([200, 'hello world'])
  })

  it('OpenStack Swift returns objects for a presigned URL', async () => {
    for (const [key, content] of Object.entries(swift().objects)) {
      expect(await send(await presign(plain(key), swift().keys, { ...options(), expiresIn: 60 }))).toEqual([200, content])
    }
  })

  it('OpenStack Swift returns a range for a presigned URL', async () => {
    const request = await presign(plain(), swift().keys, { ...options(), expiresIn: 60 })
    expect(await send({ ...request, headers: { range: 'bytes=0-4' } })).toEqual([206, 'hello'])
  })

  it('a list, its query in any order', async () => {
    const request = { ...plain(), url: `${swift().url}/${swift().bucket}/?prefix=a/&list-type=2&delimiter=` }
    const [status, text] = await send(await signed(request))
    expect([status, text]).toEqual([200, expect.stringContaining('<Key>a/x y+z(1)~')])
  })
})

describe('OpenStack Swift refuses', () => {
  it('a wrong secret', async () => {
    const wrong = { ...swift().keys, secretAccessKey: 'wrong' }
    expect(await send(await signed(plain(), wrong))).toEqual([403, 'SignatureDoesNotMatch'])
    expect(await send(await presign(plain(), wrong, { ...options(), expiresIn: 60 }))).toEqual([403, 'SignatureDoesNotMatch'])
  })

  it('a key id that it does not know', async () => {
    expect((await send(await signed(plain(), { ...swift().keys, accessKeyId: 'no:body' })))[0]).toBe(403)
  })

  it('keys of another account', async () => {
    expect(await send(await signed(plain(), swift().others))).toEqual([404, 'NoSuchBucket'])
  })

  it('a path or a query that was changed after signing', async () => {
    const request = await signed()
    expect(await send({ ...request, url: request.url.replace('plain', 'other') })).toEqual([403, 'SignatureDoesNotMatch'])
    expect(await send({ ...request, url: `${request.url}?a=b` })).toEqual([403, 'SignatureDoesNotMatch'])
  })

  it('another region', async () => {
    expect(await send(await signed(plain(), swift().keys, { region: 'eu-west-3' }))).toEqual([400, 'AuthorizationHeaderMalformed'])
  })

  it('a clock that is 20 minutes off', async () => {
    expect(await send(await signed(plain(), swift().keys, { now: Date.now() - 1_200_000 }))).toEqual([403, 'RequestTimeTooSkewed'])
  })

  it('whoever says nothing about himself', async () => {
    const [status, text] = await send(plain())
    expect([status, text.includes('hello')]).toEqual([400, false])
  })

  it('OpenStack Swift refuses a presigned URL that was changed, or signed for another region', async () => {
    const request = await presign(plain(), swift().keys, { ...options(), expiresIn: 60 })
    for (const [from, to] of [
      ['plain', 'other'],
      ['Expires=60', 'Expires=600'],
    ] as const)
      expect(await send({ ...request, url: request.url.replace(from, to) })).toEqual([403, 'SignatureDoesNotMatch'])
    const elsewhere = await presign(plain(), swift().keys, { ...options({ region: 'eu-west-3' }), expiresIn: 60 })
    expect(await send(elsewhere)).toEqual([400, 'AuthorizationQueryParametersError'])
  })

  it('OpenStack Swift refuses an expired presigned URL', async () => {
    expect(await send(await presign(plain(), swift().keys, { ...options({ now: Date.now() - 60_000 }), expiresIn: 1 }))).toEqual([
      403,
      'AccessDenied',
    ])
  })
})
