/** A person logs in from the command line, in a real browser, at a real provider. */
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../architecture/files.ts'
import { type AuthorizationServer, startAuthorizationServer } from '../servers/authorization-server.ts'
import { useChromium } from './chromium.ts'

const browser = useChromium({ whole: true })

let server: AuthorizationServer
let folder: string

beforeAll(async () => {
  server = await startAuthorizationServer()
  folder = await mkdtemp(join(tmpdir(), 'login-chromium-'))
  const { issuer } = server
  const entry = {
    id: 'person',
    type: 'openIdConnect',
    issuer,
    clientId: 'native',
    scopes: ['offline_access', 'read'],
    sendTo: [`${issuer}/`],
  }
  await writeFile(join(folder, 'credentials.json'), JSON.stringify({ version: 1, credentials: [entry] }), { mode: 0o600 })
}, 60_000)
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

/** The built command; `heard` is told what it says. */
function stacAuth(
  args: readonly string[],
  heard: (text: string) => void = () => {},
): Promise<{ code: number | null; out: string; err: string }> {
  const env = { ...process.env, STAC_AUTH_CREDENTIALS: join(folder, 'credentials.json'), XDG_CACHE_HOME: folder, DISPLAY: '', SSH_TTY: '' }
  const child = spawn(process.execPath, [join(root, 'dist/cli/bin.js'), ...args], { env })
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    said.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    said.err += chunk
    heard(said.err)
  })
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, ...said })))
}

/** Runs a login and gives the page, at the address that is printed, to `person`. */
async function loggingIn(person: (address: string) => Promise<void>) {
  let told = false
  let acting: Promise<void> | undefined
  const outcome = await stacAuth(['login', 'person', '--browser', '--yes'], (text) => {
    const [address] = /http:\/\/127\.0\.0\.1:\d+\/auth\?\S+/.exec(text) ?? []
    if (told || address === undefined) return
    told = true
    acting = person(address)
  })
  await acting
  return outcome
}

describe('a login in Chromium', () => {
  it('a login in Chromium goes through the pages of the provider and ends on one of ours', async () => {
    const outcome = await loggingIn(async (address) => {
      const page = await (await browser().newContext()).newPage()
      await page.goto(address)
      await page.fill('input[name=login]', 'alice')
      await page.fill('input[name=password]', 'any')
      await page.click('button[type=submit]')
      await page.click('button[type=submit]')
      await page.waitForURL(/^http:\/\/127\.0\.0\.1:\d+\/callback\?/)
      expect(await page.textContent('body')).toContain('You can close this page')
      expect(await page.evaluate('document.scripts.length')).toBe(0)
    })
    expect([outcome.code, outcome.err]).toEqual([0, expect.not.stringContaining('error')])
    const status = await stacAuth(['status', '--json'])
    expect(JSON.parse(status.out)).toMatchObject([{ credential: 'person', state: 'valid', refreshable: true }])
    const file = await stacAuth(['fetch', server.resource])
    expect([file.code, file.out]).toEqual([0, 'file of alice'])
    const logout = await stacAuth(['logout', 'person'])
    expect(logout.code).toBe(0)
    expect((await stacAuth(['fetch', server.resource])).code).toBe(3)
  }, 60_000)

  it('a login in Chromium that the person breaks off ends with exit code 3', async () => {
    const outcome = await loggingIn(async (address) => {
      const page = await (await browser().newContext()).newPage()
      await page.goto(address)
      await page.click('a[href$="/abort"]')
      await page.waitForURL(/\/callback\?/)
    })
    expect([outcome.code, outcome.err]).toEqual([3, expect.stringContaining('LOGIN_DENIED')])
  }, 60_000)
})
