import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { asset, item, type Json, scheme } from '../harness/documents.ts'
import { geotiff, pattern } from '../harness/geotiff.ts'
import type { AnsweringServer } from '../servers/answering-server.ts'
import { basicGuard, bearerGuard, type Guard, keyGuard } from '../servers/guards.ts'
import { startProtectedFiles } from '../servers/protected-files.ts'
import { type S3Server, startS3Server } from '../servers/s3-server.ts'
import { startSigningServer } from '../servers/signing-server.ts'
import { createUrlSigner } from '../servers/url-signer.ts'
import { askGdal, readWithGdal, sha256 } from './gdal-reader.ts'
import { type Peer, startPeer } from './peer.ts'
import { type Keep, type ShellUser, shellUser } from './shell-user.ts'

const IMAGE = pattern(300, 200)
const FILE = geotiff(IMAGE)
const PIXELS = sha256(IMAGE.pixels)
/** A key as nobody should choose it: separators and quotes of headers, of cookies and of GDAL's lists. */
const ODD_KEY = 'a,b: "c" \\d, e'
const COOKIE_KEY = 'a:b|c$(id)&d'
const TEMPORARY = { accessKeyId: 'ASIAEXAMPLE', secretAccessKey: 'wJalr/XUtn+FEMI=', sessionToken: 'token/with+signs==' }
/** Names that a shell, a list or a path would take apart. */
const NAMES = ['a b+c%2Fd%25(1)~!*é.tif', "$(touch pwned);'&`touch pwned`.tif", 'x,y: "z".tif', 'a//b.tif']

let peer: Peer<object> | undefined
let files: AnsweringServer
let evil: AnsweringServer
let signing: AnsweringServer
let s3: S3Server
const signer = createUrlSigner({ key: 'of the test' })
const tiff = (guard: Guard) => ({ content: FILE, guard })
const onPath = (name: string) => new URL(`http://host/odd/${name}`).pathname

beforeAll(async () => {
  peer = await startPeer('gdal')
  evil = await startProtectedFiles({ '/other.tif': { content: FILE } })
  const vrt = `<VRTDataset rasterXSize="300" rasterYSize="200"><VRTRasterBand dataType="Byte" band="1"><SimpleSource>
    <SourceFilename>/vsicurl/${evil.origin}/other.tif</SourceFilename><SourceBand>1</SourceBand></SimpleSource></VRTRasterBand></VRTDataset>`
  files = await startProtectedFiles({
    '/basic.tif': tiff(basicGuard('ada', 'pa:ss wörd')),
    '/bearer.tif': tiff(bearerGuard((token) => token === 'good')),
    '/bearer.vrt': { content: vrt, guard: bearerGuard((token) => token === 'good') },
    '/header.tif': tiff(keyGuard('header', 'X-Api-Key', ODD_KEY)),
    '/query.tif': tiff(keyGuard('query', 'api key', ODD_KEY)),
    '/cookie.tif': tiff(keyGuard('cookie', 'session', COOKIE_KEY)),
    '/signed.tif': tiff(signer.guard),
    ...Object.fromEntries(NAMES.map((name) => [onPath(name), tiff(bearerGuard((token) => token === 'good'))])),
  })
  signing = await startSigningServer({
    signer,
    objects: files.origin,
    get: bearerGuard((token) => token === 'good'),
    post: () => ({ status: 404 }),
  })
  const objects = Object.fromEntries(['plain.tif', ...NAMES].map((name) => [`eo/${name}`, FILE]))
  s3 = await startS3Server({ objects, keys: [TEMPORARY], region: 'eu-central-1', requesterPays: ['eo'] })
}, 150_000)
afterAll(async () => {
  await Promise.all([files, evil, signing, s3].map((server) => server?.close()))
  if (peer && 'stop' in peer) await peer.stop()
})
beforeEach(({ skip }) => {
  if (peer && 'missing' in peer) skip(peer.missing)
})

const SCHEMES: Readonly<Record<string, () => Json>> = {
  basic: () => scheme.basic,
  bearer: () => scheme.bearer,
  header: () => scheme.key('X-Api-Key'),
  query: () => scheme.key('api key', 'query'),
  cookie: () => scheme.key('session', 'cookie'),
  signed: () => scheme.signed(`${signing.origin}/get/sign`),
}

/** What a user has who has everything, with one value for all secrets instead where that is given. */
const entries =
  (wrong?: string) =>
  (keep: Keep): readonly object[] => {
    const sendTo = [`${files.origin}/`]
    const secret = (text: string) => keep(wrong ?? text)
    const key = { type: 'apiKey', sendTo }
    return [
      { id: 'basic', type: 'http', scheme: 'basic', username: 'ada', password: secret('pa:ss wörd'), sendTo },
      { id: 'bearer', type: 'http', scheme: 'bearer', token: secret('good'), sendTo: [...sendTo, `${signing.origin}/`] },
      { id: 'header', ...key, in: 'header', name: 'X-Api-Key', value: secret(ODD_KEY) },
      { id: 'query', ...key, in: 'query', name: 'api key', value: secret(ODD_KEY) },
      { id: 'cookie', ...key, in: 'cookie', name: 'session', value: secret(COOKIE_KEY) },
      {
        id: 'signer',
        type: 'signedUrl',
        method: 'GET',
        authorizationApi: `${signing.origin}/get/sign`,
        with: 'bearer',
        signedUrlHosts: sendTo,
      },
      {
        id: 'store',
        type: 's3',
        accessKeyId: keep(TEMPORARY.accessKeyId),
        secretAccessKey: secret(TEMPORARY.secretAccessKey),
        sessionToken: keep(TEMPORARY.sessionToken),
        ...place(),
      },
    ]
  }

const place = () => ({ endpoint: s3.url, region: 'eu-central-1', requesterPays: true, sendTo: ['s3://eo/'] })
const put = (user: ShellUser, type: unknown, href: string) => user.put('item.json', item({ k: type }, { data: asset(href) }))
const asked = () => files.exchanges.slice(marked).map(({ request: { method, target } }) => `${method} ${target}`)
let marked = 0

describe('GDAL opens a protected file', () => {
  it.each(Object.keys(SCHEMES))('GDAL opens a protected file with nothing but the printed lines: %s', async (name) => {
    const user = await shellUser(entries())
    expect(await readWithGdal(user, await put(user, SCHEMES[name]?.(), `${files.origin}/${name}.tif`))).toBe(PIXELS)
  })

  it.each(NAMES)('called %s', async (name) => {
    const user = await shellUser(entries())
    expect(await readWithGdal(user, await put(user, scheme.bearer, files.origin + onPath(name)))).toBe(PIXELS)
    expect((await user.sh('test ! -e pwned')).code).toBe(0)
  })

  it('GDAL opens a protected file and knows where on Earth it lies and what its pixels are', async () => {
    const user = await shellUser(entries())
    const path = await put(user, scheme.basic, `${files.origin}/basic.tif`)
    const { size, geoTransform } = JSON.parse(await askGdal(user, path, 'gdalinfo -json "$GDAL_PATH"'))
    expect([size, geoTransform]).toEqual([
      [300, 200],
      [10, 0.01, 0, 50, 0, -0.01],
    ])
    expect(await askGdal(user, path, 'gdallocationinfo -valonly "$GDAL_PATH" 250 199')).toBe(`${IMAGE.pixels[199 * 300 + 250]}\n`)
  })

  it('GDAL opens a protected file and requests that file only, in parts', async () => {
    marked = files.exchanges.length
    const user = await shellUser(entries())
    await readWithGdal(user, await put(user, scheme.bearer, `${files.origin}/bearer.tif`))
    expect(new Set(asked())).toEqual(new Set(['GET /bearer.tif']))
    expect(files.exchanges.slice(marked).filter(({ answer }) => answer.status === 206).length).toBeGreaterThan(1)
  })

  it('GDAL opens a protected file without headers, keys and regions of the earlier environment', async () => {
    const stale = { GDAL_HTTP_HEADERS: 'authorization: Bearer stale', AWS_SESSION_TOKEN: 'stale', AWS_DEFAULT_REGION: 'stale-1' }
    const user = await shellUser(entries(), stale)
    expect(await readWithGdal(user, await put(user, SCHEMES.query?.(), `${files.origin}/query.tif`))).toBe(PIXELS)
    expect(await readWithGdal(user, await put(user, { type: 's3' }, 's3://eo/plain.tif'))).toBe(PIXELS)
  })
})

describe('GDAL opens an object with temporary keys whose reader pays', () => {
  it.each(['plain.tif', ...NAMES])('called %s', async (name) => {
    const user = await shellUser(entries())
    const path = await put(user, { type: 's3' }, `s3://eo/${name.split('/').map(encodeURIComponent).join('/')}`)
    expect(await readWithGdal(user, path)).toBe(PIXELS)
    expect(await readWithGdal(user, path, '--expires', '60')).toBe(PIXELS)
    expect((await user.sh('test ! -e pwned')).code).toBe(0)
  })

  it('GDAL opens a requester-pays object with temporary keys whose variables have other names', async () => {
    const { accessKeyId, secretAccessKey, sessionToken } = TEMPORARY
    const keys = { CLOUD_ACCESS_KEY_ID: accessKeyId, CLOUD_SECRET_ACCESS_KEY: secretAccessKey, CLOUD_SESSION_TOKEN: sessionToken }
    const user = await shellUser(() => [{ id: 'store', type: 's3', ...place() }], {
      ...keys,
      AWS_ACCESS_KEY_ID: 'other',
      AWS_SECRET_ACCESS_KEY: 'other',
    })
    expect(await readWithGdal(user, await put(user, { type: 's3' }, 's3://eo/plain.tif'))).toBe(PIXELS)
  })
})

describe('GDAL does not open', () => {
  it.each(['basic', 'bearer', 'header', 'query', 'cookie'])('a file with a wrong secret: %s', async (name) => {
    const user = await shellUser(entries('wrong'))
    const path = await put(user, SCHEMES[name]?.(), `${files.origin}/${name}.tif`)
    expect(await readWithGdal(user, path)).toMatch(/HTTP response code: 40[13]/)
  })

  it('an object with a wrong secret, presigned or not', async () => {
    const user = await shellUser(entries('wrong'))
    const path = await put(user, { type: 's3' }, 's3://eo/plain.tif')
    expect(await readWithGdal(user, path)).toMatch(/^ERROR/m)
    expect(await readWithGdal(user, path, '--expires', '60')).toMatch(/HTTP response code: 403/)
  })

  it('another host that the file names, and gives it nothing', async () => {
    const user = await shellUser(entries())
    const path = await put(user, scheme.bearer, `${files.origin}/bearer.vrt`)
    expect(await readWithGdal(user, path)).toContain('other.tif')
    expect(evil.connections).toBe(0)
  })
})
