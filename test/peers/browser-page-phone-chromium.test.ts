/** The example page on a phone, and under a policy that blocks a request: what can be pressed, the way to the map, and plain words. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { access, type CatalogPage, file, giveCredential, openDocument, startCatalogPage, visit } from './catalog-page.ts'
import { useChromium } from './chromium.ts'

const browser = useChromium()
const LONG = 90_000
const PHONE = { width: 390, height: 780 }

let site: CatalogPage
beforeAll(async () => {
  site = await startCatalogPage()
})
afterAll(() => site.close())

/** Everything visible that can be pressed or typed into and is smaller than 24 by 24 CSS pixels (WCAG 2.2, 2.5.8), also in shadow roots. */
const smallTargets = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => {
    const within = (root: Document | ShadowRoot): Element[] =>
      [...root.querySelectorAll('*')].flatMap((one) => [one, ...(one.shadowRoot ? within(one.shadowRoot) : [])])
    const targets = within(document).filter((one) => one.matches('a[href], button, input, select, textarea, summary, [role=button]'))
    return targets.flatMap((target) => {
      if (!target.checkVisibility({ visibilityProperty: true })) return []
      // The link of a list entry reaches to the edges of the entry; a skip link is outside until it has the focus.
      const place = target.matches('.children a') ? (target.closest('li') ?? target) : target
      const { width, height, bottom } = place.getBoundingClientRect()
      return bottom < 0 || (width >= 24 && height >= 24)
        ? []
        : [`${target.tagName} ${target.textContent?.slice(0, 30)} ${Math.round(width)}×${Math.round(height)}`]
    })
  })

it.each([320, 768, 1280])(
  'has no target below 24 pixels in any state, %i pixels wide',
  async (width) => {
    const { page } = await visit(site, browser())
    await page.setViewportSize({ width, height: 780 })
    const found: Record<string, readonly string[]> = {}
    const look = async (state: string) => {
      const small = await smallTargets(page)
      if (small.length > 0) found[state] = small
    }
    await look('start')
    for (const path of ['catalog.json', 'api', 'api/search?limit=3', 'suspicious/disguise.json']) {
      await openDocument(site, page, path)
      await page.waitForTimeout(150)
      await look(path)
    }
    await openDocument(site, page, 'scenes/coast.json')
    await page.locator('.map canvas').first().waitFor()
    for (const summary of await page.locator('.request summary').all()) await summary.click()
    await look('item')
    await access(page).getByRole('button', { name: 'Enter it' }).click()
    await look('form')
    await access(page).getByLabel('Key', { exact: true }).fill(site.secrets.key)
    await page.keyboard.press('Enter')
    await access(page).getByRole('button', { name: 'Allow', exact: true }).click()
    await page.click('#credentials')
    await look('credentials')
    expect(found).toEqual({})
    // The measure sees a small one.
    await page.evaluate(() => {
      const small = document.createElement('button')
      small.style.cssText = 'all: unset; width: 20px; height: 20px'
      document.querySelector('main')?.append(small)
    })
    expect(await smallTargets(page)).toEqual(['BUTTON  20×20'])
  },
  LONG,
)

it(
  'goes from a file to the map and back, and so does the button at the foot of the page',
  async () => {
    const { page } = await visit(site, browser(), 'scenes/coast.json')
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await page.setViewportSize(PHONE)
    const isSeen = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((one) => {
          const { top, bottom } = one.getBoundingClientRect()
          return top >= 0 && bottom <= innerHeight
        })
    await giveCredential(page, 'visual', { Key: site.secrets.key })
    await file(page, 'visual').getByRole('button', { name: 'Draw on the map' }).click()
    await file(page, 'visual').getByText('On the map:').waitFor()
    await expect.poll(() => isSeen('.map'), { timeout: 5000 }).toBe(true)
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('map')
    const travel = page.locator('.travel')
    await expect.poll(() => travel.textContent()).toBe('Back')
    await travel.click()
    await expect.poll(() => isSeen('.asset h3')).toBe(true)
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('True colour visual')

    await page.evaluate(() => scrollTo({ top: 40 }))
    await expect.poll(() => travel.textContent()).toBe('Map')
    await travel.click()
    await expect.poll(() => isSeen('.map')).toBe(true)
    await expect.poll(() => travel.textContent()).toBe('Back')
    await travel.click()
    await expect.poll(() => page.evaluate(() => scrollY)).toBe(40)
    // Where the map is beside the document there is nowhere to go.
    await page.setViewportSize({ width: 1280, height: 780 })
    expect(await travel.isVisible()).toBe(false)
  },
  LONG,
)

it(
  'scrolls past the map with a finger and moves it only when it has the focus',
  async () => {
    const { page } = await visit(site, browser(), 'scenes/coast.json')
    await page.setViewportSize(PHONE)
    await page.locator('.map canvas').first().waitFor()
    await page.locator('.map').scrollIntoViewIfNeeded()
    const box = await page.locator('.map').boundingBox()
    const pixels = () =>
      page
        .locator('.map canvas')
        .first()
        .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL())
    const [before, top] = [await pixels(), await page.evaluate(() => scrollY)]
    await page.mouse.move((box?.x ?? 0) + 50, (box?.y ?? 0) + 50)
    await page.mouse.wheel(0, -200)
    await expect.poll(() => page.evaluate(() => scrollY)).toBeLessThan(top)
    expect(await pixels()).toBe(before)
    await page.locator('.map').focus()
    await page.keyboard.press('+')
    await expect.poll(pixels).not.toBe(before)
  },
  LONG,
)

it(
  'says that its own policy blocked a request, and what would allow it',
  async () => {
    const { page } = await visit(site, browser())
    await page.fill('#address', 'http://elsewhere.example/catalog.json')
    await page.click('#open button')
    const refusal = page.locator('.failed .refusal')
    await refusal.waitFor()
    const [words = '', advice = ''] = await refusal.locator('p').allTextContents()
    expect(words).toBe("This page's Content-Security-Policy does not allow http://elsewhere.example.")
    expect(advice).toBe('Whoever runs this page can allow it: add http://elsewhere.example to connect-src of the policy.')
    expect(await refusal.locator('code').textContent()).toBe('BLOCKED_BY_PAGE')
    // A server that is not there is something else.
    await page.fill('#address', 'https://127.0.0.1:9/catalog.json')
    await page.click('#open button')
    await expect.poll(() => refusal.locator('code').first().textContent()).toBe('CORS_OR_NETWORK')
    expect(await refusal.textContent()).not.toContain('Content-Security-Policy')
  },
  LONG,
)
