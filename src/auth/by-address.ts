/** Selects a credential for a target without references by its URL: only where the user opted in, never because of catalog text. */
import type { Target } from '../stac/target.ts'
import { bestOf, type Choice } from './choice.ts'
import { Refusal } from './judge.ts'
import { linkRequestProblem } from './resource.ts'
import { prepared, type Selection } from './select.ts'

/** What the user allows for targets without references. */
export class ByAddress {
  readonly #own: readonly Choice[]
  readonly #allowed: readonly Choice[]
  readonly #named: ReadonlySet<string>

  /** With `all` every credential may be used, else those that say `"use": "by-address"`. */
  constructor(own: readonly Choice[], named: ReadonlySet<string>, all: boolean) {
    this.#own = own
    this.#allowed = all ? own : own.filter(({ credential }) => credential.use === 'by-address')
    this.#named = named
  }

  /**
   * The credential for that URL of the target, or why it cannot be used; undefined when no credential is to be sent. Of several that
   * cover the URL a preferred one, else the one with the narrowest pattern, else the earliest is used, whatever their types are.
   */
  select(target: Target, url: URL): Selection | Refusal | undefined {
    const choice = this.#allowed.length > 0 && this.#mayHave(target, url) ? bestOf(this.#allowed, url, target) : undefined
    if (!choice) return undefined
    const forbidden = linkRequestProblem(target)
    if (forbidden) return new Refusal('reference', forbidden)
    return prepared(target, choice, url, { type: choice.credential.type, pointer: target.pointer })
  }

  /** Id of the credential that would be selected if the user opted in. */
  possible(target: Target, url: URL): string | undefined {
    return this.#mayHave(target, url) ? bestOf(this.#own, url, target)?.credential.id : undefined
  }

  /** True where the document says nothing: any `auth:refs`, even an empty or a malformed one, is a word on this target. */
  #mayHave({ refsOf }: Target, url: URL): boolean {
    return !Object.hasOwn(refsOf.object, 'auth:refs') && (url.protocol !== 'http:' || this.#named.has(url.origin))
  }
}
