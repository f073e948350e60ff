import { ConfigurationError, UnsupportedError } from '../errors.ts'
import { canParseUrl } from '../text/can-parse-url.ts'

/** The members of a window that logins use; by default the current window. */
export type Page = Pick<
  Window,
  | 'open'
  | 'close'
  | 'location'
  | 'history'
  | 'document'
  | 'sessionStorage'
  | 'parent'
  | 'opener'
  | 'addEventListener'
  | 'removeEventListener'
>

/** Returns the current page. Errors: `UNSUPPORTED_IN_BROWSER` in a worker, which has no window. */
export function thisPage(given?: Page): Page {
  const page = given ?? (globalThis.document ? globalThis.window : undefined)
  if (page) return page
  throw new UnsupportedError('UNSUPPORTED_IN_BROWSER', 'a login requires a page: workers and servers have no window', {
    hint: 'log in from the page, and pass authorized requests or a credential with a finished token to the worker',
  })
}

/** Returns the page if it can log in. Errors: `UNSUPPORTED_IN_BROWSER` also in a page loaded over plain http. */
export function loginPage(given?: Page): Page {
  needSecureContext('a login')
  return thisPage(given)
}

/** Returns an absolute URL of the page's own origin. Errors: `CONFIG_INVALID` for another origin. */
export function ownAddress(page: Page, address: string, name: string): string {
  const { href, origin } = page.location
  const url = canParseUrl(address, href) ? new URL(address, href) : undefined
  if (url?.origin === origin && !url.username && !url.password) return url.href
  throw new ConfigurationError('CONFIG_INVALID', `${name} must be a URL of this page's own origin, ${origin}`, { pointer: `/${name}` })
}

/**
 * Checks that the page is a secure context, because Web Crypto is not available over plain http.
 *
 * Errors: `UNSUPPORTED_IN_BROWSER`.
 */
export function needSecureContext(what: string): void {
  if (globalThis.isSecureContext !== false) return
  throw new UnsupportedError(
    'UNSUPPORTED_IN_BROWSER',
    `${what} requires a page from https: or localhost; this page was loaded over plain http`,
    {
      hint: 'serve the page over https; during development, open it as http://localhost',
    },
  )
}
