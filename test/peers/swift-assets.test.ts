/** Assets and folders on OpenStack Swift, through the engine, as callers reach them. */

import { describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { type ListOptions, listObjects } from '../../src/objects/list-objects.ts'
import { s3 } from '../../src/strategies/s3/s3.ts'
import { found, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { unchecked } from '../harness/unchecked.ts'
import { useSwift } from './swift.ts'

const swift = useSwift()

const encoded = (key: string) => key.split('/').map(encodeURIComponent).join('/')
const asset = (key: string) => target({ type: 's3' }, `s3://${swift().bucket}/${encoded(key)}`)
const auth = (fields: object = {}, now = Date.now) => {
  const entry = { type: 's3', ...swift().keys, endpoint: swift().url, sendTo: `s3://${swift().bucket}/`, ...fields }
  return createAuth({ strategies: [s3], credentials: unchecked([entry]), clock: { now } })
}

describe('an asset on OpenStack Swift', () => {
  it('an asset on OpenStack Swift is fetched, whatever its key, as s3:// and as https-like URL', async () => {
    const client = auth()
    for (const [key, content] of Object.entries(swift().objects)) {
      expect(await (await client.fetch(asset(key))).text()).toBe(content)
      const plain = target({ type: 's3' }, `${swift().url}/${swift().bucket}/${encoded(key)}`)
      expect(await (await client.fetch(plain)).text()).toBe(content)
    }
  })

  it('an asset on OpenStack Swift is fetched in part, and looked at', async () => {
    const part = await auth().fetch(asset('plain.txt'), { headers: { range: 'bytes=6-' } })
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([206, 'bytes 6-10/11', 'world'])
    const head = await auth().fetch(asset('plain.txt'), { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '11'])
  })

  it('an asset on OpenStack Swift opens for whoever has its presigned URL, until that ends', async () => {
    for (const [key, content] of Object.entries(swift().objects)) {
      const { url, headers } = await auth().authorize(asset(key), { presign: 60 })
      expect(headers).toEqual({})
      expect(await (await fetch(url)).text()).toBe(content)
      expect(await (await fetch(url, { headers: { range: 'bytes=1-' } })).text()).toBe(content.slice(1))
    }
    const { url } = await auth({}, () => Date.now() - 120_000).authorize(asset('plain.txt'), { presign: 60 })
    expect((await fetch(url)).status).toBe(403)
    const refused = await failureOf(auth().fetch(target({ type: 's3' }, url)))
    expect(refused).toMatchObject({
      code: 'AUTH_REJECTED',
      message: expect.stringContaining('it expired at'),
      hint: expect.stringContaining('obtain a new URL'),
    })
  })

  it('an asset on OpenStack Swift is fetched with a wrong region and a clock that is 20 minutes off', async () => {
    for (const minutes of [-20, 20]) {
      const client = auth({ region: 'eu-west-3' }, () => Date.now() + minutes * 60_000)
      for (const method of ['GET', 'HEAD']) expect((await client.fetch(asset('plain.txt'), { method })).status).toBe(200)
      const { url } = await client.authorize(asset('plain.txt'), { presign: 60 })
      expect(await (await fetch(url)).text()).toBe('hello world')
    }
  })

  it('an asset on OpenStack Swift is refused with the code of the service', async () => {
    const rejected = (code: string) => ({ code: 'AUTH_REJECTED', message: expect.stringContaining(code) })
    expect(await failureOf(auth({ secretAccessKey: 'wrong' }).fetch(asset('plain.txt')))).toMatchObject(
      rejected('403 SignatureDoesNotMatch'),
    )
    const head = auth({ secretAccessKey: 'wrong' }).fetch(asset('plain.txt'), { method: 'HEAD' })
    expect(await failureOf(head)).toMatchObject(rejected('403 SignatureDoesNotMatch'))
    expect(await failureOf(auth({ accessKeyId: 'no:body' }).fetch(asset('plain.txt')))).toMatchObject(rejected('403'))
    expect((await auth(swift().others).fetch(asset('plain.txt'))).status).toBe(404)
    expect((await createAuth({ credentials: [], typed: [swift().url] }).fetch(`${swift().url}/eo-bucket/plain.txt`)).status).toBe(400)
  })
})

describe('a folder on OpenStack Swift', () => {
  const all = async (key: string, options?: ListOptions, client = auth()) => {
    const objects = []
    for await (const object of listObjects(client, asset(key), options)) objects.push(object)
    return objects
  }

  it('a folder on OpenStack Swift is listed, page by page', async () => {
    const names = Array.from({ length: 11 }, (_, index) => String(index + 1).padStart(2, '0'))
    for (const pageSize of [1, 4, 11, 1000]) expect((await all('many', { pageSize })).map(({ path }) => path)).toEqual(names)
    expect((await all('many/', { pageSize: 4, limit: 6 })).map(({ path }) => path)).toEqual(names.slice(0, 6))
    expect((await all('many', { startAfter: 'many/09' })).map(({ path }) => path)).toEqual(['10', '11'])
  })

  it('returns every name, at a URL that opens it', async () => {
    const client = auth()
    const open = client.fetchFor(asset(''))
    const objects = await all('', { pageSize: 3 }, client)
    expect(objects.map(({ key }) => key).sort()).toEqual(Object.keys(swift().objects).sort())
    for (const { key, url, size, etag, lastModified } of objects) {
      expect(await (await open(found(url))).text()).toBe(swift().objects[key])
      expect(size).toBe(Buffer.byteLength(swift().objects[key] ?? ''))
      expect([etag, Date.parse(lastModified ?? '') > 0]).toEqual([expect.stringMatching(/^"[0-9a-f]{32}"$/), true])
    }
  })

  it('a folder on OpenStack Swift is read like a Zarr store, and ends where its name ends', async () => {
    const client = auth({ sendTo: `s3://${swift().bucket}/store.zarr/` })
    expect((await all('store.zarr', {}, client)).map(({ path }) => path)).toEqual(['temp/c/0/0', 'zarr.json'])
    const open = client.fetchFor(asset('store.zarr'))
    expect(await (await open('s3://eo-bucket/store.zarr/zarr.json')).json()).toMatchObject({ zarr_format: 3 })
    expect((await open('s3://eo-bucket/store.zarr/temp/c/0/1')).status).toBe(404)
    expect(await failureOf(open('s3://eo-bucket/store.zarr2/secret'))).toMatchObject({ code: 'CREDENTIAL_TARGET_UNTRUSTED' })
    expect(await failureOf(all('store.zarr2', {}, client))).toMatchObject({ code: 'CREDENTIAL_TARGET_UNTRUSTED' })
  })

  it('a folder on OpenStack Swift is listed after the region and the clock were corrected', async () => {
    const client = auth({ region: 'eu-west-3' }, () => Date.now() - 1_200_000)
    expect(await all('many', { pageSize: 5 }, client)).toHaveLength(11)
  })

  it('a folder on OpenStack Swift is not listed with a wrong secret, nor with keys of another account', async () => {
    const wrong = await failureOf(all('many', {}, auth({ secretAccessKey: 'wrong' })))
    expect(wrong).toMatchObject({ code: 'AUTH_REJECTED', message: expect.stringContaining('403 SignatureDoesNotMatch') })
    expect(await failureOf(all('many', {}, auth(swift().others)))).toMatchObject({
      code: 'HTTP_404',
      message: expect.stringContaining('NoSuchBucket'),
    })
  })
})
