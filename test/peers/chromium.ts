/** Headless Chromiums of Debian's, each started once for all tests of a file. */
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'

const PATH = '/usr/bin/chromium'
/** The same engine without windows, menus and settings, which would be drawn unseen and take more than half of the time. */
const SHELL = '/usr/bin/chromium-headless-shell'
const QUIET = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run', '--disable-quic']
/** Nothing but this machine can be reached. */
const CLOSED = '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1'

const running = new Map<string, Promise<Browser>>()

/** Returns the program of this process, which ends with the process; one that has crashed is replaced. */
async function shared(path: string): Promise<Browser> {
  const before = await running.get(path)?.catch(() => undefined)
  if (before?.isConnected()) return before
  const started = chromium.launch(options(path))
  running.set(path, started)
  return started
}

/**
 * Starts it before the tests of this file, once in a process; where it is missing, they are skipped, or fail with `PEERS=required`. It is the one without windows where that is installed, unless the whole is asked for. What a test has opened is closed after
 * it: pages that nobody looks at any more would go on drawing.
 */
export function useChromium({ whole = false } = {}): () => Browser {
  let browser: Browser | undefined
  let before: readonly BrowserContext[] = []
  beforeAll(async () => {
    if (!existsSync(PATH)) {
      if (process.env.PEERS === 'required') throw new Error(`${PATH} is missing: install the package chromium`)
      return
    }
    browser = await shared(!whole && existsSync(SHELL) ? SHELL : PATH)
  }, 60_000)
  beforeEach(({ skip }) => {
    if (!browser) skip(`${PATH} is not installed`)
    before = browser?.contexts() ?? []
  })
  afterEach(() => closeAllBut(before))
  afterAll(() => closeAllBut([]))
  return () => {
    if (browser) return browser
    throw new Error('Chromium is not there')
  }

  async function closeAllBut(kept: readonly BrowserContext[]): Promise<void> {
    const opened = browser?.contexts().filter((context) => !kept.includes(context)) ?? []
    await Promise.all(opened.map((context) => context.close()))
  }
}

/** Another one, in which a person has forbidden that origin to keep anything; `folder` is for the browser alone. */
export async function startWithoutStorage(folder: string, origin: string): Promise<BrowserContext> {
  await mkdir(join(folder, 'Default'))
  const cookies = { [`${origin},*`]: { setting: 2 } }
  const preferences = { profile: { content_settings: { exceptions: { cookies } } } }
  await writeFile(join(folder, 'Default', 'Preferences'), JSON.stringify(preferences))
  return chromium.launchPersistentContext(folder, options(PATH))
}

function options(executablePath: string) {
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return { executablePath, args: [...QUIET, ...asRoot, CLOSED] }
}
