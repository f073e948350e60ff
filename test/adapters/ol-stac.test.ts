import STACLayer from 'ol-stac'
import { Item } from 'stac-js'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { documentLayer } from '../../examples/adapters/ol-stac.ts'
import { type StacLayerSettings, stacLayerOptions } from '../../src/adapters/ol-stac.ts'
import type { Auth } from '../../src/auth/auth.ts'
import { createAuth } from '../../src/auth/create-auth.ts'
import { bearer } from '../../src/auth/credential.ts'
import { found, item, scheme } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { geotiff, pattern } from '../harness/geotiff.ts'
import { type Archive, KEY, startArchive } from './archive.ts'
import { keepsTheGrant } from './grant.ts'

/** The source tells the console that a request failed. */
vi.spyOn(console, 'error').mockImplementation(() => {})

const COG = { type: 'image/tiff; application=geotiff; profile=cloud-optimized', roles: ['visual'] }
const asset = { href: './a.tif', 'auth:refs': ['k'], ...COG }
const files = {
  'a.tif': geotiff(pattern(300, 200)),
  'a.json': '{"a":1}',
  'a.pmtiles': 'PMTiles',
  'page.json': '<html>',
  'item.json': JSON.stringify(item({ k: scheme.key('x-archive-key') }, { data: asset })),
}

/** Resolves with the kind of layer that shows the file. */
function shown(layerOf: (reject: (error: unknown) => void) => STACLayer): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const layer = layerOf(reject)
    layer.getLayers().on('add', ({ element }) => {
      if (element.constructor.name === 'WebGLTileLayer') resolve(element.getExtent() ?? 'a layer for the file')
    })
  })
}

keepsTheGrant({
  files,
  name: 'a.tif',
  read: (auth, { href }, { document, origin }) =>
    shown((onError) => {
      const data = document(new URL(href, origin).href, COG)
      return new STACLayer({ data, url: `${origin}/item.json`, ...stacLayerOptions(auth, { onError }) })
    }),
  expected: 'a layer for the file',
})

describe('a layer that requests its document', () => {
  const layerAt = (path: string, key?: string) => async (archive: Archive) =>
    shown((reject) => documentLayer(archive.engine(key), `${archive.origin}${path}`, reject))

  it('opens the document and its file with the credential for their URL and their references', async () => {
    const archive = await startArchive(files)
    expect(await layerAt('/files/item.json')(archive)).toBe('a layer for the file')
    const asked = archive.guarded.exchanges.map(({ request, answer }) => [request.path, answer.status])
    expect(asked[0]).toEqual(['/files/item.json', 200])
    expect(asked.slice(1).every(([path, status]) => path === '/files/a.tif' && status === 206)).toBe(true)
    await archive.close()
  })

  it('says why a document cannot be opened', async () => {
    const archive = await startArchive(files)
    expect(await failureOf(layerAt('/files/item.json', 'wrong')(archive))).toMatchObject({ code: 'AUTH_REJECTED' })
    expect(await failureOf(layerAt('/files/gone.json')(archive))).toMatchObject({ code: 'HTTP_404' })
    await archive.close()
  })
})

describe('a source of the layer', () => {
  let archive: Archive
  beforeAll(async () => {
    archive = await startArchive(files)
  })
  afterAll(() => archive.close())

  const reference = () => found(new Item(archive.document('/files/a'), `${archive.origin}/item.json`).getAsset('data') ?? undefined)
  const optionsOf = (type: string, url: string) =>
    stacLayerOptions(archive.engine()).getSourceOptions(type, { url, crossOrigin: null }, reference())

  it.each(['XYZ', 'TileJSON', 'TileWMS', 'WMTS'])(
    'a source of the layer of type %s loads tiles of the archive and leaves other tile servers unchanged',
    async (type) => {
      const template = '/files/{z}/{x}/{y}.png'
      expect(await optionsOf(type, archive.origin + template)).toMatchObject({ crossOrigin: null, tileLoadFunction: expect.any(Function) })
      expect(await optionsOf(type, archive.stranger.origin + template)).toEqual({
        url: archive.stranger.origin + template,
        crossOrigin: null,
      })
    },
  )

  it('a source of the layer of another bucket, or without any origin, is left unchanged', async () => {
    const inBucket = found(new Item(archive.document('s3://one/a'), `${archive.origin}/item.json`).getAsset('data') ?? undefined)
    const of = (url: string) => stacLayerOptions(archive.engine()).getSourceOptions('XYZ', { url }, inBucket)
    expect(await of('s3://one/{z}.png')).toHaveProperty('tileLoadFunction')
    for (const url of ['s3://other/{z}.png', 'data:image/png,']) expect(await of(url)).toEqual({ url })
  })

  it('a source of the layer that is a picture has another name for its loader', async () => {
    expect(await optionsOf('ImageStatic', `${archive.origin}/files/a.png`)).toHaveProperty('imageLoadFunction')
  })

  it('a source of the layer of PMTiles reads parts, and refuses a file that is complete', async () => {
    const { url } = await optionsOf('PMTiles', `${archive.origin}/files/a.pmtiles`)
    const source = url as { getBytes(offset: number, length: number): Promise<{ data: ArrayBuffer }> }
    expect(new TextDecoder().decode((await source.getBytes(2, 3)).data)).toBe('Til')
    const gone = (await optionsOf('PMTiles', `${archive.origin}/files/gone`)).url as typeof source
    expect(await failureOf(gone.getBytes(0, 1))).toMatchObject({ code: 'RANGE_INVALID' })
  })

  it('a source of the layer of Zarr gets headers that no redirect carries on', async () => {
    const { storeOptions } = await optionsOf('GeoZarr', `${archive.origin}/files/a.zarr`)
    expect(storeOptions).toMatchObject({ headers: { 'x-archive-key': KEY }, redirect: 'error', credentials: 'omit' })
    const init = storeOptions as RequestInit
    expect((await fetch(`${archive.origin}/files/a.json`, init)).status).toBe(200)
    await expect(fetch(`${archive.origin}/moved/a.json`, init)).rejects.toThrow(TypeError)
  })

  it('requests documents in the same way', async () => {
    const { httpRequestFn } = stacLayerOptions(archive.engine())
    expect(await httpRequestFn(`${archive.origin}/files/a.json`, 'json', reference())).toEqual({ a: 1 })
    expect(await httpRequestFn(`${archive.stranger.origin}/files/a.json`, 'text', reference())).toBe('{"a":1}')
    expect(archive.stranger.exchanges.map(({ request }) => request.headers['x-archive-key'])).toEqual([undefined])
    expect(await failureOf(httpRequestFn(`${archive.origin}/files/gone.json`, 'json'))).toMatchObject({ code: 'HTTP_404' })
    expect(await failureOf(httpRequestFn(`${archive.origin}/files/page.json`, 'json', reference()))).toMatchObject({
      code: 'RESPONSE_INVALID',
    })
  })

  it('a GeoTIFF source that takes no function gets headers that fetch drops, or the whole file', async () => {
    const [key, wide] = [archive.engine(), createAuth({ credentials: [bearer('t', `${archive.origin}/`)] })]
    await Promise.all([key.ready(), wide.ready()])
    const url = `${archive.origin}/files/a.tif`
    const of = (auth: Auth, settings: StacLayerSettings) =>
      stacLayerOptions(auth, { tiffLoaders: false, ...settings }).getSourceOptions('GeoTIFF', { sources: [{ url, min: 1 }] }, reference())
    const whole = await of(key, {})
    expect(whole).toMatchObject({ sources: [{ min: 1, blob: expect.any(Blob) }], sourceOptions: { headers: {} } })
    expect(JSON.stringify(whole)).not.toContain(KEY)
    const headers = { authorization: 'Bearer t' }
    expect(await of(wide, { given: () => url })).toEqual({ sources: [{ url, min: 1 }], sourceOptions: { headers } })
    expect(await of(wide, { given: () => undefined })).toEqual({ sources: [{ url, min: 1 }], sourceOptions: { headers: {} } })
    const large = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(2 ** 28 + 1)) })
    const unstated = of({ ...key, fetchFor: () => async () => new Response(large) }, {})
    const blob = vi.spyOn(Response.prototype, 'blob').mockImplementationOnce(async function (this: Response) {
      await this.arrayBuffer().catch(() => undefined)
      // As in Chromium.
      throw new TypeError('Failed to fetch')
    })
    expect(await failureOf(unstated)).toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
    const response = new Response(new ReadableStream(), { headers: { 'content-length': String(2 ** 28 + 1) } })
    const stated = of({ ...key, fetchFor: () => async () => response }, {})
    expect(await failureOf(stated)).toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
    blob.mockRestore()
  })
})
