/** The credentials that a page keeps beside its tokens, so that each stored token belongs to a credential that the page still has. */
import { type Credential, type CredentialObject, Secret } from '../auth/credential.ts'
import type { SessionStore } from '../auth/session.ts'

/** A credential that is kept, and the tokens that were obtained with it. */
export interface KeptCredential {
  /** Without its secrets, unless the user asked to keep them. */
  readonly credential: CredentialObject & { readonly id: string }
  /** `user`: it was added while the page ran, and is there again after a reload; `page`: the page gives it to each engine. */
  readonly by: 'user' | 'page'
  /** True where `credential` has its secrets. */
  readonly isSecret?: boolean
  /** Keys of its tokens in the store. */
  readonly sessions: readonly string[]
}

/** Keeps credentials. Errors: those of the storage. */
export interface Wallet {
  /** False where secrets must not be kept. */
  readonly keepsSecrets: boolean
  /** Returns all entries; others with a wrong shape are left out. */
  entries(): Promise<readonly KeptCredential[]>
  /** Changes the entry of a credential at once, so that tabs cannot undo each other's changes; `undefined` removes it. */
  change(id: string, next: (entry: KeptCredential | undefined) => KeptCredential | undefined): Promise<void>
  /** Removes the tokens without an entry. */
  removeOrphans(): Promise<void>
  /** Returns which logouts of everything there were. */
  endings(): Promise<Endings>
  /** Marks the beginning and the end of such a logout. */
  setEnding(isUnderWay: boolean): Promise<void>
}

/** Logouts of everything. */
export interface Endings {
  /** Their number: what began before another one began has ended with it, also in tabs that were not told. */
  readonly number: number
  /** True from the beginning of the last one to its end: one that was interrupted is finished at the next start. */
  readonly isUnderWay: boolean
}

/** Returns the record of the logouts after one has begun or ended. */
export function withEnding({ number }: Endings, isUnderWay: boolean): Endings {
  return { number: isUnderWay ? number + 1 : number, isUnderWay }
}

/** Returns the record in the storage, into which every script of the origin can write. */
export function readEndings(value: unknown): Endings {
  const { number, isUnderWay } = (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>
  return { number: Number.isSafeInteger(number) ? (number as number) : 0, isUnderWay: isUnderWay === true }
}

/** A store of tokens that keeps the credentials of a page as well. */
export interface PageStore extends SessionStore {
  /** The credentials. */
  readonly wallet: Wallet
}

/** Returns the store with a wallet: a token is stored after its credential. */
export function withWallet(store: SessionStore, wallet: Wallet): PageStore {
  // One store for a credential, because warnings are given once for a store.
  const stores = new WeakMap<Credential, SessionStore>()
  return {
    ...store,
    wallet,
    of(credential) {
      const known = stores.get(credential)
      if (known) return known
      const write = async (key: string, text: string) => {
        // Without its credential a token would be removed at the next start; then it lasts as long as the page.
        await wallet.change(credential.id, (entry) => withSession(entry ?? pageCredential(credential), key)).catch(() => undefined)
        await store.write(key, text)
      }
      const own = { ...store, write }
      stores.set(credential, own)
      return own
    },
  }
}

export function walletOf(store: SessionStore | undefined): Wallet | undefined {
  return (store as Partial<PageStore> | undefined)?.wallet
}

function withSession(entry: KeptCredential, key: string): KeptCredential {
  return entry.sessions.includes(key) ? entry : { ...entry, sessions: [...entry.sessions, key] }
}

function pageCredential(credential: Credential): KeptCredential {
  return { credential: plainForm(credential), by: 'page', sessions: [] }
}

/** Returns a credential as it was before reading, without its secrets. */
function plainForm({ preference: _, ...credential }: Credential): KeptCredential['credential'] {
  return written(credential) as KeptCredential['credential']
}

/** Returns a value that was read as it is written in JSON: patterns as text, maps as objects. Secrets and functions are left out. */
function written(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(written)
  if (value instanceof Map) return written(Object.fromEntries(value))
  if (typeof value !== 'object' || value === null) return value
  if ('pattern' in value && 'wildcard' in value) return value.pattern
  const kept = Object.entries(value).filter(([, inner]) => !isSecret(inner) && typeof inner !== 'function')
  return Object.fromEntries(kept.map(([name, inner]) => [name, written(inner)]))
}

/** True for a credential with a secret that the user has typed, or the page has given. */
export function hasSecrets(credential: Credential): boolean {
  return Object.values(credential).some(isSecret)
}

function isSecret(value: unknown): boolean {
  return value instanceof Map ? [...value.values()].some(isSecret) : Secret.from(value) !== undefined
}

/** Returns the entry if it has the expected shape: every script of the origin can write into the storage. */
export function readKept(value: unknown): KeptCredential | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { credential, by, sessions, isSecret: hasSecret } = value as Readonly<Record<string, unknown>>
  const { id, type } = (typeof credential === 'object' && credential !== null ? credential : {}) as Readonly<Record<string, unknown>>
  const areTexts = Array.isArray(sessions) && sessions.every((key) => typeof key === 'string')
  if (typeof id !== 'string' || typeof type !== 'string' || (by !== 'user' && by !== 'page') || !areTexts) return undefined
  return { credential: credential as KeptCredential['credential'], by, sessions, ...(hasSecret === true && { isSecret: true }) }
}
