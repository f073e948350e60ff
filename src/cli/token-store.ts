import type { SessionStore } from '../auth/session.ts'
import type { Warning } from '../auth/strategy.ts'
import { defaultTokenFolder, tokenFiles } from '../node/tokens/token-files.ts'
import { tokenKeyring } from '../node/tokens/token-keyring.ts'
import type { Io } from './io.ts'

/** Returns the token store of the commands: private files; on Windows, where file modes do not protect, the keyring. */
export function tokenStore(env: Io['env'], onWarning: (warning: Warning) => void): SessionStore {
  const folder = defaultTokenFolder({ ...env })
  const options = { ...(folder !== undefined && { folder }), onWarning }
  return process.platform === 'win32' ? tokenKeyring(options) : tokenFiles(options)
}
