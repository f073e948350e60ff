/**
 * Chooses which of the user's entries a target gets, if any. References are alternatives: each is judged by itself, every
 * "no" is kept as a reason, and the error is that of the reference that got furthest.
 */
import { type AuthError, isAuthError, SelectionError } from '../errors.ts'
import type { MalformedRef, Target } from '../stac/target.ts'
import { bestOf, type Choice } from './choice.ts'
import type { Credential } from './credential.ts'
import { type Judge, Refusal } from './judge.ts'
import type { Warning } from './strategy.ts'

/** A reference that can be used; without a choice nothing needs to be sent along. */
export interface Selection {
  /** Absent for a credential that was selected by URL alone. */
  readonly ref?: string
  /** Type of the scheme in the document; without a reference, of the credential. */
  readonly type: string
  readonly choice?: Choice
  readonly warnings: readonly Warning[]
}

/** What a choice is prepared for. */
interface Wanted extends Pick<Selection, 'type' | 'ref'> {
  /** Pointer of the scheme; of the target where no scheme is in the document. */
  readonly pointer: string
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
    if (usable.length === 0) return new Unusable([...refusals, ...(target.malformedRefs ?? []).map((ref) => this.malformed(target, ref))])
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
    const choice = bestOf(judgement.choices, url, target)
    if (!choice) return this.#judge.miss(target, ref, judgement, url)
    return prepared(target, choice, url, { type, ref, pointer: judgement.pointer })
  }

  /** What becomes of a reference that names nothing. */
  malformed(target: Target, ref: MalformedRef): Refusal {
    return new Refusal('reference', async () => (await import('./refusals.ts')).malformed(target, ref))
  }
}

/** The choice after its strategy has looked at the target, which may refuse it. */
export function prepared(target: Target, choice: Choice, url: URL, { type, ref, pointer }: Wanted): Selection | Refusal {
  const { strategy, scheme, credential } = choice
  const selection = { type, choice, ...(ref !== undefined && { ref }) }
  if (!strategy.prepare) return { ...selection, warnings: [] }
  try {
    return { ...selection, warnings: strategy.prepare({ scheme, pointer, credential, resource: { url: url.href, target } }) }
  } catch (error) {
    if (!isAuthError(error)) throw error
    // Without a scheme there is nothing in the document that a pointer below it could name.
    const placed =
      ref === undefined ? new SelectionError(error.code, error.message, { ...error, pointer: `${target.pointer}/href` }) : error
    return new Refusal('parameters', placed)
  }
}

function byPreference(one: Selection, other: Selection): number {
  const first = one.choice?.credential.preference ?? Number.POSITIVE_INFINITY
  const second = other.choice?.credential.preference ?? Number.POSITIVE_INFINITY
  return first === second ? 0 : first - second
}
