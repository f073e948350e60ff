/** A token store in the operating system's keyring, through an optional package. */
import { type SessionStore, withMemoryFallback } from '../../auth/session.ts'
import { isAuthError } from '../../errors.ts'
import { checkNamed } from '../base/check-options.ts'
import { KEYRING_OPTIONS, type KeyringEntry, keyringAnswer, loadKeyring } from '../credentials/keyring.ts'
import { sourceError } from '../credentials/secret-source.ts'
import { defaultTokenFolder, nowhere, TOKEN_FILES, type TokenFilesOptions, TokenFolder } from './token-files.ts'

/** Service name of tokens, separate from that of the secrets that users store themselves. */
const SERVICE = 'stac-auth tokens'

/**
 * Returns a store in the operating system's keyring, through the optional package `@napi-rs/keyring`. A file per key marks tokens that are
 * in the keyring and serves as the lock. What the keyring cannot store (no package, no service, locked, too long) is stored as by
 * `tokenFiles`, with the warning `CREDENTIAL_SOURCE`.
 *
 * Errors: those of `tokenFiles`; `CREDENTIAL_SOURCE` when tokens cannot be removed from the keyring.
 *
 * @example createAuth({ credentials, session: tokenKeyring({ onWarning: ({ message }) => console.warn(message) }) })
 */
export function tokenKeyring(options: TokenFilesOptions = {}, load = loadKeyring): SessionStore {
  checkNamed('tokenKeyring', options, TOKEN_FILES)
  const { folder = defaultTokenFolder(), onWarning } = options
  if (folder === undefined) return withMemoryFallback(nowhere(), onWarning)
  const files = new TokenFolder(folder)
  let warned = false

  function warn(problem: string): void {
    if (!warned) onWarning?.({ code: 'CREDENTIAL_SOURCE', message: problem })
    warned = true
  }

  /** Returns the response of the keyring; undefined when it fails. Relevant consequences are reported as a warning. */
  async function ask<T>(
    key: string,
    question: (entry: KeyringEntry) => Promise<T>,
    consequence?: string,
  ): Promise<{ answer: T } | undefined> {
    try {
      const { AsyncEntry } = await load()
      return { answer: await keyringAnswer(question(new AsyncEntry(SERVICE, key, KEYRING_OPTIONS))) }
    } catch (error) {
      // Error texts of the package may contain secrets.
      const problem = isAuthError(error) ? `${error.message} (${error.hint})` : 'the system keyring is unavailable'
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
      // Another process may have stored newer tokens.
      if (!(await files.mayReplace(key))) return
      const { text: old, keyring } = (await files.load(key)) ?? {}
      // A file with a token set takes precedence over the keyring, so that the newest one is always read.
      if (!keyring || old !== undefined) await files.save(key, { keyring: true, ...(old !== undefined && { text }) })
      const taken = await ask(
        key,
        (entry) => entry.setPassword(text),
        `tokens are stored in files in ${files.path}, which only you can read`,
      )
      if (!taken) await files.save(key, { text, ...(keyring && { keyring }) })
      else if (old !== undefined) await files.save(key, { keyring: true })
      // The new file marks newer tokens. If it cannot be written, the keyring still contains them.
      else await files.save(key, { keyring: true }).catch(() => undefined)
    },
    // The keyring may refuse a write at any time, so space for a file is reserved.
    reserve: async (key, length) => {
      const { text, keyring } = (await files.load(key)) ?? {}
      if (!keyring) await files.save(key, { keyring: true, ...(text !== undefined && { text }) })
      await files.reserve(key, length)
    },
    remove: async (key) => {
      const { text, keyring } = (await files.load(key)) ?? {}
      // The keyring is queried even without a file, which may have been lost.
      if ((await ask(key, (entry) => entry.deletePassword())) || !keyring) return files.remove(key)
      if (text !== undefined) await files.save(key, { keyring })
      throw sourceError('the tokens cannot be removed from the system keyring', 'unlock it and try again')
    },
    exclusively: (key, run, signal, meanwhile) => files.exclusively(key, run, signal, meanwhile),
  }
  return withMemoryFallback(store, onWarning)
}
