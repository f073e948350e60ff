/** The documentation site as people see it: wide and on a phone, in both colour schemes, without JavaScript. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { Browser, BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { barriers } from './catalog-page.ts'
import { useChromium } from './chromium.ts'

const browser = useChromium()
const root = new URL('../..', import.meta.url).pathname
const html = join(root, 'site/dist/html')
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
}

/** One of each kind: start, concepts, guide with tables, generated reference, provider, rule, API, pages of the repository. */
const PAGES = [
  'index',
  'publish',
  'concepts',
  'download',
  'schemes',
  'errors',
  'providers',
  'rules/dangling-ref',
  'api/index',
  'contributing',
  'security',
]

let site: AnsweringServer
beforeAll(async () => {
  if (!existsSync(join(html, 'index.html'))) execFileSync('npx', ['tsx', 'scripts/docs.ts'], { cwd: root, stdio: 'ignore' })
  const files = new Set(readdirSync(html, { recursive: true, encoding: 'utf8' }))
  site = await startAnswering(({ path }) => {
    const name = decodeURIComponent(path.slice(1))
    if (!files.has(name)) return { status: 404 }
    return { status: 200, headers: { 'content-type': TYPES[extname(name)] ?? 'text/plain' }, body: readFileSync(join(html, name)) }
  })
}, 240_000)
afterAll(() => site?.close())

/** A context that notes what is requested from elsewhere, or is not there. */
async function open(options: Parameters<Browser['newContext']>[0]): Promise<{ context: BrowserContext; failed: string[] }> {
  const context = await browser().newContext(options)
  const failed: string[] = []
  context.on('response', (response) => {
    if (response.status() >= 400) failed.push(`${response.status()} ${response.url()}`)
  })
  context.on('request', (request) => {
    if (!request.url().startsWith(site.origin)) failed.push(`elsewhere: ${request.url()}`)
  })
  return { context, failed }
}

// What fits does not depend on the colours.
it.each([
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 390 },
] as const)(
  'axe finds nothing, and no page is wider than the screen: $colorScheme, $width pixels',
  async ({ colorScheme, width }) => {
    const { context, failed } = await open({ colorScheme, viewport: { width, height: 900 }, reducedMotion: 'reduce' })
    const found: Record<string, readonly string[]> = {}
    const page = await context.newPage()
    for (const name of PAGES) {
      await page.goto(`${site.origin}/${name}.html`, { waitUntil: 'load' })
      await page.locator('.VPDoc h1, .VPHome h1').first().waitFor()
      const barred = await barriers(page)
      const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth + 1')
      if (barred.length > 0 || isWide) found[name] = isWide ? ['wider than the screen', ...barred] : barred
    }
    await context.close()
    expect(found).toEqual({})
    expect(failed).toEqual([])
  },
  120_000,
)

it('shows text and the whole menu without JavaScript', async () => {
  const { context } = await open({ javaScriptEnabled: false, viewport: { width: 1280, height: 900 } })
  const page = await context.newPage()
  await page.goto(`${site.origin}/concepts.html`)
  expect((await page.locator('main').innerText()).length).toBeGreaterThan(2000)
  const links = await page.locator('.VPSidebar a').evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
  expect(links.length).toBeGreaterThan(80)
  expect(links.filter((link) => link.startsWith('/') && !existsSync(join(html, link)))).toEqual([])
  await context.close()
})

it('finds a page by its search', async () => {
  const { context, failed } = await open({ viewport: { width: 1280, height: 900 } })
  const page = await context.newPage()
  await page.goto(`${site.origin}/index.html`)
  await page.getByRole('button', { name: 'Search' }).first().click()
  await page.locator('input[type=search]').fill('CREDENTIAL_TARGET_UNTRUSTED')
  await page.locator('.results a[href*="errors"]').first().waitFor()
  await context.close()
  expect(failed).toEqual([])
})
