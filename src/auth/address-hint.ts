/** What to do about an address that is refused. */
import type { AddressProblem } from '../http/address.ts'
import { RELATIVE } from '../http/href.ts'

const HINTS: Partial<Record<AddressProblem['code'], string>> = {
  URL_HAS_USERINFO: 'they belong into an entry of type "http"',
  URL_INSECURE: 'ask for its https: address',
}

/** The hint for a refused address, where something can be done. */
export function hintFor(problem: AddressProblem): { readonly hint?: string } {
  const hint = problem === RELATIVE ? 'name the document by its address, or give it a "self" link' : HINTS[problem.code]
  return hint === undefined ? {} : { hint }
}
