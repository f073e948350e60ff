import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import type { CredentialInput } from '../../../src/auth/credential.ts'
import type { DownloadOptions } from '../../../src/node/download/download.ts'
import { temporaryFolder } from '../../cli/folder.ts'
import { asset, item, type Json } from '../../harness/documents.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { codesOf, filesIn, ofKind, run } from './fixture.ts'

const TOKEN = 'right-right-right'
const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** A web server that lists nothing and knows these files of a store, for those who have the token. */
async function webStore(files: Record<string, unknown>, statusOf: (path: string) => number | undefined = () => undefined) {
  const asked: string[] = []
  const server = createServer(({ url = '', headers }, response) => {
    asked.push(url)
    if (headers.authorization !== `Bearer ${TOKEN}`) return response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
    const status = statusOf(url)
    if (status !== undefined) return response.writeHead(status).end()
    const content = files[decodeURIComponent(url.replace('/data/store.zarr/', ''))]
    if (content === undefined) return response.writeHead(404).end()
    const body = typeof content === 'string' ? content : JSON.stringify(content)
    return response.writeHead(200, { 'content-length': Buffer.byteLength(body) }).end(body)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  closing.push(() => server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const folder = await temporaryFolder()
  const auth = createAuth({
    credentials: { id: 'b', type: 'http', scheme: 'bearer', token: TOKEN, sendTo: [`${origin}/`] } as CredentialInput,
  })
  const fetched = (options: Partial<DownloadOptions> = {}, zarr: Json = asset(`${origin}/data/store.zarr`)) =>
    run([{ document: item({ k: { type: 'http', scheme: 'bearer' } }, { zarr }) }], {
      folder,
      auth,
      clock: new FakeClock({ now: Date.now, waits: 'skipped' }),
      ...options,
    })
  const texts = async () => Object.fromEntries(Object.entries(await filesIn(folder)).map(([name, bytes]) => [name, String(bytes)]))
  return { origin, asked, fetched, texts }
}

const array2 = (shape: unknown, chunks: unknown, more: object = {}) => ({ zarr_format: 2, shape, chunks, ...more })
const array3 = (shape: unknown, chunk_shape: unknown, more: object = {}) => ({
  zarr_format: 3,
  node_type: 'array',
  shape,
  chunk_grid: { name: 'regular', configuration: { chunk_shape } },
  chunk_key_encoding: { name: 'default', configuration: { separator: '/' } },
  ...more,
})
const zmetadata = (metadata: object) => ({ zarr_consolidated_format: 1, metadata })
const consolidated = (metadata: object) => ({ zarr_format: 3, node_type: 'group', consolidated_metadata: { kind: 'inline', metadata } })
const namesBelow = (texts: object) =>
  Object.keys(texts)
    .map((name) => name.replace('store.zarr/', ''))
    .sort()

describe('a Zarr store on a web server', () => {
  it('chunks are downloaded by consolidated metadata of version 2, with the credential of the asset', async () => {
    const metadata = { '.zgroup': {}, 'temp/.zarray': array2([3, 4], [2, 2]), 'temp/.zattrs': {}, 'time/.zarray': array2([], []) }
    const chunks = { 'temp/0.0': 'a', 'temp/0.1': 'b', 'temp/1.1': 'd', 'time/0': 't' }
    const { fetched, texts } = await webStore({ '.zmetadata': zmetadata(metadata), ...metadata, ...chunks, 'temp/2.0': 'beyond' })
    const result = await fetched()
    expect(codesOf(result)).toEqual([])
    expect(namesBelow(await texts())).toEqual(['.zmetadata', ...Object.keys(metadata), ...Object.keys(chunks)].sort())
  })

  it('is downloaded by its consolidated metadata of version 3', async () => {
    const temp = array3([3, 4], [2, 4])
    const flat = array3([2], [1], { chunk_key_encoding: { name: 'v2' } })
    const metadata = { group: { node_type: 'group' }, 'group/temp': temp, flat, scalar: array3([], []) }
    const files = {
      'zarr.json': consolidated(metadata),
      'group/zarr.json': {},
      'group/temp/zarr.json': temp,
      'group/temp/c/0/0': 'a',
      'group/temp/c/1/0': 'b',
      'flat/zarr.json': flat,
      'flat/0': 'f',
      'flat/1': 'g',
      'scalar/zarr.json': {},
      'scalar/c': 's',
    }
    const { fetched, texts } = await webStore(files)
    expect(codesOf(await fetched())).toEqual([])
    expect(namesBelow(await texts())).toEqual(Object.keys(files).sort())
  })

  it('is a store by its media type, too, and by a slash at the end of its name', async () => {
    const files = { '.zmetadata': zmetadata({ 'a/.zarray': array2([1], [1]) }), 'a/.zarray': '{}', 'a/0': 'a' }
    const { origin, fetched, texts } = await webStore(files)
    const zarr = asset(`${origin}/data/store.zarr/`, ['k'], { type: 'application/vnd+zarr' })
    expect(codesOf(await fetched({}, zarr))).toEqual([])
    expect(namesBelow(await texts())).toEqual(Object.keys(files).sort())
  })

  it('lacks chunks of fill values without a failure, and no other file', async () => {
    const { fetched } = await webStore({
      '.zmetadata': zmetadata({ 'a/.zarray': array2([4], [1]), '.zgroup': {} }),
      'a/.zarray': '{}',
      'a/2': 'x',
    })
    const result = await fetched()
    expect(result.summary).toMatchObject({ written: 3, skipped: 3, failed: 1 })
    expect(ofKind(result, 'skipped').map(({ file, size }) => [file.name, size])).toEqual([
      ['store.zarr/a/0', 0],
      ['store.zarr/a/1', 0],
      ['store.zarr/a/3', 0],
    ])
    expect(ofKind(result, 'failed').map(({ file }) => file.name)).toEqual(['store.zarr/.zgroup'])
  })

  it('fails for chunks that the server refuses or cannot send', async () => {
    const { fetched } = await webStore(
      { '.zmetadata': zmetadata({ 'a/.zarray': array2([2], [1]) }), 'a/.zarray': '{}', 'a/1': 'x' },
      (path) => (path.endsWith('/a/0') ? 403 : undefined),
    )
    expect((await fetched()).summary).toMatchObject({ failed: 1, skipped: 0 })
  })

  it('is asked for its metadata again after a failure that may pass', async () => {
    let failures = 0
    const files = { '.zmetadata': zmetadata({ 'a/.zarray': array2([1], [1]) }), 'a/.zarray': '{}', 'a/0': 'a' }
    const { fetched } = await webStore(files, (path) => (path.endsWith('.zmetadata') && failures++ < 2 ? 503 : undefined))
    expect((await fetched()).summary).toMatchObject({ written: 3, failed: 0 })
  })

  it('without consolidated metadata is requested like a file, and the error says what it needs', async () => {
    const { fetched } = await webStore({ '.zgroup': '{}' })
    const [failed] = ofKind(await fetched(), 'failed')
    expect([failed?.error.code, failed?.error.hint]).toEqual(['HTTP_404', expect.stringContaining('consolidated metadata of a Zarr store')])
  })

  it('is not asked for its metadata in a dry run', async () => {
    const { asked, fetched } = await webStore({})
    const planned = ofKind(await fetched({ dryRun: true }), 'planned')
    expect([planned.map(({ file }) => file.folder), asked]).toEqual([[true], []])
  })

  it.each([
    ['more chunks than the limit', '.zmetadata', zmetadata({ 'a/.zarray': array2([1e6, 1e6, 1e6], [1, 1, 1]) }), 'RESPONSE_TOO_LARGE'],
    [
      'more chunks than numbers',
      '.zmetadata',
      zmetadata({ 'a/.zarray': array2(Array(32).fill(2 ** 52), Array(32).fill(1)) }),
      'RESPONSE_TOO_LARGE',
    ],
    ['a name that leads out', '.zmetadata', zmetadata({ '../../etc/.zarray': array2([1], [1]) }), 'RESPONSE_INVALID'],
    ['an absolute name', '.zmetadata', zmetadata({ '/etc/.zarray': array2([1], [1]) }), 'RESPONSE_INVALID'],
    ['a name with a backslash', 'zarr.json', consolidated({ 'a\\..\\b': array3([1], [1]) }), 'RESPONSE_INVALID'],
    ['chunks without a size', '.zmetadata', zmetadata({ 'a/.zarray': array2([1], [0]) }), 'RESPONSE_INVALID'],
    ['another number of dimensions', 'zarr.json', consolidated({ a: array3([1, 1], [1]) }), 'RESPONSE_INVALID'],
    [
      'a separator that is a path',
      '.zmetadata',
      zmetadata({ 'a/.zarray': array2([1, 1], [1, 1], { dimension_separator: '/../' }) }),
      'RESPONSE_INVALID',
    ],
    ['an unknown grid', 'zarr.json', consolidated({ a: array3([1], [1], { chunk_grid: { name: 'rectilinear' } }) }), 'RESPONSE_INVALID'],
    ['no JSON', '.zmetadata', '<html>', 'RESPONSE_INVALID'],
  ])('is refused with metadata that has %s, before a chunk is requested', async (_what, name, metadata, code) => {
    const { asked, fetched, texts } = await webStore({ [name]: metadata })
    expect(codesOf(await fetched({ maxObjects: 1000 }))).toEqual([code])
    expect([asked.filter((path) => !/\/(?:\.zmetadata|zarr\.json)$/.test(path)), await texts()]).toEqual([[], {}])
  })

  it('takes only names of the format from its metadata', async () => {
    const { asked, fetched } = await webStore({
      '.zmetadata': zmetadata({ 'secret.txt': {}, 'a/.zgroup': {}, 'a/.zgroup.bak': {} }),
      'a/.zgroup': '{}',
    })
    expect((await fetched()).summary).toMatchObject({ written: 2, failed: 0 })
    expect(asked.some((path) => /secret|bak/.test(path))).toBe(false)
  })
})
