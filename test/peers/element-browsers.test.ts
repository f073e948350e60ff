/** `<stac-auth>` in Firefox and WebKit: a form, its consent, the request, and a removed credential; no script of the page sees the secret. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnsweringServer } from '../servers/answering-server.ts'
import { itemOf, startElementSite } from './element-page.ts'
import { usePages } from './in-page.ts'

let site: AnsweringServer
beforeAll(async () => {
  site = await startElementSite()
}, 60_000)
afterAll(() => site.close())

const KEY = { type: 'apiKey', in: 'header', name: 'X-API-Key' }
const document = itemOf({ key: KEY }, { a: ['https://data.catalog.example/a', 'key'], b: ['https://tiles.catalog.example/b', 'key'] })

/** In the page: what is in the element, by its words. */
const ROOT = 'elementPage.element.shadowRoot'
const press = (words: string) =>
  `[...${ROOT}.querySelectorAll('button')].find(({ textContent }) => textContent.includes('${words}')).click()`
const shown = `${ROOT}.textContent`

describe.each(usePages('Firefox', 'WebKit'))('<stac-auth> in %s', (_name, open) => {
  it('asks for a key, sends it where it was allowed to go, and forgets it', async () => {
    const page = await open()
    await page.goto(site.origin)
    expect(await page.run(`elementPage.show(${JSON.stringify({ document })})`)).toBe('needed')
    await page.run(press('Enter it'))
    await expect.poll(() => page.run(`${ROOT}.querySelector('input[type=password]') !== null`)).toBe(true)
    await page.run(`(${ROOT}.querySelector('input[type=password]').value = 'top-secret', ${press('Continue')})`)
    await expect.poll(() => page.run(shown)).toContain('Where may it be sent?')
    expect(await page.run(`${ROOT}.innerHTML`)).not.toContain('top-secret')
    // Nothing is chosen beforehand, and consent without a choice is none.
    expect(await page.run(`[...${ROOT}.querySelectorAll('input[type=checkbox]')].map(({ checked }) => checked)`)).toEqual([false, false])
    await page.run(press('Allow'))
    await expect.poll(() => page.run(shown)).toContain('Select at least one.')
    await page.run(`(${ROOT}.querySelector('input[type=checkbox]').click(), ${press('Allow')})`)
    await expect.poll(() => page.run(`elementPage.headers('a')`)).toEqual({ 'x-api-key': 'top-secret' })
    // The other host was not allowed.
    expect(await page.run(`elementPage.headers('b')`)).toEqual({})
    expect(await page.run(shown)).toContain('Not allowed yet')
    await expect
      .poll(() => page.run(`[...${ROOT}.querySelectorAll('button')].some(({ textContent }) => textContent === 'Remove')`))
      .toBe(true)
    await page.run(press('Remove'))
    await expect.poll(() => page.run(`elementPage.headers('a')`)).toEqual({})
    // WebKit asks for the icon of a site by itself.
    expect(await page.run("elementPage.violations.filter((one) => !one.endsWith('/favicon.ico'))")).toEqual([])
  }, 60_000)
})
