import { spawn } from 'node:child_process'
import { isLoopbackHost } from '../http/public-address.ts'
import { withAbsoluteFolders } from './user-folder.ts'

export interface BrowserOptions {
  readonly platform?: NodeJS.Platform
  readonly env?: NodeJS.ProcessEnv
}

/** What URL parsers leave in an address, without the quotes, braces and the like that a program may read as something else. */
const PLAIN = /^https?:\/\/[\w.~:/?#[\]@!$&()*+,;=%-]+$/

/**
 * Opens an address in the user's browser: https only, http for loopback. The program of the platform is started directly, without a
 * shell, with the parsed address as one argument. True when it was started; nothing is thrown, since the address is printed as well.
 */
export function openBrowser(address: string, { platform = process.platform, env = process.env }: BrowserOptions = {}): Promise<boolean> {
  const url = browsable(address)
  const [program, ...args] = programOf(platform, env)
  if (url === undefined || program === undefined) return Promise.resolve(false)
  return new Promise((resolve) => {
    try {
      const child = spawn(program, [...args, url], {
        stdio: 'ignore',
        detached: true,
        shell: false,
        windowsHide: true,
        env: withAbsoluteFolders(env),
      })
      child.once('error', () => resolve(false))
      child.once('spawn', () => resolve(true))
      child.unref()
    } catch {
      resolve(false)
    }
  })
}

/** The address as the one argument of a program: what comes out begins with `https://`, or with `http://` and a loopback host. */
function browsable(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const { protocol, hostname, username, password, href } = new URL(address)
  const allowed = protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))
  if (!allowed || username || password) return undefined
  const plain = href.replaceAll("'", '%27')
  return PLAIN.test(plain) ? plain : undefined
}

/** Without a display the program of other systems would start a browser inside the terminal. */
function programOf(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): readonly string[] {
  if (platform === 'darwin') return ['/usr/bin/open']
  if (platform === 'win32') return [`${env.SystemRoot ?? 'C:\\Windows'}\\System32\\rundll32.exe`, 'url.dll,FileProtocolHandler']
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : []
}
