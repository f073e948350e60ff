/** What STAC Browser adds to the request for a link or asset. */
import type { Auth } from '../auth/auth.ts'
import { targetAddress } from '../auth/resource.ts'
import { UnsupportedError } from '../errors.ts'
import { handedOver } from '../outputs/handed-over.ts'
import { sameOrigin } from '../stac/scope.ts'
import { isProtected } from '../stac/target.ts'
import { type StacReference, targetOf } from './stac-js.ts'

/** What is put into a request. It holds secrets. */
export interface Injection {
  readonly headers: Readonly<Record<string, string>>
  /** Parameters to add to the URL. */
  readonly query: Readonly<Record<string, string>>
}

const NOTHING: Injection = { headers: {}, query: {} }

/**
 * The hook `resolveInjection` of STAC Browser: what the references of a link or asset of stac-js, or without them its URL where the engine
 * allows that, add to the request for `url`. Nothing for another origin than its own. The browser sends by itself, so a key in a header of its own is not handed out, nor a URL that
 * a signing service gives.
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
    // Still a link: what it wants to send along is refused.
    const request = await auth.authorize({ ...target, href: url })
    return { headers: handedOver(request), query: added(url, request.url) }
  }
}

/**
 * Parameters that the authorized URL has and the other has not. Errors: `SCHEME_UNSUPPORTED` where more is different: what
 * is there already cannot be replaced, and a name has one value.
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
