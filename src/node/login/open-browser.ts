/** Opens pages in the user's browser. */

import { spawn } from 'node:child_process'
import { isLoopbackHost } from '../../http/url.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { withAbsoluteFolders } from '../base/user-folder.ts'

/** Options of `openBrowser`. */
export interface BrowserOptions {
  /** The platform; default: that of the process. */
  readonly platform?: NodeJS.Platform
  /** The environment; default: that of the process. */
  readonly env?: NodeJS.ProcessEnv
}

/** Characters that URL parsers leave in a URL, except quotes, braces and others that a program may interpret. */
const PLAIN = /^https?:\/\/[\w.~:/?#[\]@!$&()*+,;=%-]+$/

/**
 * Opens a URL in the user's browser: https only, http for loopback. The program of the platform is started directly, without a
 * shell, with the parsed URL as one argument. Returns true when it was started; never throws, since the URL is printed as well.
 *
 * @example if (!(await openBrowser(url))) console.log(`Open ${url}`)
 */
export function openBrowser(address: string, options?: BrowserOptions): Promise<boolean> {
  const { platform = process.platform, env = process.env } = options ?? {}
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

/** Returns the URL as the only argument of a program: it starts with `https://`, or with `http://` and a loopback host. */
function browsable(address: string): string | undefined {
  if (!canParseUrl(address)) return undefined
  const { protocol, hostname, username, password, href } = new URL(address)
  const allowed = protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))
  if (!allowed || username || password) return undefined
  const plain = href.replaceAll("'", '%27')
  return PLAIN.test(plain) ? plain : undefined
}

/** Returns the program that opens a browser. On other systems it needs a display: without one it would start a browser in the terminal. */
function programOf(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): readonly string[] {
  if (platform === 'darwin') return ['/usr/bin/open']
  if (platform === 'win32') return [`${env.SystemRoot ?? 'C:\\Windows'}\\System32\\rundll32.exe`, 'url.dll,FileProtocolHandler']
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : []
}
