import type { Target } from '../stac/target.ts'
import { givenTarget } from './given-target.ts'
import { hrefOf, resourceOf } from './resource.ts'

/** Whether an address is of a network that the user named is asked when something is sent. */
const ANY = { has: () => true }

/**
 * The absolute address of a target, for programs that want one to ask their `fetch` for; it grants nothing.
 *
 * Errors: `TARGET_NOT_FOUND`, `URL_*`, `LINK_REQUEST_FORBIDDEN`.
 */
export function targetAddress(target: Target | undefined): string {
  return hrefOf(resourceOf(givenTarget(target), ANY, []))
}
