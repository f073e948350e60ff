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
import { type BuiltBrowser, buildStacBrowser, PATCH, PREFIX } from './stac-browser-build.ts'

const browser = useChromium()
/** What a person types when the panel asks. */
const ANSWERS = { Key: 'right-key-of-the-api', Token: 'right token+of/archive', Password: 'right-password' } as const
const SECRETS = [ANSWERS.Key, ANSWERS.Token, encodeURIComponent(ANSWERS.Token), Buffer.from(`guest:${ANSWERS.Password}`).toString('base64')]

let built: BuiltBrowser | undefined
let site: AnsweringServer
let provider: AuthorizationServer
let mission: AuthorizationServer
let archive: AnsweringServer
let stranger: AnsweringServer
/** The tokens that files of each provider were requested with. */
const tokens = { portal: new Set<string>(), mission: new Set<string>() }

beforeAll(async () => {
  site = await startAnswering(({ path }) => {
    const file = built?.files[path.replace(PREFIX, '/')] ?? built?.files['/index.html']
    if (!file || !path.startsWith(PREFIX)) return { status: 404 }
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
  const client = {
    client_id: 'stac-browser',
    token_endpoint_auth_method: 'none',
    application_type: 'native' as const,
    redirect_uris: [`http://127.0.0.1${PREFIX}auth`, `http://127.0.0.1${PREFIX}`],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    scope: 'openid offline_access read',
  }
  provider = await startAuthorizationServer({ pages: site.origin, clients: [client] })
  mission = await startAuthorizationServer({ pages: site.origin, clients: [client] })
  // Without the registry of npm the tests are skipped, unless they are required.
  built = await buildStacBrowser().catch((error: unknown) => {
    if (process.env.PEERS === 'required') throw error
    return undefined
  })
}, 400_000)
beforeEach(({ skip }) => {
  if (!built) skip('STAC Browser could not be installed and built')
})
afterAll(() => Promise.all([site.close(), archive.close(), stranger.close(), provider.close(), mission.close()]))

/** The hosts in the credentials of the example, and those of the tests in their place. */
const hosts = (): readonly (readonly [example: string, test: string])[] => [
  ['https://api.example/stac/', `${archive.origin}/stac/`],
  ['https://data.example/', `${archive.origin}/`],
  ['https://identity.example/', provider.issuer],
  ['https://login.mission.example/', mission.issuer],
]

/** Five schemes on one host: the first folder says which one opens a file. Documents need the key, except those in `open`. */
const GUARDS: Readonly<Record<string, Guard>> = {
  stac: keyGuard('header', 'x-api-key', ANSWERS.Key),
  key: keyGuard('header', 'x-api-key', ANSWERS.Key),
  token: keyGuard('query', 'token', ANSWERS.Token),
  account: basicGuard('guest', ANSWERS.Password),
  portal: bearerGuard((text) => tokens.portal.add(text) && text.length > 10),
  mission: bearerGuard((text) => tokens.mission.add(text) && text.length > 10),
}

function answerTo({ path, headers }: Inquiry): Answer {
  const [, name] = /^\/(?:stac|open)\/(.+)/.exec(path) ?? []
  if (name !== undefined) return jsonAnswer(200, documents()[name] ?? {})
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
  const login = ({ issuer }: AuthorizationServer) => ({
    type: 'openIdConnect',
    openIdConnectUrl: `${issuer}/.well-known/openid-configuration`,
  })
  const schemes = {
    key: scheme.key('x-api-key'),
    token: scheme.key('token', 'query'),
    account: scheme.basic,
    portal: login(provider),
    mission: login(mission),
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
    'public.json': itemOf('public', { thumbnail: file(at('/key/public.png'), 'key', { type: 'image/png', roles: ['thumbnail'] }) }),
    'map.json': itemOf('map', { visual: file(at('/account/visual.tif'), 'account', { ...cog, title: 'Picture' }) }),
    'tiles.json': itemOf('tiles', {}, [
      { rel: 'xyz', type: 'image/png', href: at('/token/tiles/{z}/{x}/{y}.png'), 'auth:refs': ['token'] },
    ]),
    'foreign.json': itemOf('foreign', {
      thumbnail: file(`${stranger.origin}/key/thumbnail.png`, 'key', { type: 'image/png', roles: ['thumbnail'] }),
      visual: file(`${stranger.origin}/account/visual.tif`, 'account', cog),
    }),
    'portal.json': itemOf('portal', {
      data: file(at('/portal/d.bin'), 'portal', { title: 'Of the portal' }),
      other: file(at('/mission/e.bin'), 'mission', { title: 'Of the mission' }),
    }),
  }
}

/** A page of a new person, at a document. No test agrees to a dialog of the browser. */
async function pageAt(path: string, historyMode: 'hash' | 'history' = 'history'): Promise<Page> {
  const context = await browser().newContext({ acceptDownloads: true })
  await context.addInitScript((mode) => Object.assign(globalThis, { STAC_BROWSER_CONFIG: { historyMode: mode } }), historyMode)
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  await page.goto(`${site.origin}${PREFIX}${historyMode === 'hash' ? '#/' : ''}external/http:/${new URL(archive.origin).host}${path}`)
  return page
}

const panel = (page: Page) => page.locator('stac-auth')

/** Types a secret into the panel, and agrees to send it wherever the page proposes. */
async function give(page: Page, secret: string): Promise<void> {
  await panel(page).getByRole('button', { name: 'Enter it', exact: true }).first().click()
  await panel(page).locator('input[type=password]').fill(secret)
  await panel(page).getByRole('button', { name: 'Continue', exact: true }).click()
  const allow = panel(page).getByRole('button', { name: 'Allow', exact: true })
  await allow.waitFor()
  for (const box of await panel(page).getByRole('checkbox').all()) await box.check()
  await allow.click()
}

const shown = (page: Page, name: string) => page.getByRole('heading', { level: 1 }).filter({ hasText: name }).waitFor()

/** A page that shows an Item, for which the key was typed. */
async function pageOf(name: string, historyMode?: 'hash'): Promise<Page> {
  const page = await pageAt(`/stac/${name}.json`, historyMode)
  await give(page, ANSWERS.Key)
  await shown(page, name)
  return page
}

/** Asks for what an asset lacks. */
async function wanted(page: Page, title: string): Promise<void> {
  await (await opened(page, title)).getByText('Authentication required').locator('visible=true').first().click()
}

/** Logs in in the window that the panel opens. */
async function logIn(page: Page): Promise<void> {
  const button = panel(page).getByRole('button', { name: 'Log in in a window' })
  const [popup] = await Promise.all([page.context().waitForEvent('page'), button.click()])
  await popup.locator('[type=submit]').waitFor()
  // Both providers are on one host, so that they have the same cookies: the second one knows the person.
  if ((await popup.locator('input[name=login]').count()) > 0) await agree(popup)
  else await popup.locator('[type=submit]').click()
  await button.waitFor({ state: 'detached' })
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

  it('shows a protected document and its image once the key was typed, without leaving the page', async () => {
    const page = await pageAt('/stac/files.json')
    await page.evaluate(() => Object.assign(globalThis, { isSame: true }))
    await give(page, ANSWERS.Key)
    await shown(page, 'files')
    await expect.poll(() => asked('/key/thumbnail.png'), { timeout: 10_000 }).toContain(200)
    const width = () => page.evaluate(() => Math.max(0, ...[...document.querySelectorAll('img')].map((image) => image.naturalWidth)))
    await expect.poll(width, { timeout: 10_000 }).toBe(256)
    expect(await page.evaluate(() => Reflect.get(globalThis, 'isSame'))).toBe(true)
    expect(await panel(page).isVisible()).toBe(false)
  })

  it('asks again for a mistyped key, says why, and goes on with the right one', async () => {
    const page = await pageAt('/stac/files.json')
    await give(page, 'mistyped')
    await panel(page).getByText('Refused', { exact: true }).waitFor()
    await panel(page).getByRole('button', { name: 'Enter it again' }).click()
    await panel(page).locator('input[type=password]').fill(ANSWERS.Key)
    await panel(page).getByRole('button', { name: 'Continue', exact: true }).click()
    await shown(page, 'files')
  })

  it('shows a public document to a person who continues without a key that was refused', async () => {
    const before = asked('/open/public.json').length
    const page = await pageAt('/open/public.json')
    await shown(page, 'public')
    expect(asked('/open/public.json').slice(before)).toEqual([200])
    await give(page, 'mistyped')
    await panel(page).getByRole('button', { name: 'Continue without it' }).click()
    await panel(page).waitFor({ state: 'hidden' })
    await shown(page, 'public')
    await page.waitForTimeout(500)
    expect(await panel(page).isVisible()).toBe(false)
    await page.getByText('Access is needed').click()
    await panel(page).getByRole('button', { name: 'Enter it', exact: true }).waitFor()
  })

  it('downloads files of three schemes of one host, and an alternate', async () => {
    const page = await pageOf('files')
    await wanted(page, 'Of the account')
    await give(page, ANSWERS.Password)
    expect(await downloaded(page, await opened(page, 'Of the account'))).toBe('contents of /account/a.bin')
    await (await opened(page, 'Of the account')).getByRole('tab', { name: 'Copy' }).click()
    await wanted(page, 'Of the account')
    await give(page, ANSWERS.Token)
    const ofAccount = await opened(page, 'Of the account')
    await ofAccount.getByRole('tab', { name: 'Copy' }).click()
    expect(await downloaded(page, ofAccount)).toBe('contents of /token/copy.bin')
    expect(await downloaded(page, await opened(page, 'Of the token'))).toBe('contents of /token/b.bin')
  })

  it('shows a GeoTIFF and tiles on its maps', async () => {
    const page = await pageOf('map')
    await wanted(page, 'Picture')
    await give(page, ANSWERS.Password)
    await expect.poll(() => asked('/account/visual.tif'), { timeout: 10_000 }).toContain(206)
    const tiles = await pageOf('tiles')
    await give(tiles, ANSWERS.Token)
    await expect.poll(() => asked('/token/tiles/'), { timeout: 10_000 }).toContain(200)
  })

  it('logs in at two providers in windows, and sends each file the token of its own one', async () => {
    const page = await pageOf('portal')
    for (const title of ['Of the portal', 'Of the mission']) {
      await wanted(page, title)
      await logIn(page)
      expect(await downloaded(page, await opened(page, title))).toMatch(/^contents of/)
    }
    expect(tokens.mission.size).toBeGreaterThan(0)
    expect([...tokens.mission].filter((token) => tokens.portal.has(token))).toEqual([])
    expect(page.url()).toContain(`${PREFIX}external/`)
  })

  it.each(['history', 'hash'] as const)('keeps a login over a redirect and a reload, with %s history below a prefix', async (mode) => {
    const page = await pageOf('portal', mode === 'hash' ? mode : undefined)
    await wanted(page, 'Of the portal')
    const url = page.url()
    await panel(page).getByRole('button', { name: 'Log in on this page' }).click()
    await agree(page)
    for (const isReloaded of [false, true]) {
      if (isReloaded) await page.reload()
      await give(page, ANSWERS.Key)
      await shown(page, 'portal')
      expect(page.url()).toBe(url)
      expect(await downloaded(page, await opened(page, 'Of the portal'))).toBe('contents of /portal/d.bin')
    }
    await page.locator('summary', { hasText: 'Access' }).click()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByText('Access is needed').click()
    await give(page, ANSWERS.Key)
    await shown(page, 'portal')
    await (await opened(page, 'Of the portal')).getByText('Authentication required').locator('visible=true').first().waitFor()
  })

  it('shows its start page after a login was refused', async () => {
    const page = await pageOf('portal')
    await wanted(page, 'Of the portal')
    await panel(page).getByRole('button', { name: 'Log in on this page' }).click()
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.waitForURL(site.origin + PREFIX)
    await page.locator('#stac-browser h1, #stac-browser .select-data-source, #stac-browser header').first().waitFor()
  })

  it('sends nothing to other hosts', async () => {
    await (await pageOf('foreign')).waitForTimeout(500)
    const page = await pageOf('files')
    await (await opened(page, 'Moved')).getByText('Download', { exact: true }).locator('visible=true').first().click()
    await expect.poll(() => asked('/key/moved/'), { timeout: 10_000 }).toContain(302)
    await page.waitForTimeout(300)
    const received = JSON.stringify(stranger.exchanges.map(({ request }) => [request.target, request.headers, request.body]))
    for (const secret of [...SECRETS, ...tokens.portal, ...tokens.mission]) expect(received).not.toContain(secret)
    expect(stranger.exchanges.filter(({ request }) => request.headers['x-api-key'] ?? request.headers.authorization)).toEqual([])
  })
})
