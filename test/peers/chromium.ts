/** A headless Chromium of Debian's for all tests of one file. */
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { afterAll, beforeAll, beforeEach } from 'vitest'

const PATH = '/usr/bin/chromium'
const QUIET = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run', '--disable-quic']
/** Nothing but this machine can be reached. */
const CLOSED = '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1'

/** Starts it before the tests of this file and ends it after them; where it is missing, they are skipped, or fail with `PEERS=required`. */
export function useChromium(): () => Browser {
  let browser: Browser | undefined
  beforeAll(async () => {
    if (!existsSync(PATH)) {
      if (process.env.PEERS === 'required') throw new Error(`${PATH} is missing: install the package chromium`)
      return
    }
    browser = await chromium.launch(options())
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
  })
  beforeEach(({ skip }) => {
    if (!browser) skip(`${PATH} is not installed`)
  })
  return () => {
    if (browser) return browser
    throw new Error('Chromium is not there')
  }
}

/** Another one, in which a person has forbidden that origin to keep anything; `folder` is for the browser alone. */
export async function startWithoutStorage(folder: string, origin: string): Promise<BrowserContext> {
  await mkdir(join(folder, 'Default'))
  const cookies = { [`${origin},*`]: { setting: 2 } }
  const preferences = { profile: { content_settings: { exceptions: { cookies } } } }
  await writeFile(join(folder, 'Default', 'Preferences'), JSON.stringify(preferences))
  return chromium.launchPersistentContext(folder, options())
}

function options() {
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return { executablePath: PATH, args: [...QUIET, ...asRoot, CLOSED] }
}
