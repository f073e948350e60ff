/** A headless Firefox of Debian's for all tests of one file, by WebDriver BiDi. */
import { existsSync } from 'node:fs'
import { type Browser, firefox } from 'playwright-core'
import { afterAll, beforeAll, beforeEach } from 'vitest'

const PATH = '/usr/bin/firefox-esr'

/** The parts inside of playwright-core that are needed for a Firefox that it does not know. */
interface Inside {
  readonly _connection: { toImpl(browser: Browser): { readonly _browserSession: Session } }
}

interface Session {
  send(method: string, parameters: unknown): Promise<unknown>
}

/** Starts it before the tests of this file and ends it after them; where it is missing, they are skipped, or fail with `PEERS=required`. */
export function useFirefox(): () => Browser {
  let browser: Browser | undefined
  beforeAll(async () => {
    if (!existsSync(PATH)) {
      if (process.env.PEERS === 'required') throw new Error(`${PATH} is missing: install the package firefox-esr`)
      return
    }
    // The channel stands for BiDi: without it a Firefox that was built for Playwright is expected.
    browser = await firefox.launch({ channel: 'moz-firefox', executablePath: PATH })
    ignoreUnknown((browser as unknown as Inside)._connection.toImpl(browser)._browserSession)
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
  })
  beforeEach(({ skip }) => {
    if (!browser) skip(`${PATH} is not installed`)
  })
  return () => {
    if (browser) return browser
    throw new Error('Firefox is not there')
  }
}

/** Playwright sets colours and screen of each context, by commands that this Firefox does not have yet. */
function ignoreUnknown(session: Session): void {
  const send = session.send.bind(session)
  session.send = (method, parameters) =>
    send(method, parameters).catch((error: unknown) => {
      if (method.startsWith('emulation.') && String(error).includes('unknown command')) return {}
      throw error
    })
}
