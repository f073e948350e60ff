import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { temporaryFolder } from '../../cli/folder.ts'
import { noise } from '../../servers/file-server.ts'
import { codesOf, filesIn, itemOf, ofKind, run, serveBy } from './fixture.ts'

const PAGE = '<!DOCTYPE html><title>Log in</title><form>'
/** Sends whoever has no token to a login host, which answers 200 with a form, as Earthdata Login does. */
async function earthdata(type = 'text/html; charset=utf-8') {
  const login = await serveBy((_, response) => response.writeHead(200, { 'content-type': type, etag: '"form"' }).end(PAGE))
  const data = await serveBy((request, response) => {
    if (request.headers.authorization === 'Bearer right') response.writeHead(200, { 'content-length': 9 }).end('real data')
    else response.writeHead(302, { location: `${login}/oauth/authorize?client_id=x&state=${encodeURIComponent(request.url ?? '')}` }).end()
  })
  const auth = createAuth({ credentials: [], typed: [login, data] })
  return { login, data, auth }
}

describe('a login page of another host', () => {
  it.each([
    ['the type', { href: 'granule', type: 'application/x-hdf5' }],
    ['the name', { href: 'granule.h5' }],
    ['the role', { href: 'granule', roles: ['data'] }],
    ['the size', { href: 'granule.h5', 'file:size': 9 }],
    ['the checksum', { href: 'granule.h5', 'file:checksum': `1220${createHash('sha256').update('real data').digest('hex')}` }],
  ])('a login page of another host is not a file where %s promises something else, in no run', async (_, asset) => {
    const { login, data, auth } = await earthdata()
    const folder = await temporaryFolder()
    for (const attempt of [1, 2]) {
      const result = await run([itemOf({ origin: data }, { data: asset })], { folder, auth })
      expect([attempt, codesOf(result), await filesIn(folder)]).toEqual([attempt, ['LOGIN_PAGE'], {}])
      const [{ error } = { error: undefined }] = ofKind(result, 'failed')
      expect(error?.message).toContain(`${login} answered with a web page`)
      expect(error?.hint).toContain(`log in at ${login}`)
      expect(error?.hint).toContain(`"sendTo":["${data}/"]`)
      expect(JSON.stringify(error)).not.toContain('client_id')
    }
  })

  it('a login page of another host is recognised by its first bytes where the server calls it a file', async () => {
    const { data, auth } = await earthdata('application/octet-stream')
    const folder = await temporaryFolder()
    expect(codesOf(await run([itemOf({ origin: data }, { data: { href: 'granule.h5' } })], { folder, auth }))).toEqual(['LOGIN_PAGE'])
    expect(await filesIn(folder)).toEqual({})
  })

  it('a login page of another host is kept, with a warning, where it is accepted', async () => {
    const { data, auth } = await earthdata()
    const folder = await temporaryFolder()
    const item = itemOf({ origin: data }, { data: { href: 'granule.h5' } })
    const result = await run([item], { folder, auth, acceptHtml: true, strict: true })
    expect([result.summary.written, ofKind(result, 'warning').map(({ code }) => code)]).toEqual([1, ['CONTENT_TYPE_UNEXPECTED']])
    const again = await run([item], { folder, auth })
    expect(ofKind(again, 'failed').map(({ error }) => [error.code, error.message])).toEqual([
      [
        'PATH_EXISTS',
        '"granule.h5" exists already and is a web page, but "granule.h5" was expected: an earlier run may have saved a login page or an error',
      ],
    ])
    expect((await run([item], { folder, auth, acceptHtml: true })).summary).toMatchObject({ kept: 1 })
  })

  it('a login page of another host is a warning where nothing is promised, which strict refuses', async () => {
    const { data, auth } = await earthdata()
    const item = itemOf({ origin: data }, { data: { href: 'granule' } })
    const mild = await run([item], { folder: await temporaryFolder(), auth })
    expect(ofKind(mild, 'warning').map(({ code }) => code)).toEqual(['CONTENT_TYPE_UNEXPECTED'])
    expect(codesOf(await run([item], { folder: await temporaryFolder(), auth, strict: true }))).toEqual(['CONTENT_TYPE_UNEXPECTED'])
  })

  it('leaves the part of an earlier run, which the file itself is resumed with', async () => {
    const bytes = noise(3 * 2 ** 20)
    let isLoggedIn = true
    const login = await serveBy((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE))
    const data = await serveBy((request, response) => {
      const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
      if (!isLoggedIn) return void response.writeHead(302, { location: login }).end()
      const range = from > 0 ? { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : {}
      response.writeHead(from > 0 ? 206 : 200, { etag: '"v"', 'accept-ranges': 'bytes', 'content-length': bytes.length - from, ...range })
      if (from > 0) return void response.end(bytes.subarray(from))
      response.write(bytes.subarray(0, 2 ** 21), () => {
        isLoggedIn = false
        setTimeout(() => response.socket?.destroy(), 20)
      })
    })
    const auth = createAuth({ credentials: [], typed: [login, data] })
    const folder = await temporaryFolder()
    const item = itemOf({ origin: data }, { data: { href: 'a.tif' } })
    const [failed] = ofKind(await run([item], { folder, auth }), 'failed')
    expect([failed?.error.code, (failed?.resumable ?? 0) > 0]).toEqual(['LOGIN_PAGE', true])
    isLoggedIn = true
    const [written] = ofKind(await run([item], { folder, auth }), 'written')
    expect(written?.received).toBeLessThan(bytes.length)
    expect((await filesIn(folder))['a.tif']?.equals(bytes)).toBe(true)
  })
})

describe('a web page of the host that was asked', () => {
  it.each([
    ['its media type', 'application/xhtml+xml', 'words'],
    ['its first bytes', 'application/octet-stream', ` \n<!-- x -->${PAGE}`],
  ])('a web page of the host that was asked is not a file by %s', async (_, type, body) => {
    const origin = await serveBy((_request, response) => response.writeHead(200, { 'content-type': type }).end(body))
    const folder = await temporaryFolder()
    const result = await run([itemOf({ origin }, { data: { href: 'a.tif' } })], { folder, server: { origin } })
    expect([codesOf(result), await filesIn(folder)]).toEqual([['FILE_INTEGRITY'], {}])
  })

  it('a web page of the host that was asked is recognised where its first bytes come one by one', async () => {
    const origin = await serveBy((_request, response) => {
      response.writeHead(200, { 'content-length': PAGE.length })
      const write = (at: number): unknown =>
        at < PAGE.length ? response.write(PAGE[at], () => setImmediate(write, at + 1)) : response.end()
      write(0)
    })
    const folder = await temporaryFolder()
    const result = await run([itemOf({ origin }, { data: { href: 'a.tif' } })], { folder, server: { origin } })
    expect([codesOf(result), await filesIn(folder)]).toEqual([['FILE_INTEGRITY'], {}])
  })

  it('a web page of the host that was asked is the file where the checksum of the document says so', async () => {
    const origin = await serveBy((_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE))
    const asset = { href: 'a.tif', 'file:checksum': `1220${createHash('sha256').update(PAGE).digest('hex')}` }
    const folder = await temporaryFolder()
    for (const outcome of ['written', 'kept'] as const)
      expect((await run([itemOf({ origin }, { data: asset })], { folder, server: { origin } })).summary).toMatchObject({ [outcome]: 1 })
  })

  it.each([
    ['the type', { href: 'page', type: 'text/html' }],
    ['the name', { href: 'page.html' }],
    ['nothing', { href: 'page', roles: ['metadata'] }],
  ])('a web page of the host that was asked is a file where %s speaks against it', async (_, asset) => {
    const origin = await serveBy((_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE))
    const result = await run([itemOf({ origin }, { data: asset })], { folder: await temporaryFolder(), server: { origin }, strict: true })
    expect(result.summary).toMatchObject({ written: 1 })
  })

  it('a web page of the requested host is not mistaken for XML, text and files that begin like it', async () => {
    const bodies: Record<string, string> = { '/a.xml': '<!-- x --><metadata/>', '/b.md': '<h1>Readme</h1>', '/c.txt': '<', '/d.bin': ' ' }
    const origin = await serveBy((request, response) => response.end(bodies[request.url ?? '']))
    const assets = Object.fromEntries(Object.keys(bodies).map((path) => [path, { href: path.slice(1) }]))
    const folder = await temporaryFolder()
    expect((await run([itemOf({ origin }, assets)], { folder, server: { origin } })).summary).toMatchObject({ written: 4 })
    expect(
      Object.values(await filesIn(folder))
        .map(String)
        .sort(),
    ).toEqual(Object.values(bodies).sort())
  })
})
