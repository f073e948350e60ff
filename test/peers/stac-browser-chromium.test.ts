/** The newest STAC Browser on npm, or a clone of its repository (`STAC_BROWSER=folder`), changed as examples/stac-browser says, in a real browser. */
import { readFileSync } from 'node:fs'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { item, type Json, scheme } from '../harness/documents.ts'
import { geotiff, pattern } from '../harness/geotiff.ts'
import { type Answer, type AnsweringServer, type Inquiry, jsonAnswer, startAnswering } from '../servers/answering-server.ts'
import { type AuthorizationServer, startAuthorizationServer } from '../servers/authorization-server.ts'
import { partOf } from '../servers/byte-range.ts'
import { crossOrigin } from '../servers/cross-origin.ts'
import { basicGuard, bearerGuard, type Guard, keyGuard } from '../servers/guards.ts'
import { useChromium } from './chromium.ts'
import { agree } from './login-site.ts'
import { png } from './page-server.ts'
import { type BuiltBrowser, buildStacBrowser, PATCH } from './stac-browser-build.ts'

const browser = useChromium()
/** What a person types when STAC Browser asks. */
const ANSWERS = { Key: 'right-key-of-the-api', Token: 'right token+of/archive', Password: 'right-password' } as const
const SECRETS = [ANSWERS.Key, ANSWERS.Token, encodeURIComponent(ANSWERS.Token), Buffer.from(`guest:${ANSWERS.Password}`).toString('base64')]

let built: BuiltBrowser | undefined
let site: AnsweringServer
let provider: AuthorizationServer
let archive: AnsweringServer
let stranger: AnsweringServer
const tokens = new Set<string>()

beforeAll(async () => {
  site = await startAnswering(({ path }) => {
    const file = built?.files[path] ?? built?.files['/index.html']
    if (!file) return { status: 404 }
    const body =
      file.type === 'text/javascript' ? hosts().reduce((text, [old, now]) => text.replaceAll(old, now), file.body.toString()) : file.body
    return { status: 200, headers: { 'content-type': file.type }, body }
  })
  stranger = await startAnswering(crossOrigin(({ path }) => fileAt(path), { origin: '*', headers: 'range' }))
  archive = await startAnswering(
    crossOrigin((request) => GUARDS[request.path.split('/')[1] ?? '']?.(request) ?? answerTo(request), {
      origin: site.origin,
      headers: 'authorization, range, x-api-key',
    }),
  )
  provider = await startAuthorizationServer({
    pages: site.origin,
    clients: [
      {
        client_id: 'stac-browser',
        token_endpoint_auth_method: 'none',
        application_type: 'native',
        redirect_uris: ['http://127.0.0.1/auth'],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        scope: 'openid offline_access read',
      },
    ],
  })
  // Without the registry of npm the tests are skipped, unless they are required.
  built = await buildStacBrowser().catch((error: unknown) => {
    if (process.env.PEERS === 'required') throw error
    return undefined
  })
}, 400_000)
beforeEach(({ skip }) => {
  if (!built) skip('STAC Browser could not be installed and built')
})
afterAll(() => Promise.all([site.close(), archive.close(), stranger.close(), provider.close()]))

/** The hosts in the credentials of the example, and those of the tests in their place. */
const hosts = (): readonly (readonly [example: string, test: string])[] => [
  ['https://api.example/stac/', `${archive.origin}/stac/`],
  ['https://data.example/', `${archive.origin}/`],
  ['https://identity.example/', provider.issuer],
]

/** Four schemes on one host: the first folder says which one opens a file. Documents need the key. */
const GUARDS: Readonly<Record<string, Guard>> = {
  stac: keyGuard('header', 'x-api-key', ANSWERS.Key),
  key: keyGuard('header', 'x-api-key', ANSWERS.Key),
  token: keyGuard('query', 'token', ANSWERS.Token),
  account: basicGuard('guest', ANSWERS.Password),
  portal: bearerGuard((text) => tokens.add(text) && text.length > 10),
}

function answerTo({ path, headers }: Inquiry): Answer {
  if (path.startsWith('/stac/')) return jsonAnswer(200, documents()[path.slice('/stac/'.length)] ?? {})
  if (path.includes('/moved/')) return { status: 302, headers: { location: `${stranger.origin}${path}` } }
  return fileAt(path, headers.range)
}

function fileAt(path: string, range?: string): Answer {
  const body = path.endsWith('.tif') ? geotiff(pattern(300, 200)) : path.endsWith('.png') ? png(256) : `contents of ${path}`
  const type = path.endsWith('.tif') ? 'image/tiff' : path.endsWith('.png') ? 'image/png' : 'application/octet-stream'
  const part = partOf(body, range)
  return part ? { ...part, headers: { ...part.headers, 'content-type': type } } : { status: 416 }
}

/** The documents by name. Everything refers to the archive, but for what belongs to the stranger. */
function documents(): Readonly<Record<string, Json>> {
  const at = (path: string) => `${archive.origin}${path}`
  const schemes = {
    key: scheme.key('x-api-key'),
    token: scheme.key('token', 'query'),
    account: scheme.basic,
    portal: { type: 'openIdConnect', openIdConnectUrl: `${provider.issuer}/.well-known/openid-configuration` },
  }
  const file = (path: string, ref: string, more: Json = {}) => ({
    href: path,
    type: 'application/x-data',
    'auth:refs': [ref],
    ...more,
  })
  const geometry = {
    type: 'Polygon',
    coordinates: [
      [
        [10, 48],
        [13, 48],
        [13, 50],
        [10, 50],
        [10, 48],
      ],
    ],
  }
  const members = { geometry, bbox: [10, 48, 13, 50] }
  const itemOf = (id: string, assets: Json, links: readonly Json[] = []) =>
    item(schemes, assets, { ...members, id, links: [{ rel: 'self', href: at(`/stac/${id}.json`) }, ...links] })
  const cog = { type: 'image/tiff; application=geotiff; profile=cloud-optimized', roles: ['visual'] }
  return {
    'files.json': itemOf('files', {
      thumbnail: file(at('/key/thumbnail.png'), 'key', { type: 'image/png', roles: ['thumbnail'] }),
      account: file(at('/account/a.bin'), 'account', {
        title: 'Of the account',
        alternate: {
          copy: { href: at('/token/copy.bin'), title: 'Copy', 'auth:refs': ['token'], 'alternate:name': 'Copy' },
          mirror: { href: `${stranger.origin}/mirror.bin`, 'alternate:name': 'Mirror' },
        },
      }),
      token: file(at('/token/b.bin'), 'token', { title: 'Of the token' }),
      moved: file(at('/key/moved/c.bin'), 'key', { title: 'Moved' }),
    }),
    'map.json': itemOf('map', { visual: file(at('/account/visual.tif'), 'account', cog) }),
    'tiles.json': itemOf('tiles', {}, [
      { rel: 'xyz', type: 'image/png', href: at('/token/tiles/{z}/{x}/{y}.png'), 'auth:refs': ['token'] },
    ]),
    'foreign.json': itemOf('foreign', {
      thumbnail: file(`${stranger.origin}/key/thumbnail.png`, 'key', { type: 'image/png', roles: ['thumbnail'] }),
      visual: file(`${stranger.origin}/account/visual.tif`, 'account', cog),
    }),
    'portal.json': itemOf('portal', { data: file(at('/portal/d.bin'), 'portal', { title: 'Of the portal' }) }),
  }
}

/** A page that shows an Item, of a person who answers every question. */
async function pageOf(name: string): Promise<Page> {
  const context = await browser().newContext({ acceptDownloads: true })
  const page = await context.newPage()
  page.on('dialog', (dialog) => {
    const [, answer = ''] = Object.entries(ANSWERS).find(([word]) => dialog.message().startsWith(word)) ?? []
    void dialog.accept(answer)
  })
  await page.goto(`${site.origin}/external/http:/${new URL(archive.origin).host}/stac/${name}.json`)
  await page.getByRole('heading', { level: 1 }).filter({ hasText: name }).waitFor()
  return page
}

const asked = (path: string) =>
  archive.exchanges
    .filter(({ request }) => request.method !== 'OPTIONS' && request.path.startsWith(path))
    .map(({ answer }) => answer.status)

/** Returns the part of the page for an asset, opened. */
async function opened(page: Page, title: string): Promise<Locator> {
  const button = page.getByRole('button', { name: title }).first()
  await button.waitFor()
  if ((await button.getAttribute('aria-expanded')) !== 'true') await button.click()
  return page.locator('.asset', { hasText: title })
}

/** Downloads a file: its contents. */
async function downloaded(page: Page, part: Locator): Promise<string> {
  const download = page.waitForEvent('download')
  await part.getByText('Download', { exact: true }).locator('visible=true').first().click()
  return readFileSync(await (await download).path(), 'utf8')
}

describe('STAC Browser', () => {
  it('has fewer than 40 changed lines', () => {
    const patch = readFileSync(PATCH, 'utf8')
    const lines = (sign: string) => patch.split('\n').filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3))).length
    expect(lines('+')).toBeGreaterThan(10)
    expect(Math.max(lines('+'), lines('-'))).toBeLessThan(40)
    expect(built?.version).toMatch(PATCH.includes('4.0') ? /^4\./ : /^[5-9]\./)
  })

  it('shows a protected document and its image', async () => {
    const page = await pageOf('files')
    await expect.poll(() => asked('/key/thumbnail.png'), { timeout: 10_000 }).toContain(200)
    const width = () => page.evaluate(() => Math.max(0, ...[...document.querySelectorAll('img')].map((image) => image.naturalWidth)))
    await expect.poll(width, { timeout: 10_000 }).toBe(256)
    expect(new Set(asked('/stac/files.json'))).toEqual(new Set([200]))
    await page.context().close()
  })

  it('downloads files of three schemes of one host, and an alternate', async () => {
    const page = await pageOf('files')
    const ofAccount = await opened(page, 'Of the account')
    expect(await downloaded(page, ofAccount)).toBe('contents of /account/a.bin')
    await ofAccount.getByRole('tab', { name: 'Copy' }).click()
    expect(await downloaded(page, ofAccount)).toBe('contents of /token/copy.bin')
    expect(await downloaded(page, await opened(page, 'Of the token'))).toBe('contents of /token/b.bin')
    await page.context().close()
  })

  it('shows a GeoTIFF and tiles on its maps', async () => {
    const page = await pageOf('map')
    await expect.poll(() => asked('/account/visual.tif'), { timeout: 10_000 }).toContain(206)
    await page.context().close()
    const tiles = await pageOf('tiles')
    await expect.poll(() => asked('/token/tiles/'), { timeout: 10_000 }).toContain(200)
    await tiles.context().close()
    expect(new Set([...asked('/account/visual.tif'), ...asked('/token/tiles/')])).toEqual(new Set([200, 206]))
  })

  it('logs in with OpenID Connect where a file needs it', async () => {
    const page = await pageOf('portal')
    await (await opened(page, 'Of the portal')).getByText('Authentication required').click()
    await agree(page)
    await page.getByRole('heading', { level: 1 }).filter({ hasText: 'portal' }).waitFor()
    expect(await downloaded(page, await opened(page, 'Of the portal'))).toBe('contents of /portal/d.bin')
    expect(tokens.size).toBeGreaterThan(0)
    await page.context().close()
  })

  it('shows a page after a login was refused', async () => {
    const page = await pageOf('portal')
    await (await opened(page, 'Of the portal')).getByText('Authentication required').click()
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.waitForURL(`${site.origin}/`)
    await page.locator('#stac-browser h1, #stac-browser .select-data-source, #stac-browser header').first().waitFor()
    await page.context().close()
  })

  it('sends nothing to other hosts', async () => {
    await (await pageOf('foreign')).waitForTimeout(500)
    const page = await pageOf('files')
    await (await opened(page, 'Moved')).getByText('Download', { exact: true }).locator('visible=true').first().click()
    await expect.poll(() => asked('/key/moved/'), { timeout: 10_000 }).toContain(302)
    await page.waitForTimeout(300)
    const received = JSON.stringify(stranger.exchanges.map(({ request }) => [request.target, request.headers, request.body]))
    for (const secret of [...SECRETS, ...tokens]) expect(received).not.toContain(secret)
    expect(stranger.exchanges.filter(({ request }) => request.headers['x-api-key'] ?? request.headers.authorization)).toEqual([])
  })
})
