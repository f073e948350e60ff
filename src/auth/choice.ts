/** An entry of the user that fits a scheme, and how far it may reach. */
import { TrustError } from '../errors.ts'
import type { AuthScheme } from '../stac/scheme.ts'
import type { Target } from '../stac/target.ts'
import type { Credential } from './credential.ts'
import { coveredBy, covers, narrowness } from './grant.ts'
import type { Strategy } from './strategy.ts'

/** An entry, the strategy that uses it and the scheme it is given. */
export interface Choice {
  readonly credential: Credential
  readonly strategy: Strategy
  readonly scheme: AuthScheme
}

/** True when the user lets that entry's material be used for that address, or for that target at it. */
export function coversTarget({ strategy, credential }: Choice, url: URL, target?: Target): boolean {
  return strategy.covers ? strategy.covers(credential, url.href, target) : coveredBy(credential.sendTo, url)
}

/** True when a request that carries the entry's material may go to that address. */
function mayReach(choice: Choice, url: URL): boolean {
  const { strategy, credential } = choice
  return strategy.reaches ? strategy.reaches(credential, url.href) : coversTarget(choice, url)
}

/** Errors: `CREDENTIAL_TARGET_UNTRUSTED` for an address that the entry's material may not go to. */
export function checkReach(choice: Choice, address: string): void {
  const url = new URL(address)
  if (mayReach(choice, url)) return
  const { id } = choice.credential
  throw new TrustError('CREDENTIAL_TARGET_UNTRUSTED', `"${id}" may not be sent to ${url.origin}. Nothing was sent`, {
    credential: id,
    url: address,
    hint: `if you trust that host: stac-auth credentials trust ${id} ${url.origin}/; in code, "sendTo" of "${id}"`,
  })
}

/**
 * The choice to use of those that cover the URL: a preferred credential, then one that suits the target, then the one with the narrowest
 * pattern, then the earliest.
 */
export function bestOf(choices: readonly Choice[], url: URL, target?: Target): Choice | undefined {
  let best: Choice | undefined
  for (const choice of choices) {
    if (coversTarget(choice, url, target) && (!best || comesBefore(choice, best, url, target))) best = choice
  }
  return best
}

function comesBefore(one: Choice, other: Choice, url: URL, target: Target | undefined): boolean {
  const { preference } = one.credential
  if (preference !== other.credential.preference) return preference < other.credential.preference
  const difference = target ? suitability(one, target) - suitability(other, target) : 0
  return difference === 0 ? widthOf(one.credential, url) > widthOf(other.credential, url) : difference > 0
}

function suitability({ strategy, credential }: Choice, target: Target): number {
  return strategy.suits?.(credential, target) ? 1 : 0
}

/** How narrow the narrowest pattern is that covers the address. */
function widthOf({ sendTo }: Credential, url: URL): number {
  let best = 0
  for (const grant of sendTo) if (covers(grant, url)) best = Math.max(best, narrowness(grant))
  return best
}
