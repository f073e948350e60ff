/** What requests lacked: credentials of the engine, and those that the page offers, until a request for the same URL succeeds. */
import { type AuthError, isAuthError, SelectionError } from '../errors.ts'
import type { Target } from '../stac/target.ts'
import type { CredentialNeed, LiveAuthOptions } from './live-auth.ts'
import { addressOf, Offers } from './offers.ts'

/** Codes of a request that lacks the credential that it names. */
const LACKING = new Set(['LOGIN_REQUIRED', 'AUTH_REJECTED', 'CREDENTIAL_SOURCE'])

/** Codes of a request for which the user has no credential. */
const MISSING = new Set(['NO_CREDENTIAL', 'SCHEME_MISMATCH', 'CREDENTIAL_TARGET_UNTRUSTED', 'CREDENTIAL_ENDPOINT_UNTRUSTED'])

/** The engine whose requests lack something. */
interface Engine {
  /** The URLs that the user typed. */
  typed(): readonly string[]
  has(credential: string): boolean
  /** Called when a need begins or ends. */
  changed(kind: 'needed' | 'met', credential: string): void
}

interface Need {
  readonly error: AuthError
  /** URL of the last request that lacked it. */
  readonly url: string | undefined
}

export class CredentialNeeds {
  readonly #needs = new Map<string, Need>()
  /** What the page offers. */
  readonly offers: Offers
  readonly #preferred: readonly string[]
  readonly #engine: Engine

  /** Errors: `CONFIG_INVALID` for a malformed URL pattern of an offer. */
  constructor(options: Pick<LiveAuthOptions, 'offers' | 'strategies'>, preferred: readonly string[], engine: Engine) {
    this.offers = new Offers(options, preferred)
    this.#preferred = preferred
    this.#engine = engine
  }

  list(): readonly CredentialNeed[] {
    return [...this.#needs].map(([credential, { error }]) => ({ credential, error }))
  }

  /** Ends the need of a credential that has changed. */
  end(credential: string): void {
    this.#needs.delete(credential)
  }

  /** Ends the needs that a server has met, which accepted a credential for a URL. */
  accepted(credential: string, url: string): void {
    for (const [id, need] of this.#needs) {
      if (id !== credential && need.url !== url) continue
      this.#needs.delete(id)
      this.#engine.changed('met', id)
    }
  }

  /**
   * Notes which offer suits a request without a credential that was refused with status 401 or 403; false where none does.
   *
   * @param other id of a credential: only offers that are preferred to it are noted
   */
  async noteRefusal(given: Target | string | undefined, other?: string): Promise<boolean> {
    const isPossible = (id: string) => !this.#engine.has(id) && (other === undefined || this.#isPreferred(id, other))
    const offer = given !== undefined && (await this.offers.suitable(given, this.#engine.typed(), isPossible))
    if (!offer || this.#engine.has(offer.id)) return false
    const url = addressOf(given)
    const error = new SelectionError('NO_CREDENTIAL', `${url?.origin} requires "${offer.id}"`, { credential: offer.id })
    this.#note(offer.id, { error, url: url?.href })
    return true
  }

  /** Notes which credential a failed request lacked. */
  async noteFailure(error: unknown, given: Target | string | undefined): Promise<void> {
    if (!isAuthError(error)) return
    const { code, credential, url = given } = error
    if (MISSING.has(code)) await this.noteRefusal(typeof given === 'object' ? given : url)
    if (!LACKING.has(code) || credential === undefined || !this.#engine.has(credential)) return
    if (!(await this.noteRefusal(given, credential))) this.#note(credential, { error, url: given && addressOf(given)?.href })
  }

  #note(id: string, need: Need): void {
    const known = this.#needs.get(id)
    this.#needs.set(id, need)
    if (known?.error.code !== need.error.code) this.#engine.changed('needed', id)
  }

  #isPreferred(id: string, other: string): boolean {
    const [one, two] = [this.#preferred.indexOf(id), this.#preferred.indexOf(other)]
    return one >= 0 && (two < 0 || one < two)
  }
}
