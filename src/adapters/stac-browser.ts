/** Headers and query parameters for the requests of STAC Browser. */
import type { Auth } from '../auth/auth.ts'
import { targetAddress } from '../auth/resource.ts'
import { UnsupportedError } from '../errors.ts'
import { handedOver } from '../outputs/handed-over.ts'
import { isProtected, sameOrigin } from '../stac/target.ts'
import { type StacReference, targetOf } from './stac-js.ts'

/** Headers and query parameters to add to a request. They contain secrets. */
export interface Injection {
  readonly headers: Readonly<Record<string, string>>
  /** Query parameters to add to the URL. */
  readonly query: Readonly<Record<string, string>>
}

const NOTHING: Injection = { headers: {}, query: {} }

/**
 * Returns the hook `resolveInjection` of STAC Browser. It returns what the references of a stac-js link or asset add to the request for
 * `url`; without references, what its URL selects where `byAddress` allows that. It returns nothing for another origin. STAC Browser sends
 * the request itself, so keys in custom headers and signed URLs are not returned.
 *
 * Errors: `SelectionError`, `CredentialError`, `SCHEME_UNSUPPORTED`.
 *
 * @example const { headers, query } = await injectionResolver(auth)(link, url)
 */
export function injectionResolver(auth: Auth): (link: StacReference | null | undefined, url: string) => Promise<Injection> {
  return async (link, url) => {
    const target = targetOf(link)
    if (!target || (!isProtected(target) && !(await auth.explain(target)).byAddress?.used)) return NOTHING
    if (!sameOrigin(targetAddress(target), url)) return NOTHING
    // It remains a link, so that `method`, `headers` and `body` in it are refused.
    const request = await auth.authorize({ ...target, href: url })
    return { headers: handedOver(request), query: added(url, request.url) }
  }
}

/**
 * Returns the query parameters that only the authorized URL has.
 *
 * Errors: `SCHEME_UNSUPPORTED` when the URLs differ in another way, because existing parameters cannot be replaced and names cannot be
 * repeated.
 */
function added(url: string, authorized: string): Readonly<Record<string, string>> {
  const [before, after] = [new URL(url), new URL(authorized)]
  if (!sameOrigin(url, authorized) || before.pathname !== after.pathname) throw unsupported('replaces the URL', url)
  const names = new Set([...before.searchParams.keys(), ...after.searchParams.keys()])
  const differing = [...names].flatMap((name) => {
    const [old, values] = [before.searchParams.getAll(name), after.searchParams.getAll(name)]
    if (isEqual(old, values)) return []
    if (old.length > 0) throw unsupported('changes a parameter that the URL has', url)
    if (values.length > 1) throw unsupported('adds a parameter several times', url)
    return values.map((value) => [name, value] as const)
  })
  return Object.fromEntries(differing)
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index])
}

function unsupported(what: string, url: string): UnsupportedError {
  return new UnsupportedError('SCHEME_UNSUPPORTED', `this scheme ${what}, which query parameters cannot express`, { url })
}
