/** The user's side of an engine, ready to choose: entries at hand, tuples known. */
import type { AuthError } from '../errors.ts'
import { isProtected, type Target } from '../stac/target.ts'
import type { Explanation } from './auth.ts'
import { ByAddress } from './by-address.ts'
import type { Choice } from './choice.ts'
import type { Credential } from './credential.ts'
import { grantedOrigins } from './granted-origins.ts'
import { Judge, Refusal } from './judge.ts'
import type { Registry } from './registry.ts'
import { resourceOf } from './resource.ts'
import { type Selection, Selector, Unusable } from './select.ts'
import type { Strategy } from './strategy.ts'

export class Chooser {
  readonly #registry: Registry
  readonly #selector: Selector
  readonly #judge: Judge
  /** Origins that the user wrote down. */
  readonly named: ReadonlySet<string>
  /** Each entry as a choice of its own, for addresses without references. */
  readonly own: readonly Choice[]
  readonly #byAddress: ByAddress

  /** The strategies of all entries must be loaded. With `byAddress` every entry may serve targets without references. */
  constructor(credentials: readonly Credential[], registry: Registry, typed: readonly string[], byAddress = false) {
    this.#registry = registry
    this.named = grantedOrigins(credentials, registry.loaded, typed)
    this.#judge = new Judge(registry, credentials, this.named)
    this.#selector = new Selector(this.#judge, credentials)
    this.own = credentials.flatMap((credential) => {
      const strategy = registry.get(credential.type)
      return strategy ? [{ credential, strategy, scheme: strategy.schemeOf(credential) }] : []
    })
    this.#byAddress = new ByAddress(this.own, this.named, byAddress)
  }

  /** Loads what the schemes of a target need. */
  async prepare(target: Target): Promise<void> {
    if (this.#registry.isPartial) await this.#registry.load(target.refs.flatMap((ref) => this.#judge.typesOf(target, ref)))
  }

  /** True when nothing needs to be loaded for the target. */
  isPrepared(target: Target): boolean {
    return (
      !this.#registry.isPartial ||
      !target.refs.some((ref) => this.#judge.typesOf(target, ref).some((type) => this.#registry.isPending(type)))
    )
  }

  /** The absolute address of a target. Errors: `URL_*`, `LINK_REQUEST_FORBIDDEN`. */
  addressOf(target: Target): URL {
    return resourceOf(target, this.named, this.#registry.loaded)
  }

  /** The usable references, best first; none for a target that asks for nothing, unless the user lets it have a credential by its URL. */
  select(target: Target, url: URL, anonymous?: 'allow'): readonly Selection[] | Unusable {
    const outcome = isProtected(target) ? this.#selector.select(target, url) : this.#withoutReferences(target, url)
    return outcome instanceof Unusable && anonymous === 'allow' ? [] : outcome
  }

  /** The strategy of that type, if there is one. */
  async strategyOf(type: string): Promise<Strategy | undefined> {
    await this.#registry.load([type])
    return this.#registry.get(type)
  }

  async explain(target: Target, hindrance: (selection: Selection) => Promise<AuthError | undefined>): Promise<Explanation> {
    const { explain } = await import('./explain.ts')
    const addressOf = (target: Target) => this.addressOf(target)
    return explain(target, { selector: this.#selector, byAddress: this.#byAddress, addressOf, hindrance })
  }

  #withoutReferences(target: Target, url: URL): readonly Selection[] | Unusable {
    const outcome = this.#byAddress.select(target, url)
    if (outcome instanceof Refusal) return new Unusable([outcome])
    return outcome ? [outcome] : []
  }
}
