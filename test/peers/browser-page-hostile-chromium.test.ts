/** A hostile catalog at the example page: whoever has logged in and given keys meets entries that want them for another host. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  access,
  type CatalogPage,
  file,
  giveCredential,
  logInWithWindow,
  openDocument,
  startCatalogPage,
  type Visitor,
  visit,
} from './catalog-page.ts'
import { useChromium } from './chromium.ts'

const browser = useChromium()
const LONG = 90_000

let site: CatalogPage
let visitor: Visitor
let page: Page
beforeAll(async () => {
  site = await startCatalogPage()
})
afterAll(() => site.close())

/** Has a login and a key for the archive. */
async function equipped(): Promise<void> {
  visitor = await visit(site, browser(), 'scenes/coast.json')
  page = visitor.page
  await giveCredential(page, 'visual', { Key: site.secrets.key })
  await openDocument(site, page, 'scenes/lake.json')
  await giveCredential(page, 'visual', {})
  await logInWithWindow(visitor)
  await file(page, 'visual').getByText('You are logged in.').waitFor()
}

/** Presses every button of the files, as somebody does who wants to see them. */
async function pressAll(): Promise<void> {
  for (const button of await page.locator('.asset button, .picture button, stac-auth button').all()) {
    await button.click()
    await page.keyboard.press('Escape')
  }
}

/** The lengths of the texts in the page, also in shadow roots, that nothing has shortened. */
function longTexts(): readonly number[] {
  const textsIn = (node: Node): readonly number[] => {
    if (node instanceof Text) return node.data.length > 5000 ? [node.data.length] : []
    const roots = node instanceof Element && node.shadowRoot ? [node.shadowRoot] : []
    return [...roots, ...node.childNodes].flatMap(textsIn)
  }
  return textsIn(document.body)
}

const codes = (key: string) => file(page, key).locator('.request-facts code').allTextContents()

describe('a hostile catalog', () => {
  it(
    'gets nothing: not by look-alike files, not by another login, not by disguised URLs',
    async () => {
      await equipped()
      await openDocument(site, page, 'suspicious/look-alike.json')
      await expect.poll(() => codes('visual')).toContain('CREDENTIAL_TARGET_UNTRUSTED')
      await expect.poll(() => codes('thumbnail')).toContain('CREDENTIAL_TARGET_UNTRUSTED')
      for (const key of ['visual', 'thumbnail']) {
        expect(await file(page, key).textContent()).toContain(`is not sent to ${new URL(site.evil.origin).host} without your consent.`)
        await file(page, key).getByRole('button', { name: 'Decide' }).click()
        await page.keyboard.press('Enter')
        await access(page).getByText(`${site.evil.origin}/`).first().waitFor()
        // Nothing is allowed by going back.
        await access(page).getByRole('button', { name: 'Back' }).click()
      }

      await openDocument(site, page, 'suspicious/other-login.json')
      await expect.poll(() => codes('visual')).toContain('CREDENTIAL_ENDPOINT_UNTRUSTED')
      await pressAll()

      await openDocument(site, page, 'suspicious/disguise.json')
      await expect.poll(() => codes('visual')).toContain('URL_HAS_USERINFO')
      await expect.poll(() => codes('script')).toContain('URL_SCHEME_FORBIDDEN')
      await expect.poll(() => codes('session')).toContain('UNSUPPORTED_IN_BROWSER')
      await pressAll()
      expect(await page.locator('main a[href^="javascript:"], main [src^="javascript:"]').count()).toBe(0)

      expect(site.evil.exchanges).toEqual([])
      expect(site.evil.connections).toBe(0)
      expect(visitor.complaints).toEqual([])
    },
    LONG,
  )

  it(
    'a link of a hostile catalog without references sends no key; a person who types its URL may',
    async () => {
      visitor = await visit(site, browser(), 'scenes/coast.json')
      page = visitor.page
      await giveCredential(page, 'visual', { Key: site.secrets.key })
      const address = `${site.archive.origin}/keys/coast.tif`
      const feature = {
        type: 'Feature',
        stac_version: '1.1.0',
        id: 'bait',
        properties: {},
        assets: {},
        links: [{ rel: 'self', href: address }],
      }
      const list = { type: 'FeatureCollection', title: 'Baits', features: [feature], links: [] }
      await page
        .context()
        .route(`${site.catalog.origin}/baits.json`, (route) =>
          route.fulfill({ json: list, headers: { 'access-control-allow-origin': '*' } }),
        )
      await openDocument(site, page, 'baits.json')
      const keys = () => site.archive.exchanges.filter(({ request }) => request.path === '/keys/coast.tif' && request.method === 'GET')
      const before = keys().length
      await page.getByRole('link', { name: 'bait' }).click()
      await page.getByText(/HTTP_40[13]/).waitFor({ state: 'attached' })
      expect(
        keys()
          .slice(before)
          .map(({ request }) => request.headers['x-archive-key']),
      ).toEqual([undefined])
      await page.fill('#address', address)
      await page.click('#open button')
      await page.getByText('DOC_NOT_JSON').waitFor({ state: 'attached' })
      expect(keys().at(-1)?.request.headers['x-archive-key']).toBe(site.secrets.key)
      expect(visitor.complaints).toEqual([])
    },
    LONG,
  )

  it('a hostile catalog is the only one that can tell: the same host answers everybody who asks', async () => {
    expect((await fetch(`${site.evil.origin}/members/lake.png`)).status).toBe(200)
    expect((await fetch(`${site.archive.origin}/members/lake.png`)).status).toBe(401)
  })

  it(
    'a hostile API gets no key by its search, by a next page, or by a search beside the typed URL',
    async () => {
      visitor = await visit(site, browser(), 'api/members')
      page = visitor.page
      await page.getByRole('button', { name: 'Give a credential' }).click()
      await page.keyboard.press('Enter')
      await access(page).getByLabel('Key', { exact: true }).fill(site.secrets.key)
      await page.keyboard.press('Enter')
      await access(page).getByRole('button', { name: 'Allow', exact: true }).click()
      await page.getByText('You have one.').waitFor()
      const schemes = { archive: { type: 'apiKey', in: 'header', name: 'X-Archive-Key' } }
      const api = (href: string, refs: object = {}) => ({
        type: 'Catalog',
        stac_version: '1.1.0',
        id: 'bait',
        description: 'bait',
        'auth:schemes': schemes,
        links: [{ rel: 'search', href, type: 'application/geo+json', ...refs }],
      })
      const serve = (path: string, json: object) =>
        page
          .context()
          .route(`${site.catalog.origin}/${path}`, (route) => route.fulfill({ json, headers: { 'access-control-allow-origin': '*' } }))
      const search = () => page.getByRole('button', { name: 'Search', exact: true }).click()
      const evil = `${site.evil.origin}/members/report.txt`
      const before = site.evil.exchanges.length

      await serve('bait-refs', api(evil, { 'auth:refs': ['archive'] }))
      await openDocument(site, page, 'bait-refs')
      await page.getByText(`is not sent to ${new URL(evil).host} without your consent.`).waitFor()
      await search()
      await page.locator('.results .refusal').waitFor()
      const keys = () => site.evil.exchanges.slice(before).map(({ request }) => request.headers['x-archive-key'])
      // Public documents may be read there, without the key.
      expect(keys()).toEqual([undefined])

      await serve('bait-next', api('/bait-list', { 'auth:refs': ['archive'] }))
      await serve('bait-list?limit=20', { type: 'FeatureCollection', features: [], links: [{ rel: 'next', href: evil }] })
      await openDocument(site, page, 'bait-next')
      await search()
      await page.getByRole('button', { name: 'Next page' }).click()
      await page.locator('.results .refusal').waitFor()
      expect(keys()).toEqual([undefined, undefined])

      // Without references, only what is below the URL that was typed is requested as if it were typed itself.
      const members = () =>
        site.catalog.exchanges.filter(({ request }) => request.path === '/api/members/search' && request.method === 'GET')
      for (const [path, status] of [
        ['elsewhere', 401],
        ['api', 200],
      ] as const) {
        await serve(path, api('/api/members/search'))
        const count = members().length
        await openDocument(site, page, path)
        await search()
        await expect.poll(() => members().length).toBe(count + 1)
        expect(members().at(-1)?.answer.status).toBe(status)
      }
      expect(site.evil.exchanges.some(({ request }) => JSON.stringify(request).includes(site.secrets.key))).toBe(false)
      expect(visitor.complaints).toEqual([])
    },
    LONG,
  )

  it(
    'pushes nothing out of sight with long words',
    async () => {
      visitor = await visit(site, browser())
      page = visitor.page
      const word = 'x'.repeat(400)
      const document = {
        type: 'Feature',
        stac_version: '1.1.0',
        id: word,
        geometry: null,
        properties: { title: word, description: word, 'auth:schemes': { [word]: { type: 'http', scheme: 'basic', description: word } } },
        assets: { [word]: { title: word, href: `https://data.example/${word}`, type: word, 'auth:refs': [word] } },
        links: [],
      }
      await page
        .context()
        .route(`${site.catalog.origin}/long.json`, (route) =>
          route.fulfill({ json: document, headers: { 'access-control-allow-origin': '*' } }),
        )
      await page.setViewportSize({ width: 360, height: 740 })
      await openDocument(site, page, 'long.json')
      await page.getByRole('button', { name: 'Give a credential' }).click()
      await page.keyboard.press('Enter')
      await access(page).getByLabel('User name', { exact: true }).fill('ada')
      await access(page).getByLabel('Password', { exact: true }).fill('any')
      await page.keyboard.press('Enter')
      const wide = (selector: string) => page.locator(selector).evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
      await access(page).getByRole('button', { name: 'Allow', exact: true }).waitFor()
      expect([await wide('html'), await wide('stac-auth [part=panel]')]).toEqual([0, 0])
      expect(await access(page).locator('[part=consent]').getByText('https://data.example/').count()).toBe(1)
    },
    LONG,
  )

  it.each(Object.entries({ Thai: 'กขคงจฉชะาิีุู', Arabic: 'ابتثجحخدذ', Latin: 'abcdefg-/_', joined: '👩‍👩‍👧e\u0301' }))(
    'shows %s words of 50 kB without spaces shortened',
    async (script, letters) => {
      const { page: visited, complaints } = await visit(site, browser())
      await visited.setViewportSize({ width: 360, height: 740 })
      const word = [...letters].join('').repeat(Math.ceil(50_000 / letters.length))
      const document = {
        type: 'Feature',
        stac_version: '1.1.0',
        id: word,
        geometry: null,
        properties: {
          title: word,
          description: word,
          keywords: [word],
          'auth:schemes': { [word]: { type: word, scheme: word, description: word } },
        },
        assets: { [word]: { title: word, href: `https://data.example/${word}`, type: word, roles: [word], 'auth:refs': [word, 'none'] } },
        links: [{ rel: 'child', href: './child.json', title: word }],
      }
      const path = `${script}.json`
      await visited
        .context()
        .route(`${site.catalog.origin}/${path}`, (route) =>
          route.fulfill({ json: document, headers: { 'access-control-allow-origin': '*' } }),
        )
      await visited.reload()
      await visited.waitForSelector('h1')
      await openDocument(site, visited, path)
      await visited.locator('.asset .access').first().waitFor()
      await visited.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))))
      // Where a line of such a word may break takes seconds to find, and so no element has all of it.
      expect(await visited.evaluate(longTexts)).toEqual([])
      expect((await visited.textContent('h1'))?.length).toBeLessThanOrEqual(201)
      expect(complaints).toEqual([])
    },
    LONG,
  )

  it(
    'puts no markup into the page',
    async () => {
      const text = '<img src=x onerror=alert(1)><script>alert(2)</script>'
      visitor = await visit(site, browser())
      page = visitor.page
      const url = `${site.catalog.origin}/markup.json`
      const document = {
        type: 'Catalog',
        stac_version: '1.1.0',
        id: text,
        title: text,
        description: text,
        links: [
          { rel: 'child', href: './a', title: text },
          { rel: 'about', href: 'javascript:alert(3)', title: 'Script' },
          { rel: 'about', href: 'https://elsewhere.example/', title: 'Web' },
        ],
      }
      await page.context().route(url, (route) => route.fulfill({ json: document, headers: { 'access-control-allow-origin': '*' } }))
      await openDocument(site, page, 'markup.json')
      expect(await page.textContent('h1')).toBe(text)
      expect(await page.locator('main img, main script').count()).toBe(0)
      expect(
        await page.locator('.links a').evaluateAll((links) => links.map((link) => [link.textContent, link.getAttribute('rel')])),
      ).toEqual([['Web', 'noreferrer noopener']])
      expect(visitor.complaints).toEqual([])
    },
    LONG,
  )

  it(
    'shows a catalog with odd names, keeps the direction of its own texts, and spans the antimeridian',
    async () => {
      visitor = await visit(site, browser())
      page = visitor.page
      const url = `${site.catalog.origin}/odd.json`
      const document = {
        type: 'Collection',
        stac_version: '1.1.0',
        id: 'odd',
        title: 'Left \u202etfel',
        description: 'odd',
        license: 'other',
        extent: { spatial: { bbox: [[170, -20, -170, 0]] }, temporal: { interval: [[null, null]] } },
        links: [
          { rel: 'child', href: './%zz' },
          { rel: 'child', href: './%E2%80%AEnosj.a' },
          { rel: 'constructor', href: './no-child' },
          { rel: 'child', href: './fine.json' },
        ],
      }
      await page.context().route(url, (route) => route.fulfill({ json: document, headers: { 'access-control-allow-origin': '*' } }))
      await openDocument(site, page, 'odd.json')
      expect(await page.locator('.children a').allTextContents()).toEqual(['%zz', 'nosj.a', 'fine.json'])
      expect(await page.textContent('#status')).toBe('Left  tfel is open')
      await page.locator('.map canvas').waitFor()
      expect(visitor.complaints).toEqual([])
    },
    LONG,
  )
})
