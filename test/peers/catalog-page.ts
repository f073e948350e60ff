/** The example page in Chromium, with a person in front of it. */
import axe from 'axe-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { expect } from 'vitest'
import { buildPage } from '../../examples/browser/build.ts'
import { type SiteSecrets, siteSecrets } from '../../examples/demo/site/secrets.ts'
import { type Site, startSite } from '../../examples/demo/site/start-site.ts'

export interface CatalogPage extends Site {
  readonly secrets: SiteSecrets
}

let built: ReturnType<typeof buildPage> | undefined

/** Builds the page, once in a process, and starts its servers. */
export async function startCatalogPage(): Promise<CatalogPage> {
  const secrets = siteSecrets()
  built ??= buildPage()
  return { ...(await startSite(await built, secrets)), secrets }
}

export interface Visitor {
  readonly context: BrowserContext
  readonly page: Page
  /** What the browser had against the page: policy violations, and errors that nobody caught. */
  readonly complaints: readonly string[]
}

/** Opens a document of the catalog, or the start page, in a browser of its own. */
export async function visit(site: CatalogPage, browser: Browser, path = '', colorScheme: 'light' | 'dark' = 'light'): Promise<Visitor> {
  const complaints: string[] = []
  const context = await browser.newContext({ colorScheme, viewport: { width: 1280, height: 800 } })
  await context.exposeBinding('complain', (_source, text: string) => complaints.push(text))
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) => {
      Reflect.get(globalThis, 'complain')(`${violatedDirective} ${blockedURI} ${sample}`)
    })
  })
  context.on('weberror', (error) => complaints.push(String(error.error())))
  context.on('console', (message) => {
    if (message.location().url.startsWith(site.url) && /Content Security Policy|Trusted/i.test(message.text()))
      complaints.push(message.text())
  })
  const page = await context.newPage()
  await page.goto(site.url)
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null && document.querySelector('h1') !== null)
  if (path !== '') await openDocument(site, page, path)
  return { context, page, complaints }
}

/** Goes to a document of the catalog; ends when it is shown. */
export async function openDocument({ catalog }: Site, page: Page, path: string): Promise<void> {
  const url = `${catalog.origin}/${path}`
  await page.fill('#address', url)
  await page.click('#open button')
  await page.waitForSelector(`.facts dd:text-is(${JSON.stringify(url)})`)
}

/** The card of a file. */
export const file = (page: Page, key: string) => page.locator('.asset', { has: page.locator(`h3 code:text-is("${key}")`) })

/** The element in which a document asks for what it needs. */
export const access = (page: Page) => page.locator('stac-auth')

/** Goes from a file to what it needs, fills that in and agrees to everything that is shown. */
export async function giveCredential(page: Page, key: string, values: Readonly<Record<string, string>>): Promise<void> {
  await file(page, key).getByRole('button', { name: 'Give a credential' }).click()
  const start = access(page).getByRole('button', { name: Object.keys(values).length > 0 ? 'Enter it' : 'Continue' })
  // The file has taken the focus there.
  expect(await start.first().evaluate((button) => button === (button.getRootNode() as ShadowRoot).activeElement)).toBe(true)
  await page.keyboard.press('Enter')
  for (const [label, value] of Object.entries(values)) await access(page).getByLabel(label, { exact: true }).fill(value)
  if (Object.keys(values).length > 0) await access(page).locator('form').getByRole('button', { name: 'Continue' }).click()
  const allow = access(page).getByRole('button', { name: 'Allow', exact: true })
  // The form before has a checkbox, too.
  await allow.waitFor()
  for (const box of await access(page).getByRole('checkbox').all()) await box.check()
  await allow.click()
  await access(page).locator('form').waitFor({ state: 'hidden' })
}

/** Logs in with a window, and consents at the provider. */
export async function logInWithWindow({ context, page }: Visitor): Promise<void> {
  const [popup] = await Promise.all([
    context.waitForEvent('page'),
    access(page).getByRole('button', { name: 'Log in in a window' }).click(),
  ])
  const closed = popup.waitForEvent('close')
  await agree(popup)
  await closed
}

/** At the pages of the provider. */
export async function agree(page: Page): Promise<void> {
  await page.fill('input[name=login]', 'alice')
  await page.fill('input[name=password]', 'any')
  await page.click('button[type=submit]')
  await page.click('button[type=submit]')
}

/** What axe finds, of any rule. What fades has no colours of its own for that time: what has begun to fade is gone first, the rest waits. */
export async function barriers(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source)
  interface Finding {
    readonly id: string
    readonly nodes: readonly { readonly html: string }[]
  }
  const found: readonly Finding[] = await page.evaluate(async () => {
    const hasBegun = (animation: Animation) => typeof animation.effect?.getComputedTiming().progress === 'number'
    const animations = document.getAnimations()
    for (const animation of animations) if (!hasBegun(animation)) animation.pause()
    await Promise.allSettled(animations.filter(hasBegun).map(({ finished }) => finished))
    const { violations } = await Reflect.get(globalThis, 'axe').run({ resultTypes: ['violations'] })
    for (const animation of animations) if (animation.playState === 'paused') animation.play()
    return violations
  })
  return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`))
}
