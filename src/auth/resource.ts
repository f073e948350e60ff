/** The address of a target, after everything that can be said about it without looking at its references. */
import { SelectionError } from '../errors.ts'
import { addressOf, isAddressProblem } from '../http/address.ts'
import { own } from '../stac/json.ts'
import { isProtected, type Target } from '../stac/target.ts'
import { hintFor } from './address-hint.ts'
import type { Strategy } from './strategy.ts'

/**
 * The absolute address of a target. Checked in this order: the address, then what a link wants to send along.
 *
 * Errors: `URL_*` at the href, `LINK_REQUEST_FORBIDDEN` at the member.
 */
export function resourceOf(target: Target, named: Pick<ReadonlySet<string>, 'has'>, strategies: readonly Strategy[]): URL {
  const url = addressOf(target.href, { base: target.scope.url, secure: isProtected(target), named, objects: true })
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
