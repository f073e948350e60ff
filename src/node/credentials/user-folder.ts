/**
 * Folders of the user. A variable whose value is not an absolute path is ignored (XDG Base Directory Specification §2): else whoever
 * fills the working directory would decide what is read, and what runs.
 */
import { homedir, userInfo } from 'node:os'
import { isAbsolute, posix, win32 } from 'node:path'
import { ConfigurationError } from '../../errors.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The home folder: `HOME`, on Windows `USERPROFILE`, else that of the account; undefined when none of them is an absolute path. */
export function homeFolder(
  env: Environment = process.env,
  platform: NodeJS.Platform = process.platform,
  account: () => string = accountHome,
): string | undefined {
  const named = platform === 'win32' ? env.USERPROFILE : env.HOME
  return absolute(named, platform) ?? absolute(account(), platform)
}

/** Where the user's programs keep their configuration and their caches, with our part of it; undefined where there is no such folder. */
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

/** The variables that name folders of the user, as a sentence has them. */
export function folderVariables(kind: 'config' | 'cache', platform: NodeJS.Platform = process.platform): string {
  const { named } = FOLDERS[platform === 'win32' ? 'windows' : 'others'][kind]
  return `${named} nor ${platform === 'win32' ? 'USERPROFILE' : 'HOME'}`
}

/** The same variables without those that name a folder of the user by a relative path: for programs that would read commands there. */
export function withAbsoluteFolders<Variables extends Environment>(env: Variables): Variables {
  const isGood = ([name, value]: [string, string | undefined]) => !BASES.test(name) || absolute(value, process.platform) !== undefined
  return Object.fromEntries(Object.entries(env).filter(isGood)) as Variables
}

/**
 * Refuses an environment in which third-party libraries would look for the home folder in the working directory. Errors: `CONFIG_INVALID`.
 */
export function checkHome(env: Environment = process.env): void {
  const named = env.HOME || env.USERPROFILE || (env.HOMEPATH && `${env.HOMEDRIVE ?? 'C:'}${env.HOMEPATH}`)
  if (isAbsolute(named || homedir())) return
  throw new ConfigurationError('CONFIG_INVALID', 'the home folder is not an absolute path: nothing is read there', { hint: HOME_HINT })
}

/** What to do where there is no home folder. */
export const HOME_HINT = 'set HOME (on Windows USERPROFILE) to an absolute path'

const FOLDERS = {
  windows: { config: { named: 'APPDATA', below: 'AppData\\Roaming' }, cache: { named: 'LOCALAPPDATA', below: 'AppData\\Local' } },
  others: { config: { named: 'XDG_CONFIG_HOME', below: '.config' }, cache: { named: 'XDG_CACHE_HOME', below: '.cache' } },
} as const

const BASES = /^(?:HOME|XDG_(?:CONFIG|DATA|CACHE|STATE)_HOME|APPDATA|LOCALAPPDATA|USERPROFILE)$/i

/** A path with drive or share on Windows: `\folder` is on whichever drive the working directory is. */
function absolute(path: string | undefined, platform: NodeJS.Platform): string | undefined {
  if (!path) return undefined
  const isIt = platform === 'win32' ? /^(?:[A-Za-z]:[\\/]|[\\/]{2}[^\\/])/.test(path) : posix.isAbsolute(path)
  return isIt ? path : undefined
}

/** As the system has it; empty for an account that it does not know. */
function accountHome(): string {
  try {
    return userInfo().homedir
  } catch {
    return ''
  }
}
