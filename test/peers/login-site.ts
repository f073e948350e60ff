/** A site whose pages log in, under a policy that allows nothing else; and its provider. */
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { type Answer, type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { type AuthorizationServer, type ServerSettings, startAuthorizationServer } from '../servers/authorization-server.ts'
import { scriptOf } from './page-script.ts'

const POLICY =
  "default-src 'none'; script-src 'self'; connect-src http://127.0.0.1:*; worker-src 'self'; base-uri 'none'; form-action 'none'"
const page = (...names: readonly string[]) =>
  `<!doctype html><meta charset="utf-8"><title>page</title><body>${names.map((name) => `<script src="/app.js" data-name="${name}"></script>`).join('')}`
const PAGES: Readonly<Record<string, string>> = {
  '/': page('app'),
  '/two.html': page('app', 'copy'),
  '/callback.html': page('app'),
  '/bye.html': page('app'),
}

/**
 * `/` logs in, `/two.html` has the library twice, `/callback.html` is the redirect URI; a parameter that `tampered` gives takes the place of
 * that of the answer, as if somebody sat between.
 */
export async function startLoginSite(
  tampered: () => readonly [name: string, value: string] | undefined = () => undefined,
): Promise<AnsweringServer> {
  const [app, worker] = await Promise.all(
    ['browser-login-in-page.ts', 'browser-login-in-worker.ts'].map((name) => scriptOf(`test/peers/${name}`)),
  )
  const scripts: Readonly<Record<string, string | undefined>> = { '/app.js': app, '/worker.js': worker }
  return startAnswering(({ path, query }): Answer => {
    const [name = '', value = ''] = (path === '/callback.html' && tampered()) || []
    if (query.has(name) && query.get(name) !== value) {
      query.set(name, value)
      return { status: 302, headers: { location: `${path}?${query}` } }
    }
    const policy = { 'content-security-policy': POLICY }
    const script = scripts[path]
    if (script !== undefined) return { status: 200, headers: { 'content-type': 'text/javascript', ...policy }, body: script }
    const html = PAGES[path]
    const opener = query.get('policy')
    const headers = { 'content-type': 'text/html', ...policy, ...(opener !== null && { 'cross-origin-opener-policy': opener }) }
    return html === undefined ? { status: 404 } : { status: 200, headers, body: html }
  })
}

/** A provider that knows the pages of the site. */
export function startProviderFor(site: AnsweringServer, settings: ServerSettings = {}): Promise<AuthorizationServer> {
  const client = {
    client_id: 'page',
    token_endpoint_auth_method: 'none',
    application_type: 'native' as const,
    redirect_uris: ['http://127.0.0.1/callback.html'],
    post_logout_redirect_uris: [`${site.origin}/bye.html`],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    scope: 'openid offline_access read',
  }
  return startAuthorizationServer({ pages: site.origin, clients: [client], ...settings })
}

/** The address of the page that logs in there. */
export function addressOf(site: AnsweringServer, { issuer }: AuthorizationServer, more = '', path = '/'): string {
  return `${site.origin}${path}?issuer=${encodeURIComponent(issuer)}${more}`
}

/** A browser of its own, and what it complains about on pages of the site. */
export async function newPerson(
  browser: Browser,
  site: AnsweringServer,
): Promise<{ readonly context: BrowserContext; readonly complaints: readonly string[] }> {
  const complaints: string[] = []
  const context = await browser.newContext()
  context.on('console', (message) => {
    const isOurs = message.location().url.startsWith(site.origin)
    if (isOurs && /Content Security Policy/i.test(message.text())) complaints.push(message.text())
  })
  return { context, complaints }
}

/** Logs in and consents at the provider. */
export async function agree(shown: Page): Promise<void> {
  await shown.fill('input[name=login]', 'alice')
  await shown.fill('input[name=password]', 'any')
  await shown.click('button[type=submit]')
  await shown.click('button[type=submit]')
}

/** Clicks the button and gives the window that opens. */
export async function popupOf(opener: Page, button = '#app'): Promise<Page> {
  const [popup] = await Promise.all([opener.context().waitForEvent('page'), opener.click(button)])
  return popup
}

/** Logs in by popup; what came of it. */
export async function loggedIn(shown: Page): Promise<unknown> {
  await agree(await popupOf(shown))
  return shown.evaluate(() => app.login)
}

/** What the page reads there. */
export function read(shown: Page, url: string): Promise<unknown> {
  return shown.evaluate((wanted) => app.read(wanted), url)
}
