/** What a caller gives for a request: a target with its URL, checked as far as its references do not matter, and headers. */
import { ConfigurationError, SelectionError } from '../errors.ts'
import { type AddressProblem, addressInAnyNetwork, addressOf, isAddressProblem, RELATIVE } from '../http/url.ts'
import { isObject, own } from '../stac/document.ts'
import { isProtected, type Target } from '../stac/target.ts'
import type { Strategy } from './strategy.ts'

/** Origins that the user wrote down. */
type Named = Pick<ReadonlySet<string>, 'has'>

/**
 * Returns the absolute URL of a target. Checks the URL first, then the request fields of a link.
 *
 * Errors: `URL_*` at the href, `LINK_REQUEST_FORBIDDEN` at the member.
 */
export function resourceOf(target: Target, named: ReadonlySet<string>, strategies: readonly Strategy[]): URL {
  return resource(target, named, strategies, addressOf)
}

function resource(target: Target, named: Named, strategies: readonly Strategy[], read: typeof addressOf): URL {
  const url = read(target.href, { base: target.scope.url, secure: isProtected(target), named, objects: true })
  if (isAddressProblem(url)) {
    const what = target.kind === 'link' ? 'link' : 'asset'
    const pointer = `${target.pointer}/href`
    for (const strategy of strategies) {
      const known = strategy.addressProblem?.(target.href)
      if (known) throw new SelectionError(known.code, known.message, { ...known, pointer })
    }
    throw new SelectionError(url.code, `the URL of this ${what} ${url.message}`, { ...hintFor(url), pointer })
  }
  const forbidden = isProtected(target) ? linkRequestProblem(target) : undefined
  if (forbidden) throw forbidden
  return url
}

/** Returns the URL without fragment, which is never sent. */
export function hrefOf(url: URL): string {
  return url.hash ? url.href.slice(0, url.href.indexOf('#')) : url.href
}

/** Returns `LINK_REQUEST_FORBIDDEN` for a link that sets the method, headers or body of a request with credentials. */
export function linkRequestProblem({ kind, object, pointer }: Target): SelectionError | undefined {
  if (kind !== 'link') return undefined
  for (const member of Object.keys(object)) {
    const value = own(object, member)
    const harmless = member === 'method' ? value === 'GET' || value === 'HEAD' : member !== 'headers' && member !== 'body'
    if (harmless) continue
    return new SelectionError(
      'LINK_REQUEST_FORBIDDEN',
      `this link sets the ${member} of a request with credentials, which is not allowed`,
      {
        pointer: `${pointer}/${member}`,
      },
    )
  }
  return undefined
}

/** Returns the caller's target. Errors: `TARGET_NOT_FOUND` for `undefined`, for a URL, and for an asset without its document. */
export function givenTarget(target: Target | undefined): Target {
  if (isTarget(target)) return target
  const [message, hint] =
    target === undefined
      ? ['the document has no such asset or link', 'see targetsOf(document)']
      : [
          'this is not an asset or link with its document',
          "use assetOf(item, 'key') or linkOf(item, 'rel'); auth.fetch takes URLs, auth.send { method, url }",
        ]
  throw new SelectionError('TARGET_NOT_FOUND', message, { hint })
}

/** True for a target as returned by `assetOf`, `linkOf` or `targetsOf`. */
export function isTarget(value: unknown): value is Target {
  return isObject(value) && Array.isArray(value.refs) && isObject(value.scope)
}

/** Returns the target for a URL below another one (a Zarr chunk, a map tile): same references, checked with its own URL. */
export function below(target: Target, url: string): Target {
  return { ...target, href: url, kind: 'asset' }
}

/** Allows every origin; private networks are checked when a request is sent. */
const ANY: Named = { has: () => true }

/**
 * Returns the absolute URL of a target, for programs that pass URLs to their own `fetch`; it allows nothing.
 *
 * Errors: `TARGET_NOT_FOUND`, `URL_*`, `LINK_REQUEST_FORBIDDEN`.
 */
export function targetAddress(target: Target | undefined): string {
  return hrefOf(resource(givenTarget(target), ANY, [], addressInAnyNetwork))
}

const HINTS: Partial<Record<AddressProblem['code'], string>> = {
  URL_HAS_USERINFO: 'put them into a credential of type "http"',
  URL_INSECURE: 'use https:, or, for a server on this machine, a credential for its URL: stac-auth setup DOC',
}

/** Returns the hint for a refused URL, where there is one. */
export function hintFor(problem: AddressProblem): { readonly hint?: string } {
  const hint = problem === RELATIVE ? 'give the URL of the document, or a "self" link' : HINTS[problem.code]
  return hint ? { hint } : {}
}

/**
 * Returns the headers with names in lower case; `Headers` and pairs are read as well. Errors: `ConfigurationError` `USAGE` for a name or
 * value that HTTP does not allow.
 */
export function plainHeaders(headers?: RequestInit['headers']): Record<string, string> {
  if (!headers) return {}
  const plain = new Headers()
  let name: unknown
  try {
    for (const pair of Symbol.iterator in Object(headers) ? (headers as Iterable<string[]>) : Object.entries(headers)) {
      const [header = '', value] = pair
      name = header
      // Two letters are not a pair either.
      if (!Array.isArray(pair) || pair.length !== 2) throw new TypeError('a header is a name and a value')
      if (value !== undefined) plain.append(header, value)
    }
  } catch {
    // The message of `Headers` contains the value, and so does a name that is a whole line.
    throw new ConfigurationError('USAGE', `"${String(name).split(':', 1)}" is not a valid header`)
  }
  return Object.fromEntries(plain)
}
