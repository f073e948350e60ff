import type { SessionStore } from '../auth/session-store.ts'
import type { Warning } from '../auth/strategy.ts'
import { tokenFiles } from '../node/token-files.ts'
import { defaultTokenFolder } from '../node/token-folder.ts'
import { tokenKeyring } from '../node/token-keyring.ts'
import type { Io } from './io.ts'

/** Where the commands keep tokens: files of the user's own; on Windows, where modes mean little, the keyring. */
export function tokenStore(env: Io['env'], onWarning: (warning: Warning) => void): SessionStore {
  const folder = defaultTokenFolder({ ...env })
  const options = { ...(folder !== undefined && { folder }), onWarning }
  return process.platform === 'win32' ? tokenKeyring(options) : tokenFiles(options)
}
