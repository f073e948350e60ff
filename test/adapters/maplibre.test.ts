import { describe, expect, it } from 'vitest'
import { mapRequests, peekedTransform } from '../../src/adapters/maplibre.ts'
import { createAuth } from '../../src/auth/create-auth.ts'
import { bearer } from '../../src/auth/credential.ts'
import { failureOf, thrownBy } from '../harness/failure.ts'
import { KEY, startArchive } from './archive.ts'
import { keepsTheGrant } from './grant.ts'

const files = { 'a.json': '{"a":1}', 'page.json': '<html>private</html>' }

keepsTheGrant({
  files,
  name: 'a.json',
  read: async (auth, target) => {
    const { transformRequest, load } = mapRequests(auth, target)
    const url = new URL(target.href, target.scope.url).href
    return (await load({ url: transformRequest(url)?.url ?? '', type: 'json' }, new AbortController())).data
  },
  expected: { a: 1 },
})

describe('the requests of a map', () => {
  it('the requests of a map are those of the first target on their origin; others are left unchanged', async () => {
    const archive = await startArchive(files)
    await archive.close()
    const targets = [archive.target('https://tiles.example/{z}/{x}/{y}.png'), archive.target('/files/a.json')]
    const { protocol, transformRequest } = mapRequests(archive.engine(), targets)
    expect(transformRequest(`${archive.origin}/b`)).toEqual({ url: `${protocol}://1/${archive.origin}/b` })
    expect(transformRequest('https://tiles.example/1/2/3.png')).toEqual({ url: `${protocol}://0/https://tiles.example/1/2/3.png` })
    for (const url of ['https://other.example/', 'https://tiles.example.evil.example/', 'data:,', 'blob:null/1', 'relative'])
      expect(transformRequest(url)).toBeUndefined()
  })

  it('the requests of a map are those of their own bucket, and of no other URL without an origin', async () => {
    const archive = await startArchive(files)
    await archive.close()
    const { protocol, transformRequest } = mapRequests(archive.engine(), archive.target('s3://one/a.json'))
    expect(transformRequest('s3://one/b')).toEqual({ url: `${protocol}://0/s3://one/b` })
    for (const url of ['s3://other/a.json', 'data:,', 'about:blank', 'file:///a', 'blob:s3://one/b'])
      expect(transformRequest(url)).toBeUndefined()
  })

  it('the requests of a map tell what is missing by status, text and bytes by type', async () => {
    const archive = await startArchive(files)
    const { protocol, load } = mapRequests(archive.engine(), archive.target('/files/a.json'))
    const at = (path: string, type?: string) =>
      load({ url: `${protocol}://0/${archive.origin}${path}`, ...(type && { type }) }, new AbortController())
    expect(await at('/files/a.json', 'string')).toEqual({ data: '{"a":1}' })
    expect((await at('/files/a.json', 'image')).data).toBeInstanceOf(ArrayBuffer)
    expect(await failureOf(at('/files/gone'))).toMatchObject({ code: 'HTTP_404', status: 404 })
    const noJson = await failureOf(at('/files/page.json', 'json'))
    expect(noJson).toMatchObject({ code: 'RESPONSE_INVALID', message: expect.not.stringContaining('private') })
    expect(await failureOf(load({ url: `${protocol}://7/https://a.example/` }, new AbortController()))).toBeInstanceOf(TypeError)
    await archive.close()
  })

  it('the requests of a map of two maps of a page are never answered by the engine of the other one', async () => {
    const archive = await startArchive(files)
    const target = archive.target('/files/a.json')
    const [mine, other] = [mapRequests(archive.engine(), target), mapRequests(archive.engine('wrong'), target)]
    expect(mine.protocol).toMatch(/^stac-auth-[\d-]+$/)
    expect(other.protocol).not.toBe(mine.protocol)
    const request = { url: mine.transformRequest(`${archive.origin}/files/a.json`)?.url ?? '', type: 'json' }
    expect(await failureOf(other.load(request, new AbortController()))).toBeInstanceOf(TypeError)
    expect(archive.guarded.exchanges).toEqual([])
    expect((await mine.load(request, new AbortController())).data).toEqual({ a: 1 })
    await archive.close()
  })

  it('the requests of a map need targets that are there', () => {
    expect(thrownBy(() => mapRequests({} as never, undefined))).toMatchObject({ code: 'TARGET_NOT_FOUND' })
  })
})

describe('a function of your own for transformRequest', () => {
  const url = 'https://tiles.example/1/2/3.png'
  const own = { transformRequest: (asked: string) => ({ url: `${asked}?v=2`, headers: { 'x-own': '1' } }) }

  it('is called first, keeps its headers, and still decides about other URLs', async () => {
    const { protocol, transformRequest } = mapRequests(token(), 'https://tiles.example/', own)
    expect(transformRequest(url)).toEqual({ url: `${protocol}://0/${url}?v=2`, headers: { 'x-own': '1' } })
    expect(transformRequest('https://other.example/')).toEqual({ url: 'https://other.example/?v=2', headers: { 'x-own': '1' } })
  })

  it('may be asynchronous', async () => {
    const later = { transformRequest: async (asked: string) => own.transformRequest(asked) }
    const { protocol, transformRequest } = mapRequests(token(), 'https://tiles.example/', later)
    expect(await transformRequest(url)).toEqual({ url: `${protocol}://0/${url}?v=2`, headers: { 'x-own': '1' } })
  })

  it('has its headers sent by the protocol', async () => {
    const archive = await startArchive(files)
    const headers = { 'x-own': '1' }
    const { transformRequest, load } = mapRequests(archive.engine(), `${archive.origin}/files/`, {
      transformRequest: (asked: string) => ({ url: asked, headers }),
    })
    const request = transformRequest(`${archive.origin}/files/a.json`)
    await load({ ...request, url: request?.url ?? '', type: 'json' }, new AbortController())
    expect(archive.guarded.exchanges.map(({ request: sent }) => sent.headers)).toMatchObject([{ 'x-own': '1', 'x-archive-key': KEY }])
    await archive.close()
  })
})

describe('the requests of a map without protocols', () => {
  const url = 'https://tiles.example/1/2/3.png'

  it('have what is known at once, and nothing for other origins', async () => {
    const auth = token()
    const transform = peekedTransform(auth, ['https://data.example/', 'https://tiles.example/'])
    expect(transform(url)).toBeUndefined()
    await auth.ready()
    expect(transform(url)).toEqual({ url, headers: { authorization: 'Bearer t' } })
    for (const other of [
      'https://tiles.example.evil.example/',
      'https://tiles.example:8443/',
      'http://tiles.example/',
      'data:,',
      'relative',
    ])
      expect(transform(other)).toBeUndefined()
  })

  it('keep what a function of your own says', async () => {
    const auth = token()
    await auth.ready()
    const own = { transformRequest: (asked: string) => ({ url: asked, headers: { accept: 'image/webp' }, credentials: 'omit' as const }) }
    expect(peekedTransform(auth, 'https://tiles.example/', own)(url)).toEqual({
      url,
      headers: { accept: 'image/webp', authorization: 'Bearer t' },
      credentials: 'omit',
    })
  })

  it('are refused with a key in a header of its own, which the map would send on', async () => {
    const archive = await startArchive({})
    await archive.close()
    const auth = archive.engine()
    await auth.ready()
    const transform = peekedTransform(auth, archive.target('/files/'))
    expect(thrownBy(() => transform(`${archive.origin}/files/a`))).toMatchObject({ code: 'SCHEME_UNSUPPORTED' })
  })
})

function token() {
  return createAuth({ credentials: [bearer('t', 'https://tiles.example/')] })
}
