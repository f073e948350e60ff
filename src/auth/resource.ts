/** The address of a target, after everything that can be said about it without looking at its references. */
import { SelectionError } from '../errors.ts'
import { RELATIVE } from '../http/href.ts'
import { type AddressProblem, addressInAnyNetwork, addressOf, isAddressProblem } from '../http/url.ts'
import { isObject, own } from '../stac/json.ts'
import { isProtected, type Target } from '../stac/target.ts'
import type { Strategy } from './strategy.ts'

/** Origins that the user wrote down. */
type Named = Pick<ReadonlySet<string>, 'has'>

/**
 * The absolute address of a target. Checked in this order: the address, then what a link wants to send along.
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
    throw new SelectionError(url.code, `the address of this ${what} ${url.message}`, { ...hintFor(url), pointer })
  }
  const forbidden = isProtected(target) ? linkRequestProblem(target) : undefined
  if (forbidden) throw forbidden
  return url
}

/** The address without fragment, which never travels. */
export function hrefOf(url: URL): string {
  return url.hash ? url.href.slice(0, url.href.indexOf('#')) : url.href
}

/** `LINK_REQUEST_FORBIDDEN`: a link must not choose the method, headers or body of a request that carries a credential. */
export function linkRequestProblem({ kind, object, pointer }: Target): SelectionError | undefined {
  if (kind !== 'link') return undefined
  for (const member of Object.keys(object)) {
    const value = own(object, member)
    const harmless = member === 'method' ? value === 'GET' || value === 'HEAD' : member !== 'headers' && member !== 'body'
    if (harmless) continue
    return new SelectionError('LINK_REQUEST_FORBIDDEN', `this link wants to choose the ${member} of a request with credentials`, {
      pointer: `${pointer}/${member}`,
    })
  }
  return undefined
}

/** The target that a caller gave. Errors: `TARGET_NOT_FOUND` for what `linkOf` did not find, and for an asset without its document. */
export function givenTarget(target: Target | undefined): Target {
  if (isTarget(target)) return target
  const [message, hint] = isPlainTarget(target)
    ? ['a plain asset does not say which document it is of', "use assetOf(item, 'key') or linkOf(item, 'rel')"]
    : ['the document has no such asset or link', 'see targetsOf(document)']
  throw new SelectionError('TARGET_NOT_FOUND', message, { hint })
}

/** True for a target, as `assetOf` and its relatives make it. */
export function isTarget(value: unknown): value is Target {
  return isObject(value) && 'refs' in value && 'scope' in value
}

/** True for an asset or a link as it stands in a document. A URL has no `href` of its own. */
export function isPlainTarget(value: unknown): boolean {
  return isObject(value) && Object.hasOwn(value, 'href')
}

/** The target of an address below another one (a Zarr chunk, a map tile): the same refs, judged by its own address. */
export function below(target: Target, url: string): Target {
  return { ...target, href: url, kind: 'asset' }
}

/** Whether an address is of a network that the user named is asked when something is sent. */
const ANY: Named = { has: () => true }

/**
 * The absolute address of a target, for programs that want one to ask their `fetch` for; it grants nothing.
 *
 * Errors: `TARGET_NOT_FOUND`, `URL_*`, `LINK_REQUEST_FORBIDDEN`.
 */
export function targetAddress(target: Target | undefined): string {
  return hrefOf(resource(givenTarget(target), ANY, [], addressInAnyNetwork))
}

const HINTS: Partial<Record<AddressProblem['code'], string>> = {
  URL_HAS_USERINFO: 'they belong into an entry of type "http"',
  URL_INSECURE: 'ask for its https: address',
}

/** The hint for a refused address, where something can be done. */
export function hintFor(problem: AddressProblem): { readonly hint?: string } {
  const hint = problem === RELATIVE ? 'name the document by its address, or give it a "self" link' : HINTS[problem.code]
  return hint === undefined ? {} : { hint }
}
