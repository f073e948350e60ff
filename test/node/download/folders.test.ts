import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import type { CredentialInput } from '../../../src/auth/credential.ts'
import type { DownloadOptions } from '../../../src/node/download/download.ts'
import { temporaryFolder } from '../../cli/folder.ts'
import { asset, item, type Json } from '../../harness/documents.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { type S3Server, type S3ServerOptions, startS3Server } from '../../servers/s3-server.ts'
import { codesOf, filesIn, ofKind, run } from './fixture.ts'

const KEYS = { accessKeyId: 'ASIAEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG' }
const STORE = { '.zgroup': '{"zarr_format":2}', 'temp/.zarray': '{}', 'temp/0.0': 'chunk', 'temp/c/0/1': 'other chunk' }

const servers: S3Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

const under = (folder: string, contents: object) =>
  Object.fromEntries(Object.entries(contents).map(([key, content]) => [`eo/${folder}${key}`, content]))

/** A store with those objects, and downloads of assets from it. */
async function store(objects: Record<string, string>, more: Partial<S3ServerOptions> = {}, entry: Partial<CredentialInput> = {}) {
  const server = await startS3Server({ objects, keys: [KEYS], ...more })
  servers.push(server)
  const folder = await temporaryFolder()
  const base = { id: 'mine', type: 's3', ...KEYS, endpoint: server.url, sendTo: ['s3://eo/'] }
  const auth = createAuth({ credentials: { ...base, ...entry } as CredentialInput })
  const fetched = async (href: string | Json, options: Partial<DownloadOptions> = {}) => {
    const assets = { zarr: typeof href === 'string' ? asset(href) : href }
    const document = item({ k: { type: 's3' } }, assets)
    return run([{ document }], { folder, auth, clock: new FakeClock({ now: Date.now, waits: 'skipped' }), ...options })
  }
  const texts = async () => Object.fromEntries(Object.entries(await filesIn(folder)).map(([name, bytes]) => [name, String(bytes)]))
  return { server, folder, fetched, texts }
}

const prefixed = (prefix: string, contents: object) =>
  Object.fromEntries(Object.entries(contents).map(([key, content]) => [prefix + key, content]))

describe('an asset that is a folder of an object store', () => {
  it.each([
    ['its URL ends in a slash', 's3://eo/x/store.zarr/'],
    ['its name ends in .zarr', 's3://eo/x/store.zarr'],
    ['its media type is Zarr', asset('s3://eo/x/store.zarr', ['k'], { type: 'application/vnd.zarr; version=2', 'file:size': 7 })],
  ])('an asset that is a folder of an object store is downloaded object by object when %s', async (_, href) => {
    const { fetched, texts } = await store({ ...under('x/store.zarr/', STORE), 'eo/x/store.zarr2/secret': 's', 'eo/x/other': 's' })
    const result = await fetched(href)
    expect([codesOf(result), result.summary.written]).toEqual([[], 4])
    expect(await texts()).toEqual(prefixed('store.zarr/', STORE))
  })

  it('a folder of an object store is downloaded from an https URL that an s3 credential covers', async () => {
    const { server, fetched, texts } = await store(
      under('S2A.SAFE/', { 'manifest.safe': '<xfdu/>', 'HTML/a.html': '<html></html>' }),
      {},
      {},
    )
    const auth = createAuth({
      credentials: { id: 'mine', type: 's3', ...KEYS, endpoint: server.url, sendTo: [`${server.url}/eo/`] } as CredentialInput,
    })
    expect(codesOf(await fetched(`${server.url}/eo/S2A.SAFE`, { auth }))).toEqual([])
    expect(Object.keys(await texts()).sort()).toEqual(['S2A.SAFE/HTML/a.html', 'S2A.SAFE/manifest.safe'])
  })

  it('an asset that is a folder of an object store is taken from the first alternate that can be listed', async () => {
    const { fetched, texts } = await store(under('store.zarr/', STORE))
    const alternate = { s3: { href: 's3://eo/store.zarr/', 'auth:refs': ['k'] } }
    expect(codesOf(await fetched(asset('https://data.example/store.zarr', ['other'], { alternate })))).toEqual([])
    expect(await texts()).toEqual(prefixed('store.zarr/', STORE))
  })

  it('keeps existing files on the second run, and downloads the missing ones', async () => {
    const { server, folder, fetched, texts } = await store(under('store.zarr/', STORE))
    await fetched('s3://eo/store.zarr')
    await rm(join(folder, 'store.zarr/temp/0.0'))
    const before = server.log.length
    const { summary } = await fetched('s3://eo/store.zarr')
    expect(summary).toMatchObject({ files: 4, written: 1, kept: 3, failed: 0 })
    expect(server.log.slice(before).map(({ url }) => url.split('?')[0])).toEqual(['/eo/', '/eo/store.zarr/temp/0.0'])
    await writeFile(join(folder, 'store.zarr/temp/0.0'), 'longer than before')
    expect(codesOf(await fetched('s3://eo/store.zarr'))).toEqual(['PATH_EXISTS'])
    expect((await texts())['store.zarr/temp/0.0']).toBe('longer than before')
  })

  it('an asset is one file where nothing lies below its name, and missing where it ends in a slash', async () => {
    const { fetched, texts } = await store({ 'eo/one.SAFE': 'packed' })
    expect(codesOf(await fetched('s3://eo/one.SAFE'))).toEqual([])
    expect(await texts()).toEqual({ 'one.SAFE': 'packed' })
    expect(codesOf(await fetched('s3://eo/none/'))).toEqual(['HTTP_404'])
  })

  it('an asset that is a folder of an object store is not listed in a dry run', async () => {
    const { server, fetched } = await store(under('store.zarr/', STORE))
    const planned = ofKind(await fetched('s3://eo/store.zarr/', { dryRun: true }), 'planned')
    expect(planned.map(({ file }) => [file.name, file.folder])).toEqual([['store.zarr', true]])
    expect(server.log).toEqual([])
  })

  it('becomes the URL of the asset in the copy of the document', async () => {
    const { fetched, texts } = await store(under('store.zarr/', STORE))
    const result = await fetched('s3://eo/store.zarr', { documents: true })
    expect(result.summary.documents).toBe(1)
    expect(JSON.parse((await texts())['x.json'] ?? '').assets.zarr.href).toMatch(/^(?:\.\/)?store\.zarr\/?$/)
  })

  it('lets no key leave the folder, nor hide', async () => {
    const hostile = {
      '../up': '1',
      'a/../../up': '2',
      'a//b': '3',
      '/lead': '4',
      '.bashrc': '5',
      '.zgroup/x': '6',
      'c\\..\\d': '7',
      'p.part': '8',
    }
    const { fetched, texts } = await store(under('d/', hostile))
    expect(codesOf(await fetched('s3://eo/d/'))).toEqual(['PATH_UNSAFE', 'PATH_UNSAFE'])
    const safe = { 'a/asset/b': '3', 'asset/lead': '4', bashrc: '5', 'zgroup/x': '6', 'c_.._d': '7', 'p.part_': '8' }
    expect(await texts()).toEqual(prefixed('d/', safe))
  })

  it('lets no two keys share a place', async () => {
    const { fetched, texts } = await store(under('d/', { A: '1', a: '2', f: '3', 'F/g': '4', 'x/': '' }))
    expect(codesOf(await fetched('s3://eo/d/'))).toEqual(['PATH_COLLISION', 'PATH_COLLISION'])
    expect(await texts()).toEqual({ 'd/A': '1', 'd/F/g': '4' })
  })

  it('a folder with more objects than allowed is refused before any of them is fetched', async () => {
    const { server, fetched } = await store(under('store.zarr/', STORE))
    const [failed] = ofKind(await fetched('s3://eo/store.zarr', { maxObjects: 3 }), 'failed')
    expect(failed?.error).toMatchObject({ code: 'RESPONSE_TOO_LARGE', hint: expect.stringContaining('--max-objects') })
    expect(server.log.map(({ url }) => url.split('?')[0])).toEqual(['/eo/'])
    expect((await fetched('s3://eo/store.zarr', { maxObjects: 4 })).summary.written).toBe(4)
  })

  it('a folder is refused where its keys are refused or the credential does not cover it', async () => {
    const objects = { ...under('store.zarr/', STORE), ...under('store.zarr2/', STORE) }
    const wrong = await store(objects, {}, { secretAccessKey: 'wrong' } as Partial<CredentialInput>)
    const [failed] = ofKind(await wrong.fetched('s3://eo/store.zarr'), 'failed')
    expect(failed?.error).toMatchObject({
      code: 'AUTH_REJECTED',
      message: expect.stringContaining('is a folder'),
      hint: expect.stringContaining('ListBucket'),
    })
    const narrow = await store(objects, {}, { sendTo: ['s3://eo/store.zarr/'] })
    expect(codesOf(await narrow.fetched('s3://eo/store.zarr'))).toEqual([])
    expect(codesOf(await narrow.fetched('s3://eo/store.zarr2'))).toEqual(['CREDENTIAL_TARGET_UNTRUSTED'])
    expect(narrow.server.log.some(({ url }) => url.includes('zarr2'))).toBe(false)
  })

  it('a folder is refused when the store lists an object outside of it', async () => {
    const { server, folder, fetched } = await store(under('store.zarr/', STORE))
    const { send, authorize, explain, fetch } = createAuth({ credentials: [] })
    const objects = '<Contents><Key>store.zarr2/secret</Key><Size>1</Size></Contents>'
    const fetchFor = () => async () => new Response(`<ListBucketResult>${objects}</ListBucketResult>`)
    const [failed] = ofKind(
      await fetched(asset('s3://eo/store.zarr', []), { auth: { send, authorize, explain, fetch, fetchFor } }),
      'failed',
    )
    expect(failed?.error).toMatchObject({ code: 'RESPONSE_INVALID', message: expect.stringContaining('outside the requested folder') })
    expect([await filesIn(folder), server.log]).toEqual([{}, []])
  })

  it('a folder is listed again from the last key after a temporary failure', async () => {
    const { server, fetched } = await store(under('store.zarr/', STORE))
    const entry = { id: 'mine', type: 's3', ...KEYS, endpoint: server.url, sendTo: ['s3://eo/'] }
    const auth = createAuth({ credentials: entry as CredentialInput })
    let failures = 0
    const fetchFor: typeof auth.fetchFor = (target) => async (url) =>
      failures++ < 4 ? new Response('', { status: 503 }) : auth.fetchFor(target)(url)
    expect((await fetched('s3://eo/store.zarr', { auth: { ...auth, fetchFor } })).summary).toMatchObject({ written: 4, failed: 0 })
    const broken: typeof auth.fetchFor = () => async () => new Response('', { status: 503 })
    expect(codesOf(await fetched('s3://eo/store.zarr', { auth: { ...auth, fetchFor: broken } }))).toEqual(['HTTP_503'])
  })

  it('a folder that cannot be listed is requested like a file, and its error names a folder', async () => {
    const { server, fetched } = await store(under('store.zarr/', STORE), { public: ['eo'] })
    const auth = createAuth({ credentials: [], typed: [server.url] })
    const [failed] = ofKind(await fetched(asset(`${server.url}/eo/store.zarr`, []), { auth }), 'failed')
    expect(failed?.error).toMatchObject({ code: 'HTTP_404', hint: expect.stringContaining('looks like a folder') })
    expect(server.log.map(({ url }) => url)).toEqual(['/eo/store.zarr/.zmetadata', '/eo/store.zarr/zarr.json', '/eo/store.zarr'])
  })

  it('an asset that is a folder of an object store is never a whole bucket', async () => {
    const { server, fetched, texts } = await store(under('', { a: '1', b: '2' }))
    for (const href of ['s3://eo', 's3://eo/', 's3://eo//']) {
      const [failed] = ofKind(await fetched(href), 'failed')
      expect(failed?.error).toMatchObject({ code: 'URL_INVALID', message: expect.stringContaining('whole bucket') })
    }
    expect([Object.keys(await texts()), server.log]).toEqual([[], []])
  })
})
