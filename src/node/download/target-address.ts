import { httpsForm } from '../../http/gs-url.ts'
import type { Target } from '../../stac/target.ts'

/** Where a target's address leads. */
export interface TargetAddress {
  /** The origin that it names; redirects may lead elsewhere. Empty for what is no address. */
  readonly origin: string
  /** Origin and path, without what may be a secret; the text of the document for what is no address. */
  readonly bare: string
}

/** The address of a target, read once: every step of its download asks for it. */
export function targetAddress(target: Target): TargetAddress {
  const { href, scope } = target
  const known = ADDRESSES.get(target)
  // Callers may change what is theirs between two downloads.
  if (known && known.href === href && known.base === scope.url) return known
  const address = { ...read(target), href, base: scope.url }
  ADDRESSES.set(target, address)
  return address
}

const ADDRESSES = new WeakMap<Target, TargetAddress & { readonly href: string; readonly base: string | undefined }>()

function read({ href: stated, scope: { url } }: Target): TargetAddress {
  const href = httpsForm(stated) ?? stated
  if (!URL.canParse(href, url)) return { origin: '', bare: bareOf(href) }
  const { origin, protocol, host, href: address } = new URL(href, url)
  return { origin: origin === 'null' ? `${protocol}//${host}` : origin, bare: bareOf(address) }
}

/** An address without what may be a secret: its query, its fragment, and who asks. */
export function bareOf(address: string): string {
  return address.replace(/[?#].*$/s, '').replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, '$1')
}
