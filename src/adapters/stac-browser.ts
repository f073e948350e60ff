/** What STAC Browser adds to the request for a link or asset. */
import type { Auth } from '../auth/auth.ts'
import { targetAddress } from '../auth/target-address.ts'
import { UnsupportedError } from '../errors.ts'
import { handedOver } from '../outputs/handed-over.ts'
import type { Target } from '../stac/target.ts'
import { type StacReference, targetOf } from './stac-js.ts'

/** What is put into a request. It holds secrets. */
export interface Injection {
  readonly headers: Readonly<Record<string, string>>
  /** Parameters to add to the address. */
  readonly query: Readonly<Record<string, string>>
}

const NOTHING: Injection = { headers: {}, query: {} }

/**
 * The hook `resolveInjection` of STAC Browser: what the references of a link or asset of stac-js add to the request for `url`. Nothing for
 * another origin than its own. The browser sends by itself, so a key in a header of its own is not handed out, nor an address that
 * a signing service gives.
 *
 * Errors: `SelectionError`, `CredentialError`, `SCHEME_UNSUPPORTED`.
 *
 * @example const { headers, query } = await injectionResolver(auth)(link, url)
 */
export function injectionResolver(auth: Auth): (link: StacReference | null | undefined, url: string) => Promise<Injection> {
  return async (link, url) => {
    const target = targetOf(link)
    if (!target || target.refs.length === 0 || !isSameOrigin(target, url)) return NOTHING
    // Still a link: what it wants to send along is refused.
    const request = await auth.authorize({ ...target, href: url })
    return { headers: handedOver(request), query: added(url, request.url) }
  }
}

function isSameOrigin(target: Target, url: string): boolean {
  return URL.canParse(url) && new URL(url).origin === new URL(targetAddress(target)).origin
}

/** Parameters that the authorized address has and the other has not. Errors: `SCHEME_UNSUPPORTED` where more is different. */
function added(url: string, authorized: string): Readonly<Record<string, string>> {
  const [before, after] = [new URL(url), new URL(authorized)]
  if (before.origin + before.pathname !== after.origin + after.pathname)
    throw new UnsupportedError('SCHEME_UNSUPPORTED', 'this scheme replaces the address, which parameters cannot say', { url })
  return Object.fromEntries([...after.searchParams].filter(([name]) => !before.searchParams.has(name)))
}
