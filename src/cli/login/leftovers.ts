import { defaultTokenFolder, TokenFolder } from '../../node/token-folder.ts'
import { tokenKeyring } from '../../node/token-keyring.ts'
import type { Context } from '../context.ts'

/** Kept tokens, for keys that say nothing about whose they are. */
export interface Leftovers {
  readonly count: number
  /** Forgets them all; what cannot be is left, and the first failure thrown. Errors: those of the store. */
  forget(): Promise<void>
}

/** What the commands keep of tokens, whatever entry it was for. Errors: `CACHE_UNSAFE`, `FILE_ACCESS`. */
export async function leftoverTokens({ io, diagnostics }: Context): Promise<Leftovers> {
  const folder = defaultTokenFolder({ ...io.env })
  if (folder === undefined) return { count: 0, forget: async () => {} }
  const keys = await new TokenFolder(folder).keys()
  const forget = async () => {
    // It looks into the keyring as well, where programs of the user may have put some.
    const store = tokenKeyring({ folder, onWarning: diagnostics.warn })
    const failures: unknown[] = []
    for (const key of keys) await store.exclusively(key, () => store.remove(key), io.signal).catch((error) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  }
  return { count: keys.length, forget }
}
