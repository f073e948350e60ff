import { withMemoryFallback } from '../auth/memory-fallback.ts'
import type { SessionStore } from '../auth/session-store.ts'
import type { Warning } from '../auth/strategy.ts'
import { IntegrityError } from '../errors.ts'
import { defaultTokenFolder, TokenFolder } from './token-folder.ts'
import { folderVariables } from './user-folder.ts'

export interface TokenFilesOptions {
  /** Absolute path; default `stac-auth/tokens` in the user's folder for caches. Made with the first token, mode 0700. */
  readonly folder?: string
  /** Hears once when tokens cannot be kept as asked. */
  readonly onWarning?: (warning: Warning) => void
}

/**
 * A store that all processes of one user share: one file per key, mode 0600, in a folder of the user's own. Without a folder to
 * write to it is memory, with the warning `CACHE_MEMORY_ONLY`.
 *
 * Errors: `CACHE_UNSAFE` for files and folders that others can, or could, look into, with the command that repairs it;
 * `CACHE_LOCK_TIMEOUT` when another process holds a key for more than 30 s; `FILE_ACCESS` when what is there cannot be removed;
 * `ABORTED` while waiting. Files that are damaged or of another version are renamed to `.corrupt` and count as absent.
 */
export function tokenFiles({ folder = defaultTokenFolder(), onWarning }: TokenFilesOptions = {}): SessionStore {
  if (folder === undefined) return withMemoryFallback(nowhere(), onWarning)
  const files = new TokenFolder(folder)
  const store: SessionStore = {
    read: async (key) => (await files.load(key))?.text,
    write: (key, text) => files.save(key, { text }),
    reserve: (key, length) => files.reserve(key, length),
    remove: (key) => files.remove(key),
    exclusively: (key, run, signal) => files.exclusively(key, run, signal),
  }
  return withMemoryFallback(store, onWarning)
}

/** The store of a user who has no folder. */
export function nowhere(): SessionStore {
  const fail = async () => {
    throw new IntegrityError('FILE_ACCESS', `there is no folder for tokens: neither ${folderVariables('cache')} is an absolute path`)
  }
  return { read: fail, write: fail, remove: async () => {}, exclusively: fail }
}
