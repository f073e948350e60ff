/** A page with `<stac-auth>` in Chromium, under a policy that allows scripts of its own site only. */
import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { type Answer, type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import type { Settings } from './element-in-page.ts'
import { scriptOf } from './page-script.ts'

const POLICY =
  "default-src 'none'; script-src 'self'; connect-src http://127.0.0.1:*; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"

const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>Catalog</title><body><main><h1>Catalog</h1><div id="place"></div></main><script src="/app.js"></script>`

/** `/` shows the element, `/callback.html` is the redirect URI. */
export async function startElementSite(): Promise<AnsweringServer> {
  const script = await scriptOf('test/peers/element-in-page.ts')
  return startAnswering(({ path }): Answer => {
    const headers = { 'content-security-policy': POLICY }
    if (path === '/app.js') return { status: 200, headers: { ...headers, 'content-type': 'text/javascript' }, body: script }
    if (path !== '/' && path !== '/callback.html') return { status: 404 }
    return { status: 200, headers: { ...headers, 'content-type': 'text/html' }, body: PAGE }
  })
}

/** Opens the page in a browser of its own; `complaints` are errors that nobody caught and violations of the policy. */
export async function openPage(
  browser: Browser,
  site: AnsweringServer,
  colorScheme: 'light' | 'dark' = 'light',
): Promise<{ readonly page: Page; readonly complaints: readonly string[] }> {
  const complaints: string[] = []
  const context = await browser.newContext({ colorScheme, viewport: { width: 900, height: 900 }, locale: 'en-GB' })
  context.on('weberror', (error) => complaints.push(String(error.error())))
  context.on('console', (message) => {
    if (/Content Security Policy|Trusted/i.test(message.text())) complaints.push(message.text())
  })
  const page = await context.newPage()
  await page.goto(site.origin)
  return { page, complaints }
}

/** Shows a document in the element; returns its state. */
export function show(page: Page, settings: Settings): Promise<string> {
  return page.evaluate((settings) => elementPage.show(settings), settings as never)
}

/** An item whose assets refer to these schemes: a URL, or a URL with the names of its schemes. */
export function itemOf(
  schemes: Readonly<Record<string, object>>,
  assets: Readonly<Record<string, readonly [href: string, ...refs: string[]]>>,
) {
  return {
    type: 'Feature',
    stac_version: '1.1.0',
    stac_extensions: ['https://stac-extensions.github.io/authentication/v1.1.0/schema.json'],
    id: 'scene',
    geometry: null,
    properties: { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': schemes },
    links: [],
    assets: Object.fromEntries(Object.entries(assets).map(([key, [href, ...refs]]) => [key, { href, 'auth:refs': refs }])),
  }
}

/** Every rule of axe that the page breaks, of every impact. */
export async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  interface Finding {
    readonly id: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
  }
  const found: readonly Finding[] = await page.evaluate(async () => (await Reflect.get(globalThis, 'axe').run()).violations)
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`))
}
