/** The operating system's secret store, through an optional package. */
import { type SessionStore, withMemoryFallback } from '../../auth/token-store.ts'
import { isAuthError } from '../../errors.ts'
import { sourceError } from '../credentials/secret-text.ts'
import { openFilesFailure } from '../system-error.ts'
import { defaultTokenFolder, nowhere, type TokenFilesOptions, TokenFolder } from './token-files.ts'

/** Apart from the service of the secrets that users put there themselves. */
const SERVICE = 'stac-auth tokens'

/** The kernel's keyring, which the package would take instead, forgets everything when the user logs out. */
const OPTIONS = { linux: { store: 'secret-service' } } as const

/**
 * A store in the operating system's keyring, through the optional package `@napi-rs/keyring`. A file per key says that the
 * keyring has it, and serves as lock. What the keyring does not take (no package, no service, locked, too long) is kept as by
 * `tokenFiles`, with the warning `CREDENTIAL_SOURCE`.
 *
 * Errors: those of `tokenFiles`; `CREDENTIAL_SOURCE` when the keyring does not remove what it has.
 */
export function tokenKeyring({ folder = defaultTokenFolder(), onWarning }: TokenFilesOptions = {}, load = loadKeyring): SessionStore {
  if (folder === undefined) return withMemoryFallback(nowhere(), onWarning)
  const files = new TokenFolder(folder)
  let warned = false

  function warn(problem: string): void {
    if (!warned) onWarning?.({ code: 'CREDENTIAL_SOURCE', message: problem })
    warned = true
  }

  /** Returns the response of the keyring; undefined when it fails. Relevant consequences are reported as a warning. */
  async function ask<T>(key: string, question: (entry: KeyringEntry) => T, consequence?: string): Promise<{ answer: T } | undefined> {
    try {
      const { Entry } = await load()
      return { answer: question(new Entry(SERVICE, key, OPTIONS)) }
    } catch (error) {
      // Errors of the package may hold anything.
      const problem = isAuthError(error) ? `${error.message} (${error.hint})` : 'the system keyring cannot be used'
      if (consequence) warn(`${problem}: ${consequence}`)
      return undefined
    }
  }

  const store: SessionStore = {
    read: async (key) => {
      const { text, keyring } = (await files.load(key)) ?? {}
      if (text !== undefined || !keyring) return text
      return (await ask(key, (entry) => entry.getPassword(), 'its tokens are not used'))?.answer ?? undefined
    },
    write: async (key, text) => {
      // Whoever has come meanwhile has newer ones.
      if (!(await files.mayReplace(key))) return
      const { text: old, keyring } = (await files.load(key)) ?? {}
      // A text in the file goes before that of the keyring: at every moment the newest one is read.
      if (!keyring || old !== undefined) await files.save(key, { keyring: true, ...(old !== undefined && { text }) })
      const taken = await ask(
        key,
        (entry) => entry.setPassword(text),
        `tokens are stored in files in ${files.path}, which only you can read`,
      )
      if (!taken) await files.save(key, { text, ...(keyring && { keyring }) })
      else if (old !== undefined) await files.save(key, { keyring: true })
      // A new file tells others that there is something newer; where it cannot be made, the keyring has it all the same.
      else await files.save(key, { keyring: true }).catch(() => undefined)
    },
    // The keyring may refuse a text at any time; a file with room for it is there then.
    reserve: async (key, length) => {
      const { text, keyring } = (await files.load(key)) ?? {}
      if (!keyring) await files.save(key, { keyring: true, ...(text !== undefined && { text }) })
      await files.reserve(key, length)
    },
    remove: async (key) => {
      const { text, keyring } = (await files.load(key)) ?? {}
      // Asked even when no file says so: the file may have been lost.
      if ((await ask(key, (entry) => entry.deletePassword())) || !keyring) return files.remove(key)
      if (text !== undefined) await files.save(key, { keyring })
      throw sourceError('the system keyring does not remove its tokens', 'unlock it and try again')
    },
    exclusively: (key, run, signal) => files.exclusively(key, run, signal),
  }
  return withMemoryFallback(store, onWarning)
}

/** One secret in the store; its methods throw when the store is locked, absent or refuses. */
interface KeyringEntry {
  getPassword(): string | null
  setPassword(password: string): void
  /** False when there was nothing to delete. */
  deletePassword(): boolean
}

/** What of the optional package `@napi-rs/keyring` is used. */
interface Keyring {
  readonly Entry: new (service: string, account: string, options?: KeyringOptions) => KeyringEntry
}

interface KeyringOptions {
  readonly linux?: { readonly store?: 'secret-service' }
}

/** Loads the package. Errors: `CREDENTIAL_SOURCE` with the command that installs it. */
export async function loadKeyring(): Promise<Keyring> {
  const name: string = '@napi-rs/keyring'
  try {
    return await import(name)
  } catch (error) {
    throw (
      openFilesFailure(error) ??
      sourceError('the system keyring needs the optional package @napi-rs/keyring', 'npm install @napi-rs/keyring')
    )
  }
}
