import type { Warning } from '../auth/strategy.ts'
import type { SessionStore } from '../auth/token-store.ts'
import { defaultTokenFolder, tokenFiles } from '../node/tokens/token-files.ts'
import { tokenKeyring } from '../node/tokens/token-keyring.ts'
import type { Io } from './io.ts'

/** Where the commands keep tokens: files of the user's own; on Windows, where modes mean little, the keyring. */
export function tokenStore(env: Io['env'], onWarning: (warning: Warning) => void): SessionStore {
  const folder = defaultTokenFolder({ ...env })
  const options = { ...(folder !== undefined && { folder }), onWarning }
  return process.platform === 'win32' ? tokenKeyring(options) : tokenFiles(options)
}
