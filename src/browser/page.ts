import { ConfigurationError, UnsupportedError } from '../errors.ts'

/** The members of a window that logins use; default: the page's own. */
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

/** The page itself. Errors: `UNSUPPORTED_IN_BROWSER` in a worker, which has no window to log in with. */
export function thisPage(given?: Page): Page {
  const page = given ?? (globalThis.document ? globalThis.window : undefined)
  if (page) return page
  throw new UnsupportedError('UNSUPPORTED_IN_BROWSER', 'a login needs a page: workers have no window and no URL bar', {
    hint: 'log in from the page, and give the worker its requests authorized or a credential with a finished token',
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
  const url = URL.canParse(address, href) ? new URL(address, href) : undefined
  if (url?.origin === origin && !url.username && !url.password) return url.href
  throw new ConfigurationError('CONFIG_INVALID', `${name} must be a URL of this page's own origin, ${origin}`, { pointer: `/${name}` })
}

/**
 * Checks for a secure context: browsers offer pages loaded over plain http no Web Crypto.
 *
 * Errors: `UNSUPPORTED_IN_BROWSER`.
 */
export function needSecureContext(what: string): void {
  if (globalThis.isSecureContext !== false) return
  throw new UnsupportedError(
    'UNSUPPORTED_IN_BROWSER',
    `${what} requires a page from https: or localhost; this page was loaded over plain http`,
    {
      hint: 'serve the page by https:, and open it as http://localhost while it is developed',
    },
  )
}
