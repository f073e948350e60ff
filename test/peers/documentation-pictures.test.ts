/**
 * Takes the pictures that pages show from the real pages. With `PICTURES` it writes them into that folder: `npm run docs` passes `docs`. Ports
 * are replaced, so that a picture changes only when its page does.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { projectFiles } from '../architecture/files.ts'
import type { AnsweringServer } from '../servers/answering-server.ts'
import { type CatalogPage, file, giveCredential, startCatalogPage, visit } from './catalog-page.ts'
import { useChromium } from './chromium.ts'
import { itemOf, openPage, show, startElementSite } from './element-page.ts'

const browser = useChromium()
const SIZE = { width: 1280, height: 1110 }

let site: CatalogPage
let elements: AnsweringServer
beforeAll(async () => {
  ;[site, elements] = await Promise.all([startCatalogPage(), startElementSite()])
})
afterAll(() => Promise.all([site.close(), elements.close()]))

/** Takes a Zarr array behind a key, read. */
async function catalogBrowser(): Promise<Buffer> {
  const { page, context } = await visit(site, browser(), 'models/climate.json')
  await page.setViewportSize(SIZE)
  await giveCredential(page, 'temperature', { Key: site.secrets.key })
  await file(page, 'temperature').getByRole('button', { name: 'Read the array' }).click()
  await file(page, 'temperature').getByText('Shape month 12').waitFor()
  await withoutPorts(page)
  await page.evaluate(() => scrollTo(0, 0))
  const picture = await page.screenshot({ animations: 'disabled', caret: 'hide' })
  await context.close()
  return picture
}

/** Takes `<stac-auth>` when a key was typed and its hosts are asked for; another file needs a login at another site. */
async function element(): Promise<Buffer> {
  const { page } = await openPage(browser(), elements)
  await page.setViewportSize({ width: 720, height: 900 })
  const key = { type: 'apiKey', in: 'header', name: 'x-api-key' }
  const account = { type: 'openIdConnect', openIdConnectUrl: 'https://login.survey.example/.well-known/openid-configuration' }
  const document = itemOf(
    { key, account },
    {
      visual: ['https://data.meridian.example/visual.tif', 'key'],
      preview: ['https://tiles.meridian.example/preview.png', 'key'],
      table: ['https://tables.meridian.example/fields.parquet', 'account'],
    },
  )
  await show(page, { document, properties: { url: 'https://catalog.meridian.example/item.json' } })
  const shown = page.locator('stac-auth')
  await shown.getByRole('button', { name: 'Enter it' }).first().click()
  await shown.getByLabel('Key', { exact: true }).fill('a key')
  await shown.getByRole('button', { name: 'Continue' }).first().click()
  await shown.getByText('Where may it be sent?').waitFor()
  const picture = await shown.screenshot({ animations: 'disabled', caret: 'hide' })
  await page.context().close()
  return picture
}

/** Shows 8080 for the port of each server. */
async function withoutPorts(page: Page): Promise<void> {
  await page.evaluate(() => {
    const shown = (text: string) => text.replace(/127\.0\.0\.1([:-])\d+/g, '127.0.0.1$18080')
    const replaceIn = (root: Node) => {
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT)
      for (let node: Node | null = root; node; node = walker.nextNode()) {
        if (node instanceof Text) node.data = shown(node.data)
        else if (node instanceof HTMLInputElement) node.value = shown(node.value)
        else if (node instanceof Element && node.shadowRoot) replaceIn(node.shadowRoot)
      }
    }
    replaceIn(document.body)
  })
}

/** By name, with the fewest bytes: an empty page has less than a tenth of that. */
const PICTURES = {
  'catalog-browser.png': { taken: catalogBrowser, least: 100_000, width: SIZE.width },
  'element.png': { taken: element, least: 15_000, width: 704 },
}

it.each(Object.entries(PICTURES))(
  '%s is taken from the page',
  async (name, { taken, least, width }) => {
    const picture = await taken()
    expect(picture.readUInt32BE(16)).toBe(width)
    expect(picture.length).toBeGreaterThan(least)
    if (process.env.PICTURES !== undefined) await writeFile(join(process.env.PICTURES, name), picture)
  },
  90_000,
)

it('each picture of a page in docs is taken here or drawn by a script', () => {
  const pages = projectFiles().filter(({ path }) => /^README\.md$|^docs\/.*\.md$/.test(path))
  const shown = new Set(
    pages.flatMap(({ text }) => [...text.matchAll(/!\[[^\]]+\]\((?:docs\/)?([\w-]+\.png)\)/g)].map(([, name = '']) => name)),
  )
  expect([...shown]).toEqual(Object.keys(PICTURES))
})
