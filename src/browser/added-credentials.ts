/** The credentials that the user added to an engine: which of them have a secret, and which are kept in the wallet. */
import { type Credential, type CredentialObject, Secret } from '../auth/credential.ts'
import { ConfigurationError } from '../errors.ts'
import type { CredentialSummary } from './live-auth.ts'
import { hasSecrets, type KeptCredential, type Wallet } from './wallet.ts'

export class AddedCredentials {
  readonly #wallet: Wallet | undefined
  /** Ids of the credentials that the page gives: nothing in the storage replaces them. */
  readonly #own: ReadonlySet<string>
  /** Ids of those that the user added, and whether these have a secret. */
  readonly #added = new Map<string, { readonly isSecret: boolean }>()
  /** Ids of those that are in the wallet. */
  readonly #kept = new Set<string>()
  readonly #unstored = new Set<string>()

  constructor(wallet: Wallet | undefined, own: ReadonlySet<string>) {
    this.#wallet = wallet
    this.#own = own
  }

  /** Ids of those that are not kept: their tokens are not stored, because the next page would not have the credential. */
  get unstored(): ReadonlySet<string> {
    return this.#unstored
  }

  has(id: string): boolean {
    return this.#added.has(id)
  }

  isKept(id: string): boolean {
    return this.#kept.has(id)
  }

  /** True for an id that the page gives. */
  isOwn(id: string): boolean {
    return this.#own.has(id)
  }

  /** Returns the ids of those with a secret. */
  withSecret(): readonly string[] {
    return [...this.#added].flatMap(([id, { isSecret }]) => (isSecret ? [id] : []))
  }

  /** Returns what a summary says about it. */
  factsOf(id: string): Pick<CredentialSummary, 'added' | 'kept'> {
    return { ...(this.#added.has(id) && { added: true }), ...(this.#kept.has(id) && { kept: true }) }
  }

  /**
   * Adds a credential that was read without an error, and keeps it unless it has a secret that is not to be kept. Errors: `CONFIG_INVALID`.
   *
   * @param logOut removes its tokens, which would be left without it
   */
  async add(given: KeptCredential['credential'], read: Credential, keep: boolean, logOut: () => Promise<void>): Promise<void> {
    const { id } = given
    const isSecret = hasSecrets(read)
    // A function, such as that of a key pair, is not there after a reload.
    const isLost = isSecret || hasFunctions(given)
    if (isLost && keep) checkKeepable(given, this.#wallet?.keepsSecrets === true && !this.#own.has(id))
    const isKept = keep || !isLost
    this.#added.set(id, { isSecret })
    // The page gives it again after a reload.
    if (this.#own.has(id)) return
    if (!isKept && this.#kept.has(id)) await logOut()
    if (isKept || !this.#wallet) this.#unstored.delete(id)
    else this.#unstored.add(id)
    const entry = { credential: given, by: 'user' as const, ...(isSecret && ({ isSecret: true } as const)) }
    const failure = await this.change(id, (known) => (isKept ? { ...entry, sessions: known?.sessions ?? [] } : undefined))
    if (isKept && this.#wallet && failure === undefined) this.#kept.add(id)
    else this.#kept.delete(id)
  }

  /** Notes a credential of the wallet that is added again; false if it was removed from there. */
  async restore(id: string, read: Credential): Promise<boolean> {
    if (!(await this.#wallet?.entries())?.some((entry) => entry.credential.id === id)) return false
    this.#added.set(id, { isSecret: hasSecrets(read) })
    this.#kept.add(id)
    this.#unstored.delete(id)
    return true
  }

  /** Changes what is kept; returns the error of a browser whose storage cannot be used. */
  async change(id: string, next: (known: KeptCredential | undefined) => KeptCredential | undefined): Promise<unknown> {
    return this.#wallet?.change(id, next).catch((error: unknown) => error)
  }

  /** Drops a credential that was removed; what is kept stays. */
  drop(id: string): void {
    this.#added.delete(id)
    this.#kept.delete(id)
    this.#unstored.delete(id)
  }
}

function hasFunctions(credential: CredentialObject): boolean {
  return Object.values(credential).some((value) => typeof value === 'function')
}

/** Errors: `CONFIG_INVALID` for a secret that cannot be stored. */
function checkKeepable(credential: CredentialObject, keepsSecrets: boolean): void {
  if (!keepsSecrets)
    throw new ConfigurationError('CONFIG_INVALID', 'secrets are kept with indexedDbStore() only, and not those of credentials of the page')
  if (!hasFunctions(credential) && Object.values(credential).every((value) => Secret.from(value) === undefined)) return
  throw new ConfigurationError('CONFIG_INVALID', `a secret of "${credential.id}" is a function or a Secret: only text can be kept`)
}
