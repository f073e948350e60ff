/** WebKitGTK's MiniBrowser for all tests of one file, by WebDriver (W3C WebDriver, level 1) on a display of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach } from 'vitest'

const DRIVER = '/usr/bin/WebKitWebDriver'
const BROWSER = '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser'
const DISPLAY_SERVER = '/usr/bin/Xvfb'
/** The name of an element in answers (W3C WebDriver §12.1). */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'
const SCRIPT_TIMEOUT = 20_000

/** One browser with its windows; commands go to the window that was chosen last. */
export interface WebKit {
  goto(url: string): Promise<void>
  /** Runs an expression in the page and returns what its promise gives. */
  run<T>(expression: string): Promise<T>
  click(selector: string): Promise<void>
  type(selector: string, text: string): Promise<void>
  url(): Promise<string>
  windows(): Promise<readonly string[]>
  choose(window: string): Promise<void>
  /** Opens a window and returns its name; the chosen one stays. */
  open(): Promise<string>
  /** Closes the chosen window. */
  close(): Promise<void>
}

/** Starts it before the tests of this file and ends it after them; where it is missing, they are skipped, or fail with `PEERS=required`. */
export function useWebKit(): () => WebKit {
  const processes: ChildProcess[] = []
  let browser: WebKit | undefined
  let home: string | undefined
  let end = async () => {}
  beforeAll(async () => {
    const missing = [DRIVER, BROWSER, DISPLAY_SERVER].filter((path) => !existsSync(path))
    if (missing.length > 0) {
      if (process.env.PEERS === 'required') throw new Error(`${missing.join(', ')} missing: install webkit2gtk-driver and xvfb`)
      return
    }
    home = await mkdtemp(join(tmpdir(), 'webkit-'))
    const display = await startDisplay(processes)
    const port = await freePort()
    const env = { ...process.env, DISPLAY: display, HOME: home, XDG_DATA_HOME: home, XDG_CACHE_HOME: home, XDG_CONFIG_HOME: home }
    processes.push(spawn(DRIVER, [`--port=${port}`], { env, stdio: 'ignore' }))
    const session = await startSession(`http://127.0.0.1:${port}`)
    end = () => session.command('DELETE', '').then(() => undefined)
    browser = windowsOf(session)
  }, 60_000)
  afterAll(async () => {
    await end().catch(() => undefined)
    for (const one of processes.reverse()) one.kill()
    // What was ended may still write its caches.
    if (home !== undefined) await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  })
  beforeEach(({ skip }) => {
    if (!browser) skip(`${DRIVER} is not installed`)
  })
  return () => {
    if (browser) return browser
    throw new Error('WebKit is not there')
  }
}

/** Starts a display server that chooses its number, and returns its name. */
function startDisplay(processes: ChildProcess[]): Promise<string> {
  const server = spawn(DISPLAY_SERVER, ['-displayfd', '3', '-screen', '0', '1280x1024x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  processes.push(server)
  return new Promise((resolve, reject) => {
    server.once('exit', (code) => reject(new Error(`Xvfb ended with ${code}`)))
    server.stdio[3]?.once('data', (number: Buffer) => resolve(`:${number.toString().trim()}`))
  })
}

function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => (typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port'))))
    })
  })
}

interface Session {
  command(method: string, path: string, body?: object): Promise<unknown>
}

async function startSession(driver: string): Promise<Session> {
  const command = async (method: string, url: string, body?: object): Promise<unknown> => {
    const response = await fetch(url, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const { value } = (await response.json()) as { readonly value: { readonly error?: string; readonly message?: string } }
    if (!response.ok) throw new Error(`WebKit: ${value.error}: ${value.message}`)
    return value
  }
  const capabilities = {
    alwaysMatch: {
      'webkitgtk:browserOptions': { binary: BROWSER, args: ['--automation'] },
      timeouts: { script: SCRIPT_TIMEOUT, pageLoad: SCRIPT_TIMEOUT },
    },
  }
  for (let attempt = 1; ; attempt++) {
    try {
      const { sessionId } = (await command('POST', `${driver}/session`, { capabilities })) as { readonly sessionId: string }
      return { command: (method, path, body) => command(method, `${driver}/session/${sessionId}${path}`, body) }
    } catch (error) {
      // The driver listens a moment after it was started.
      if (attempt === 50 || !(error instanceof TypeError)) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

function windowsOf({ command }: Session): WebKit {
  const element = async (selector: string) => {
    const found = (await command('POST', '/element', { using: 'css selector', value: selector })) as Readonly<Record<string, string>>
    return `/element/${found[ELEMENT]}`
  }
  return {
    goto: async (url) => void (await command('POST', '/url', { url })),
    run: async <T>(expression: string) => {
      const script = `const done = arguments[0]; Promise.resolve(${expression}).then((value) => done({ value }), (error) => done({ error: String(error) }))`
      const { value, error } = (await command('POST', '/execute/async', { script, args: [] })) as { value: T; error?: string }
      if (error !== undefined) throw new Error(`in WebKit: ${error}`)
      return value
    },
    click: async (selector) => void (await command('POST', `${await element(selector)}/click`, {})),
    type: async (selector, text) => void (await command('POST', `${await element(selector)}/value`, { text })),
    url: async () => String(await command('GET', '/url')),
    windows: async () => (await command('GET', '/window/handles')) as readonly string[],
    choose: async (handle) => void (await command('POST', '/window', { handle })),
    close: async () => void (await command('DELETE', '/window')),
    open: async () => ((await command('POST', '/window/new', { type: 'tab' })) as { readonly handle: string }).handle,
  }
}
