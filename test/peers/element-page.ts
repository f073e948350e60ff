/** A page with `<stac-auth>` in Chromium, under a policy that allows scripts of its own site only. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import axe from 'axe-core'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { root } from '../architecture/files.ts'
import { type Answer, type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import type { Settings } from './element-in-page.ts'
import { scriptOf } from './page-script.ts'

const POLICY =
  "default-src 'none'; script-src 'self'; connect-src http://127.0.0.1:*; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"

const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>Catalog</title><body><main><h1>Catalog</h1><div id="place"></div></main><script src="/app.js"></script>`

const EXAMPLE = PAGE.replace('<script src="/app.js">', '<div id="access"></div><script type="module" src="/example.js">')

/** `/` shows the element, `/callback.html` is the redirect URI; `/example` is the example of the documentation, without a policy. */
export async function startElementSite(): Promise<AnsweringServer> {
  const [script, example] = await Promise.all([scriptOf('test/peers/element-in-page.ts'), exampleScript()])
  return startAnswering(({ path }): Answer => {
    if (path === '/example') return { status: 200, headers: { 'content-type': 'text/html' }, body: EXAMPLE }
    if (path === '/example.js') return { status: 200, headers: { 'content-type': 'text/javascript' }, body: example }
    const headers = { 'content-security-policy': POLICY }
    if (path === '/app.js') return { status: 200, headers: { ...headers, 'content-type': 'text/javascript' }, body: script }
    if (path !== '/' && path !== '/callback.html') return { status: 404 }
    return { status: 200, headers: { ...headers, 'content-type': 'text/html' }, body: PAGE }
  })
}

/** The first program of docs/element.md, with the function that it leaves to the page. */
async function exampleScript(): Promise<string> {
  const page = await readFile(join(root, 'docs/element.md'), 'utf8')
  const program = /```ts\n(.*?)```/s.exec(page)?.[1] ?? ''
  const contents = `const showFiles = (document, auth) => { globalThis.shown = { document, auth } }\n${program}\nglobalThis.example = { open }\n`
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    alias: {
      '#platform': join(root, 'src/platform/web.ts'),
      'stac-auth/browser': join(root, 'src/browser/index.ts'),
      'stac-auth/element': join(root, 'src/element/index.ts'),
    },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}

/** Opens the page in a browser of its own; `complaints` are errors that nobody caught and violations of the policy. */
export async function openPage(
  browser: Browser,
  site: AnsweringServer,
): Promise<{ readonly page: Page; readonly complaints: readonly string[] }> {
  const complaints: string[] = []
  const context = await browser.newContext({ viewport: { width: 900, height: 900 }, locale: 'en-GB' })
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
  return page.evaluate((shown) => elementPage.show(shown), settings as never)
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

const WIDTHS = [320, 768, 1280]

/** Every rule of axe that the page breaks, of every impact, and every width at which it is cut off: in light and dark colours. */
export async function violations(page: Page): Promise<readonly string[]> {
  interface Finding {
    readonly id: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
  }
  const found: string[] = []
  await page.evaluate(axe.source)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 })
      const findings: readonly Finding[] = await page.evaluate(async () => (await Reflect.get(globalThis, 'axe').run()).violations)
      const where = `${colorScheme}, ${width} pixels`
      for (const { id, nodes } of findings) {
        found.push(...nodes.map(({ html, failureSummary }) => `${where}: ${id}: ${html.slice(0, 160)} ${failureSummary}`))
      }
      if ((await page.evaluate(() => document.documentElement.scrollWidth)) > width) found.push(`${where}: cut off`)
    }
  }
  return found
}
