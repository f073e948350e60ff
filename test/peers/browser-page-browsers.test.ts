/** The example page in Firefox and WebKit: a document is opened, a key is given through the element, a protected array is read. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CatalogPage, startCatalogPage } from './catalog-page.ts'
import { usePages } from './in-page.ts'

let site: CatalogPage
beforeAll(async () => {
  site = await startCatalogPage()
}, 60_000)
afterAll(() => site.close())

/** In the page: the card of a file, the tree of the element, and their buttons. */
const CARD = `[...document.querySelectorAll('.asset')].find((card) => card.querySelector('h3 code')?.textContent === 'temperature')`
const ROOT = `document.querySelector('stac-auth')?.shadowRoot`
const buttonIn = (place: string, words: string) =>
  `[...(${place}?.querySelectorAll('button') ?? [])].find(({ textContent }) => textContent === '${words}')`
const press = (place: string, words: string) => `${buttonIn(place, words)}.click()`

describe.each(usePages('Firefox', 'WebKit'))('the example page in %s', (_name, open) => {
  it('reads a protected array after a key was given, and no other server gets the key', async () => {
    const page = await open()
    const eventually = (expression: string) => expect.poll(() => page.run(expression), { timeout: 30_000 }).toBe(true)
    await page.goto(site.url)
    // The page is loaded anew when its service worker takes over.
    await eventually(`navigator.serviceWorker.controller !== null && document.querySelector('h1') !== null`)
    const url = `${site.catalog.origin}/models/climate.json`
    await page.run(`(document.querySelector('#address').value = '${url}', document.querySelector('#open button').click())`)
    await eventually(`${buttonIn(CARD, 'Give a credential')} !== undefined`)
    expect(await page.run(`${CARD}.textContent`)).toContain('This file needs a key')
    await page.run(press(CARD, 'Give a credential'))
    await eventually(`${buttonIn(ROOT, 'Enter it')} !== undefined`)
    await page.run(press(ROOT, 'Enter it'))
    await eventually(`${ROOT}.querySelector('input[type=password]') !== null`)
    await page.run(
      `(document.querySelector('stac-auth').shadowRoot.querySelector('input[type=password]').value = '${site.secrets.key}', ${press(ROOT, 'Continue')})`,
    )
    await eventually(`${buttonIn(ROOT, 'Allow')} !== undefined`)
    await page.run(`(${ROOT}.querySelectorAll('input[type=checkbox]').forEach((box) => box.click()), ${press(ROOT, 'Allow')})`)
    await eventually(`${buttonIn(CARD, 'Read the array')} !== undefined`)
    await page.run(press(CARD, 'Read the array'))
    await eventually(`${CARD}.textContent.includes('Shape month 12 × lat 96 × lon 96; float32')`)
    const carrying = site.archive.exchanges.filter(({ request }) => JSON.stringify(request.headers).includes(site.secrets.key))
    expect(carrying.length).toBeGreaterThan(0)
    expect(carrying.filter(({ request }) => !request.path.startsWith('/keys/'))).toEqual([])
    expect(JSON.stringify(site.catalog.exchanges)).not.toContain(site.secrets.key)
  }, 120_000)
})
