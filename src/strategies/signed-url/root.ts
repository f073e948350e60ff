import type { Resource } from '../../auth/strategy.ts'
import { addressOf, isAddressProblem } from '../../http/address.ts'
import { ownString } from '../../stac/json.ts'

/**
 * The address of the asset itself, when the resource lies below it: `fetchFor` replaces the address of its target and leaves the
 * target's object as it is. Undefined for the asset itself and for whatever lies elsewhere.
 */
export function rootOf({ url, target }: Resource): string | undefined {
  const href = target && ownString(target.object, 'href')
  if (href === undefined || href === target?.href) return undefined
  const root = addressOf(href, { base: target?.scope.url, secure: false, named: new Set([new URL(url).origin]), objects: true })
  if (isAddressProblem(root)) return undefined
  const { protocol, host, pathname } = new URL(url)
  const folder = root.pathname.endsWith('/') ? root.pathname : `${root.pathname}/`
  const isBelow = protocol === root.protocol && host === root.host && pathname.startsWith(folder) && pathname !== folder
  if (!isBelow) return undefined
  root.hash = ''
  return root.href
}
