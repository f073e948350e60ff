/** The credentials that the author of a page offers: which one a refused request lacks. */
import type { Auth } from '../auth/auth.ts'
import { createAuth } from '../auth/create-auth.ts'
import { targetAddress } from '../auth/resource.ts'
import { covers, parseUrlPattern } from '../auth/url-pattern.ts'
import { ConfigurationError, isAuthError } from '../errors.ts'
import type { Target } from '../stac/target.ts'
import { canParseUrl } from '../text/can-parse-url.ts'
import type { DescribeOptions, FormField } from './credential-form.ts'
import { patternsOf } from './credential-summary.ts'
import type { LiveAuthOptions, OfferedCredential } from './live-auth.ts'
import type { KeptCredential } from './wallet.ts'

export class Offers {
  /** The offers, the most preferred first. */
  readonly #offers: readonly OfferedCredential[]
  readonly #options: Pick<DescribeOptions, 'strategies'>
  /** Engines by the ids of their offers, for the URLs that the user typed: a map asks for each of its tiles. */
  readonly #engines = new Map<string, Promise<Auth | undefined>>()
  #typed: readonly string[] = []

  /** Errors: `CONFIG_INVALID` for a malformed URL pattern. */
  constructor({ offers = [], strategies }: Pick<LiveAuthOptions, 'offers' | 'strategies'>, preferred: readonly string[]) {
    for (const offer of offers) patternsOf(offer).forEach((pattern) => void parseUrlPattern(pattern))
    const rank = ({ id }: OfferedCredential) => (preferred.includes(id) ? preferred.indexOf(id) : preferred.length)
    this.#offers = [...offers].sort((one, other) => rank(one) - rank(other))
    this.#options = strategies ? { strategies } : {}
  }

  get(id: string): OfferedCredential | undefined {
    return this.#offers.find((offer) => offer.id === id)
  }

  /**
   * Returns the offer that would be used for a URL, or by the references of a target, if its secrets were known: the most preferred one, then
   * the first.
   */
  async suitable(
    given: Target | string,
    typed: readonly string[],
    isPossible: (id: string) => boolean,
  ): Promise<OfferedCredential | undefined> {
    const address = addressOf(given)
    if (address === undefined) return undefined
    if (typed !== this.#typed) this.#engines.clear()
    this.#typed = typed
    const isCovered = (offer: OfferedCredential) => patternsOf(offer).some((pattern) => covers(parseUrlPattern(pattern), address))
    const possible = this.#offers.filter((offer) => isPossible(offer.id) && isCovered(offer))
    if (typeof given === 'string' || given.refs.length === 0) return possible[0]
    for (const offer of possible) {
      const refs = (await (await this.#engineOf(offer))?.explain(given))?.refs ?? []
      if (refs.some(({ credential }) => credential === offer.id)) return offer
    }
    return undefined
  }

  /**
   * Returns a credential that was kept as the page offers it now, with what the user typed for it; without an offer as it is. Errors:
   * `CONFIG_INVALID` for other URLs.
   */
  async asOffered(kept: KeptCredential['credential']): Promise<KeptCredential['credential']> {
    const offer = this.get(kept.id)
    if (!offer) return kept
    const { formFor } = await import('./form-models.ts')
    const { fields } = await formFor(offer, this.#options)
    const typed = fields.flatMap(({ name }) => (kept[name] === undefined ? [] : [[name, kept[name]] as const]))
    const sendTo = patternsOf(offer).filter((pattern) => patternsOf(kept).includes(pattern))
    if (sendTo.length === 0) throw new ConfigurationError('CONFIG_INVALID', `"${kept.id}" was kept for URLs that are no longer offered`)
    return { ...Object.fromEntries(typed), ...offer, sendTo }
  }

  #engineOf(offer: OfferedCredential): Promise<Auth | undefined> {
    const known = this.#engines.get(offer.id)
    if (known) return known
    const engine = engineOf(offer, { ...this.#options, typed: this.#typed }).catch((error: unknown) => {
      // A module that could not be loaded may be there the next time.
      this.#engines.delete(offer.id)
      throw error
    })
    this.#engines.set(offer.id, engine)
    return engine
  }
}

/** Returns the URL of a request, if it has one. */
export function addressOf(given: Target | string): URL | undefined {
  if (typeof given === 'string') return canParseUrl(given) ? new URL(given) : undefined
  try {
    return new URL(targetAddress(given))
  } catch {
    return undefined
  }
}

/** Returns an engine that has the offer with other secrets. */
async function engineOf(offer: OfferedCredential, options: DescribeOptions): Promise<Auth | undefined> {
  const { credentialOfForm, formFor } = await import('./form-models.ts')
  try {
    const model = await formFor(offer, options)
    const values = Object.fromEntries(model.fields.flatMap((field) => (field.required ? [[field.name, anyValue(field)]] : [])))
    const credential = await credentialOfForm(model, values, { ...model, id: offer.id }, options)
    const engine = createAuth({ ...options, credentials: [credential] })
    await engine.ready()
    return engine
  } catch (error) {
    // Of no use in a page, or with a secret of which not every text is one.
    if (isAuthError(error)) return undefined
    throw error
  }
}

function anyValue({ type, options }: FormField): string {
  return options?.[0] ?? (type === 'url' ? 'https://host.invalid/' : '1')
}
