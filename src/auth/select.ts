/**
 * Chooses which of the user's entries a target gets, if any. References are alternatives: each is judged by itself, every
 * "no" is kept as a reason, and the error is that of the reference that got furthest.
 */
import { type AuthError, isAuthError } from '../errors.ts'
import type { Target } from '../stac/target.ts'
import { type Choice, coversTarget, widthOf } from './choice.ts'
import type { Credential } from './credential.ts'
import { type Judge, type Judgement, Refusal } from './judge.ts'
import type { Warning } from './strategy.ts'

/** A reference that can be used; without a choice nothing needs to be sent along. */
export interface Selection {
  readonly ref: string
  /** Type of the scheme in the document. */
  readonly type: string
  readonly choice?: Choice
  readonly warnings: readonly Warning[]
}

/** That no reference can be used. */
export class Unusable {
  readonly #refusals: readonly Refusal[]

  constructor(refusals: readonly Refusal[]) {
    this.#refusals = refusals
  }

  /** A `SelectionError` with the code of the reference that got furthest and the others in `reasons`. */
  async error(): Promise<AuthError> {
    return (await import('./refusals.ts')).furthest(this.#refusals)
  }
}

/** Judges the references of targets against the user's entries; needs no network and reads no secret. */
export class Selector {
  readonly #judge: Judge
  readonly #ranked: boolean

  constructor(judge: Judge, credentials: readonly Credential[]) {
    this.#judge = judge
    this.#ranked = credentials.some(({ preference }) => preference !== Number.POSITIVE_INFINITY)
  }

  /** The usable references of a target for that address, best first; or why there is none. */
  select(target: Target, url: URL): readonly Selection[] | Unusable {
    const usable: Selection[] = []
    const refusals: Refusal[] = []
    for (const ref of target.refs) {
      const outcome = this.consider(target, ref, url)
      if (outcome instanceof Refusal) refusals.push(outcome)
      else usable.push(outcome)
    }
    if (usable.length === 0) return new Unusable(refusals)
    return usable.length > 1 && this.#ranked ? usable.sort(byPreference) : usable
  }

  /** Type of the scheme behind a reference, as far as there is one. */
  typeOf(target: Target, ref: string): string | undefined {
    return this.#judge.typeOf(target, ref)
  }

  /** What becomes of one reference. */
  consider(target: Target, ref: string, url: URL): Selection | Refusal {
    const judgement = this.#judge.scheme(target, ref)
    if (judgement instanceof Refusal) return judgement
    const { type, isPublic } = judgement
    if (isPublic) return { ref, type, warnings: [] }
    const choice = this.#narrowest(judgement, url, target)
    if (!choice) return this.#judge.miss(target, ref, judgement, url)
    return this.#prepared(target, ref, judgement, choice, url)
  }

  /** Of several fitting entries a preferred one, then one that suits, then the one with the narrower pattern, then the earlier one. */
  #narrowest({ choices }: Judgement, url: URL, target: Target): Choice | undefined {
    let best: Choice | undefined
    for (const choice of choices) {
      if (coversTarget(choice, url, target) && (!best || comesBefore(choice, best, url, target))) best = choice
    }
    return best
  }

  #prepared(target: Target, ref: string, { type, pointer }: Judgement, choice: Choice, url: URL): Selection | Refusal {
    const { strategy, scheme, credential } = choice
    if (!strategy.prepare) return { ref, type, choice, warnings: [] }
    try {
      return { ref, type, choice, warnings: strategy.prepare({ scheme, pointer, credential, resource: { url: url.href, target } }) }
    } catch (error) {
      if (isAuthError(error)) return new Refusal('parameters', error)
      throw error
    }
  }
}

function comesBefore(one: Choice, other: Choice, url: URL, target: Target): boolean {
  const { preference } = one.credential
  if (preference !== other.credential.preference) return preference < other.credential.preference
  const difference = suitability(one, target) - suitability(other, target)
  return difference === 0 ? widthOf(one.credential, url) > widthOf(other.credential, url) : difference > 0
}

function suitability({ strategy, credential }: Choice, target: Target): number {
  return strategy.suits?.(credential, target) ? 1 : 0
}

function byPreference(one: Selection, other: Selection): number {
  const first = one.choice?.credential.preference ?? Number.POSITIVE_INFINITY
  const second = other.choice?.credential.preference ?? Number.POSITIVE_INFINITY
  return first === second ? 0 : first - second
}
