/**
 * Takes the pictures that pages show from the real pages. With `PICTURES` it writes them into that folder: `npm run docs` passes `docs`. Ports
 * are replaced, so that a picture changes only when its page does.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { projectFiles } from '../architecture/files.ts'
import { type CatalogPage, file, giveCredential, startCatalogPage, visit } from './catalog-page.ts'
import { useChromium } from './chromium.ts'

const browser = useChromium()
const SIZE = { width: 1280, height: 1110 }

let site: CatalogPage
beforeAll(async () => {
  site = await startCatalogPage()
})
afterAll(() => site.close())

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

const PICTURES: Readonly<Record<string, () => Promise<Buffer>>> = { 'catalog-browser.png': catalogBrowser }

it.each(Object.keys(PICTURES))(
  '%s is taken from the page',
  async (name) => {
    const picture = await (PICTURES[name] as () => Promise<Buffer>)()
    expect([picture.readUInt32BE(16), picture.readUInt32BE(20)]).toEqual([SIZE.width, SIZE.height])
    // An empty page has less than a tenth of that.
    expect(picture.length).toBeGreaterThan(100_000)
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
