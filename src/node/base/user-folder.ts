/**
 * Folders of the user. Variables with a relative path are ignored (XDG Base Directory Specification §2), because the working directory
 * would then decide which files are read.
 */
import { homedir, userInfo } from 'node:os'
import { isAbsolute, posix, win32 } from 'node:path'
import { ConfigurationError } from '../../errors.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Returns the home folder: `HOME`, on Windows `USERPROFILE`, else that of the account; undefined when none is an absolute path. */
export function homeFolder(
  env: Environment = process.env,
  platform: NodeJS.Platform = process.platform,
  account: () => string = accountHome,
): string | undefined {
  const named = platform === 'win32' ? env.USERPROFILE : env.HOME
  return absolute(named, platform) ?? absolute(account(), platform)
}

/** Returns our folder in the user's configuration or cache folder; undefined where there is none. */
export function userFolder(
  kind: 'config' | 'cache',
  parts: readonly string[],
  env: Environment = process.env,
  platform: NodeJS.Platform = process.platform,
  account?: () => string,
): string | undefined {
  const { named, below } = FOLDERS[platform === 'win32' ? 'windows' : 'others'][kind]
  const { join } = platform === 'win32' ? win32 : posix
  const base = absolute(env[named], platform)
  if (base !== undefined) return join(base, ...parts)
  const home = homeFolder(env, platform, account)
  return home === undefined ? undefined : join(home, below, ...parts)
}

/** Names the variables that set the folder, for messages. */
export function folderVariables(kind: 'config' | 'cache', platform: NodeJS.Platform = process.platform): string {
  const { named } = FOLDERS[platform === 'win32' ? 'windows' : 'others'][kind]
  return `${named} nor ${platform === 'win32' ? 'USERPROFILE' : 'HOME'}`
}

/** Says how to use another folder, for hints. */
export function folderHint(kind: 'config' | 'cache', platform: NodeJS.Platform = process.platform): string {
  return `set ${FOLDERS[platform === 'win32' ? 'windows' : 'others'][kind].named} to the absolute path of a folder that you can write`
}

/** Says how to use another folder for temporary files, for hints. */
export function temporaryHint(): string {
  return `set ${process.platform === 'win32' ? 'TEMP' : 'TMPDIR'} to the absolute path of a folder that you can write`
}

/** Returns the variables without those that set a user folder to a relative path, for programs that would read commands there. */
export function withAbsoluteFolders<Variables extends Environment>(env: Variables): Variables {
  const isGood = ([name, value]: [string, string | undefined]) => !BASES.test(name) || absolute(value, process.platform) !== undefined
  return Object.fromEntries(Object.entries(env).filter(isGood)) as Variables
}

/** Throws where third-party libraries would look for the home folder in the working directory. Errors: `CONFIG_INVALID`. */
export function checkHome(env: Environment = process.env): void {
  const named = env.HOME || env.USERPROFILE || (env.HOMEPATH && `${env.HOMEDRIVE ?? 'C:'}${env.HOMEPATH}`)
  if (isAbsolute(named || libraryHome())) return
  throw new ConfigurationError('CONFIG_INVALID', 'the home folder cannot be used: its path is not absolute', { hint: HOME_HINT })
}

/** Returns what libraries take for the home folder, which is empty with an empty `HOME`. */
function libraryHome(): string {
  try {
    return homedir()
  } catch {
    return ''
  }
}

/** Hint for a missing home folder. */
export const HOME_HINT = 'set HOME (on Windows USERPROFILE) to an absolute path'

const FOLDERS = {
  windows: { config: { named: 'APPDATA', below: 'AppData\\Roaming' }, cache: { named: 'LOCALAPPDATA', below: 'AppData\\Local' } },
  others: { config: { named: 'XDG_CONFIG_HOME', below: '.config' }, cache: { named: 'XDG_CACHE_HOME', below: '.cache' } },
} as const

const BASES = /^(?:HOME|XDG_(?:CONFIG|DATA|CACHE|STATE)_HOME|APPDATA|LOCALAPPDATA|USERPROFILE)$/i

/** Returns the path if it is absolute. On Windows it needs a drive or share: `\folder` depends on the working directory. */
function absolute(path: string | undefined, platform: NodeJS.Platform): string | undefined {
  if (!path) return undefined
  const isIt = platform === 'win32' ? /^(?:[A-Za-z]:[\\/]|[\\/]{2}[^\\/])/.test(path) : posix.isAbsolute(path)
  return isIt ? path : undefined
}

/** Returns the home folder of the account; empty for an account unknown to the system. */
function accountHome(): string {
  try {
    return userInfo().homedir
  } catch {
    return ''
  }
}
