/** The example page without a mouse, without sight, on a phone. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { access, barriers, type CatalogPage, file, giveCredential, openDocument, startCatalogPage, visit } from './catalog-page.ts'
import { useChromium } from './chromium.ts'

const browser = useChromium()
const LONG = 120_000

let site: CatalogPage
beforeAll(async () => {
  site = await startCatalogPage()
})
afterAll(() => site.close())

describe.each(['light', 'dark'] as const)('in %s colours', (colours) => {
  it(
    'axe finds nothing in any state, at three widths',
    async () => {
      const { page } = await visit(site, browser(), '', colours)
      const found: Record<string, readonly string[]> = {}
      const look = async (state: string) => {
        for (const width of [320, 768, 1280]) {
          await page.setViewportSize({ width, height: 844 })
          const barred = await barriers(page)
          if (barred.length > 0) found[`${state}, ${width}`] = barred
        }
        looked++
      }
      let looked = 0
      await look('start')
      await openDocument(site, page, 'catalog.json')
      await look('catalog')
      await openDocument(site, page, 'api/search?limit=5')
      await page.locator('.map canvas').first().waitFor()
      await look('list')
      await openDocument(site, page, 'api/members')
      await page.getByRole('button', { name: 'Search', exact: true }).click()
      await page.locator('.results .refusal').waitFor()
      await look('search')
      await openDocument(site, page, 'scenes/coast.json')
      await page.locator('.map canvas').first().waitFor()
      await page.locator('.request summary').first().click()
      await look('item')
      await access(page).getByRole('button', { name: 'Enter it' }).click()
      await look('form')
      await access(page).getByLabel('Key', { exact: true }).fill(site.secrets.key)
      await page.keyboard.press('Enter')
      await access(page).getByRole('button', { name: 'Allow', exact: true }).waitFor()
      await look('consent')
      await access(page).getByRole('button', { name: 'Allow', exact: true }).click()
      await file(page, 'visual').getByRole('button', { name: 'Draw on the map' }).click()
      await file(page, 'visual').getByText('On the map:').waitFor()
      await page.locator('.picture img').waitFor()
      await look('ready')
      await page.click('#credentials')
      await look('credentials')
      await page.keyboard.press('Escape')
      await openDocument(site, page, 'suspicious/look-alike.json')
      await file(page, 'visual').getByRole('button').first().waitFor()
      await look('look-alike')
      await openDocument(site, page, 'suspicious/disguise.json')
      await page.waitForSelector('.findings .severity')
      await look('hostile')
      await page.fill('#address', `${site.catalog.origin}/nothing.json`)
      await page.keyboard.press('Enter')
      await page.getByText('HTTP_404').waitFor({ state: 'attached' })
      await page.locator('.refusal summary').click()
      await look('failure')
      await openDocument(site, page, 'models/collection.json')
      await look('collection')
      await openDocument(site, page, 'models/climate.json')
      await look('array')
      await page.goto(new URL('callback.html', site.url).href)
      await page.getByText('No page is waiting').waitFor()
      await look('callback')
      expect(found).toEqual({})
      expect(looked).toBe(15)
    },
    LONG,
  )

  it(
    'axe would find one',
    async () => {
      const { page } = await visit(site, browser(), '', colours)
      await page.evaluate(() => document.querySelector('main')?.append(document.createElement('input')))
      expect(await barriers(page)).toContainEqual(expect.stringContaining('label'))
    },
    LONG,
  )
})

describe('with the keyboard alone', () => {
  it(
    'a catalog is opened, walked and asked about',
    async () => {
      const { page } = await visit(site, browser())
      const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim())
      await page.keyboard.press('Tab')
      expect(await focused()).toBe('Skip to the document')
      await page.keyboard.press('Enter')
      await page.keyboard.press('Tab')
      expect(await focused()).toBe('Meridian archive')
      await page.keyboard.press('Enter')
      await page.waitForSelector('.children')
      // The heading of what was opened is read first.
      await expect.poll(focused).toBe('Meridian archive')
      expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1')
      await page.keyboard.press('Tab')
      expect(await focused()).toBe('Scenes')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Scenes' }).waitFor()
      await page.getByRole('link', { name: 'Lake' }).focus()
      await page.keyboard.press('Enter')
      const give = file(page, 'visual').getByRole('button', { name: 'Give a credential' })
      await give.focus()
      await page.keyboard.press('Enter')
      // The focus is at the provider, whose question is the next thing to answer.
      expect(await page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.textContent)).toBe('Continue')
      expect(await page.locator('#status').textContent()).toBe('Lake is open')
    },
    LONG,
  )
})

describe('from the first key to the last', () => {
  it(
    'opens, searches, gives a key, draws a file and removes the key without a mouse',
    async () => {
      const visitor = await visit(site, browser())
      const { page } = visitor
      /** What has the focus, also in a shadow root: its name as far as it is text. */
      const focused = () =>
        page.evaluate(() => {
          const host = document.activeElement
          const one = host?.shadowRoot?.activeElement ?? host
          const label = one instanceof HTMLInputElement ? one.labels?.[0]?.textContent : one?.getAttribute('aria-label')
          return (label ?? one?.textContent ?? '').trim()
        })
      const tabTo = async (name: string | RegExp, key = 'Tab') => {
        for (let steps = 0; steps < 60; steps++) {
          await page.keyboard.press(key)
          const here = await focused()
          if (typeof name === 'string' ? here === name : name.test(here)) return
        }
        throw new Error(`no key leads to ${name}`)
      }
      await tabTo('Meridian API')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Meridian API' }).waitFor()
      await tabTo('Items per page')
      await page.keyboard.press('Control+A')
      await page.keyboard.type('3')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: '3 of 43 items' }).waitFor()
      await tabTo('Coast')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Coast' }).waitFor()
      await expect.poll(focused).toBe('Coast')
      await tabTo('Enter it')
      await page.keyboard.press('Enter')
      await expect.poll(focused).toBe('Key')
      await page.keyboard.type(site.secrets.key)
      await page.keyboard.press('Enter')
      await expect.poll(focused).toBe('Where may it be sent?')
      await tabTo('Allow')
      await page.keyboard.press('Enter')
      await file(page, 'visual').getByText('You have one.').waitFor()
      await tabTo('Draw on the map')
      await page.keyboard.press('Enter')
      await file(page, 'visual').getByText('On the map:').waitFor()
      await tabTo(/^Map of the footprints/)
      const before = await page
        .locator('.map canvas')
        .first()
        .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL())
      await page.keyboard.press('ArrowRight')
      await expect
        .poll(() =>
          page
            .locator('.map canvas')
            .first()
            .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL()),
        )
        .not.toBe(before)
      await tabTo(/^Credentials/, 'Shift+Tab')
      await page.keyboard.press('Enter')
      await tabTo('Remove')
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').getByText('There are none.').waitFor()
      await page.keyboard.press('Escape')
      await expect.poll(focused).toBe('Credentials')
      await file(page, 'visual').getByText('You do not have one yet.').waitFor()
      expect(visitor.complaints).toEqual([])
    },
    LONG,
  )
})

describe('whoever has no mouse', () => {
  it(
    'keeps the place: nothing that was pressed takes the focus away',
    async () => {
      const { page } = await visit(site, browser(), 'models/fields.json')
      const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim())
      const press = async (name: string) => {
        await page.getByRole('button', { name }).focus()
        await page.keyboard.press('Enter')
      }
      await press('Give a credential')
      const inside = () => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.textContent)
      expect(await inside()).toBe('Enter it')
      await page.keyboard.press('Enter')
      await page.keyboard.type(site.secrets.username)
      await page.keyboard.press('Tab')
      await page.keyboard.type('wrong')
      await page.keyboard.press('Enter')
      await expect.poll(inside).toBe('Where may it be sent?')
      for (let steps = 0; (await inside()) !== 'Allow' && steps < 5; steps++) await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await file(page, 'table').getByText('You have them.').waitFor()
      await press('Read the table')
      await file(page, 'table').getByText('AUTH_REJECTED').waitFor({ state: 'attached' })
      expect(await focused()).toBe('Read the table')
      await press('Change the credential')
      expect(await inside()).toBe('Enter it again')
      for (let steps = 0; (await inside()) !== 'Continue without it' && steps < 5; steps++) await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await file(page, 'table').getByRole('button', { name: 'Give a credential' }).waitFor()
      expect(await file(page, 'table').locator('.refusal').count()).toBe(0)
    },
    LONG,
  )

  it(
    'skips to the document without losing its URL',
    async () => {
      const { page } = await visit(site, browser(), 'catalog.json')
      const before = page.url()
      await page.locator('.skip').focus()
      await page.keyboard.press('Enter')
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('content')
      expect(page.url()).toBe(before)
    },
    LONG,
  )
})

describe('what is announced', () => {
  it(
    'what is announced can be seen each time, and is said where a dialog is open',
    async () => {
      const { page } = await visit(site, browser(), 'scenes/coast.json')
      const visible = (place: string) =>
        page.evaluate((selector) => getComputedStyle(document.querySelector(selector) ?? document.body).opacity, place)
      await expect.poll(() => visible('#status'), { timeout: 15_000 }).toBe('0')
      await giveCredential(page, 'visual', { Key: site.secrets.key })
      await file(page, 'visual').getByRole('button', { name: 'Draw on the map' }).click()
      await expect.poll(() => page.textContent('#status')).toBe('True colour is here')
      expect(await visible('#status')).toBe('1')
      await page.click('#credentials')
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
      await expect.poll(() => page.textContent('dialog .status')).toMatch(/^Credential “.+” is gone$/)
      expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Close')
    },
    LONG,
  )

  it(
    'a URL that is none of the web is refused in words, and a missing document can be requested again',
    async () => {
      const { page } = await visit(site, browser())
      await page.fill('#address', 'ftp://catalog.example/')
      await page.keyboard.press('Enter')
      await page.getByText('URL_SCHEME_FORBIDDEN').waitFor({ state: 'attached' })
      await page.fill('#address', `${site.catalog.origin}/nothing.json`)
      await page.keyboard.press('Enter')
      await page.getByText('HTTP_404').waitFor({ state: 'attached' })
      const asked = site.catalog.exchanges.length
      await page.getByRole('button', { name: 'Try again' }).click()
      await expect.poll(() => site.catalog.exchanges.length).toBe(asked + 1)
    },
    LONG,
  )
})

describe.each([320, 390, 768, 1280, 1600])('%i pixels wide', (width) => {
  it(
    'nothing is cut off at the side',
    async () => {
      const { page } = await visit(site, browser())
      await page.setViewportSize({ width, height: 844 })
      for (const path of ['catalog.json', 'api/members', 'scenes/lake.json', 'suspicious/disguise.json']) {
        await openDocument(site, page, path)
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
        const wider = await page
          .locator('.card, .card *, .asset, .asset *')
          .evaluateAll((parts) =>
            parts
              .filter((part) => part.matches(':not(.map *, input)') && part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 0)
              .map(({ outerHTML }) => outerHTML.slice(0, 80)),
          )
        expect(wider).toEqual([])
      }
      await openDocument(site, page, 'scenes/coast.json')
      await giveCredential(page, 'visual', { Key: site.secrets.key })
      const [brand, credentials] = [await page.locator('.brand').boundingBox(), await page.locator('#credentials').boundingBox()]
      // On one line, also when there is a number to show.
      expect(Math.abs((brand?.y ?? 0) - (credentials?.y ?? 99))).toBeLessThan(20)
    },
    LONG,
  )
})
