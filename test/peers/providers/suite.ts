/** What must hold at every provider, through the built command line as users run it, and through the library. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import type { CredentialInput } from '../../../src/auth/credential.ts'
import { loopbackRedirect } from '../../../src/node/login/loopback-login.ts'
import { root } from '../../architecture/files.ts'
import { put, temporaryFolder } from '../../cli/folder.ts'
import { itemWith } from '../../cli/items.ts'
import { type Fields, type Files, type Provider, startFiles, type Visit } from './provider.ts'

interface Setting {
  readonly provider: () => Provider
  readonly files: () => Files
}

/** What a provider can do, and the tests of it: `setup` from a document, `browser` logins, a page that asks for `consent`, `written` URLs in place of discovery … */
const TESTS = { setup, browser, consent, written, device, service, password }

/** Tests a provider that `start` starts. Where it cannot be installed the tests are skipped, unless peers are required. */
export function testProvider(
  name: string,
  abilities: readonly (keyof typeof TESTS)[],
  start: () => Promise<Provider | { readonly missing: string }>,
): void {
  let started: Provider | { readonly missing: string } | undefined
  let files: Files | undefined
  beforeAll(async () => {
    started = await start()
    if ('ask' in started) files = await startFiles(started.ask)
  }, 150_000)
  afterAll(async () => {
    await files?.close()
    if (started && 'stop' in started) await started.stop()
  })
  beforeEach(({ skip }) => {
    if (started && 'missing' in started) skip(started.missing)
  })
  const provider = () => required(started && 'ask' in started ? started : undefined)
  const setting = { provider, files: () => required(files) }
  describe(name, () => {
    refusal(setting)
    for (const ability of abilities) TESTS[ability](setting)
  })
}

function required<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('the provider lacks what its test file says that it has')
  return part
}

function setup({ provider, files }: Setting): void {
  it('is set up from a document at a terminal: questions, login and request, then the file is fetched', async () => {
    const folder = await temporaryFolder()
    const { clientId, clientSecret, redirectPort, scopes, issuer } = provider().person((text) => text)
    const schemes = { eo: { type: 'openIdConnect', openIdConnectUrl: `${issuer}/.well-known/openid-configuration` } }
    const item = await put(folder, 'item.json', itemWith({ data: { href: files().url, 'auth:refs': ['eo'] } }, { schemes }))
    const steps = [
      ['[none]: ', `${(scopes as string[]).join(' ')}\r`],
      ['[d]etails ', 'y\r'],
      ['Client id: ', `${clientId}\r`],
      ['[N]o ', 'y\r'],
      ['command): ', `${clientSecret}\r`],
    ]
    const user = userIn(folder, join(folder, 'credentials.json'))
    const terminal = ['python3', join(root, 'test/cli/at-terminal.py'), JSON.stringify(steps)]
    const { code, out } = await visiting(provider(), (heard) =>
      user.follow(['setup', item, '--browser', '--port', String(redirectPort)], heard, terminal),
    )
    expect([code, out]).toEqual([0, expect.stringMatching(/"eo" is logged in .*\r\n.*\r\n.*"eo" works: \S+ answered 200, 13 bytes\r\n/)])
    expect(out).not.toContain(clientSecret)
    expect(await user.run('fetch', item, '--asset', 'data')).toMatchObject({ code: 0, out: 'file of alice' })
  }, 30_000)
}

function browser({ provider, files }: Setting): void {
  it('logs a person in with a browser, refreshes with rotated tokens, and revokes them on logout', async () => {
    const user = await userWith(provider().person, files())
    const login = await loggingIn(user, provider())
    expect([login.code, login.err, login.page]).toEqual([0, noError, expect.stringContaining('You can close this page')])
    const status = await user.run('status', '--json')
    expect(JSON.parse(status.out)).toMatchObject([{ credential: 'mine', state: 'valid', refreshable: true }])
    const before = new Set(files().shown).size
    for (let turn = 0; turn < 3; turn++) {
      const fetched = await user.run('fetch', files().url)
      expect([fetched.code, fetched.out, fetched.err]).toEqual([0, 'file of alice', noError])
      files().refuseShown()
    }
    expect(new Set(files().shown).size).toBe(before + 3)
    // Both refresh now. One of them must wait: a refresh token that is used twice may end the login.
    const together = await Promise.all([1, 2].map(() => user.run('fetch', files().url)))
    expect(together.map(({ code, out }) => [code, out])).toEqual(together.map(() => [0, 'file of alice']))
    const last = required(files().shown.at(-1))
    expect(await provider().ask(last)).toBe('alice')
    const logout = await user.run('logout', 'mine')
    expect([logout.code, logout.err]).toEqual([0, noError])
    expect(await provider().ask(last)).toBe(undefined)
    const after = await user.run('fetch', files().url)
    expect([after.code, after.out]).toEqual([3, ''])
    const said = [login, status, logout, after, ...together].map(({ out, err }) => out + err).join()
    expect(files().shown.filter((token) => said.includes(token))).toEqual([])
  }, 60_000)

  it('gives no code for a wrong password, and one for the right password after it', async () => {
    const pages: string[] = []
    const visit = async (url: string) => {
      pages.push(await provider().visit(url, { password: 'not the password' }))
      return provider().visit(url)
    }
    const login = await loggingIn(await userWith(provider().person, files()), { visit })
    expect(pages).toEqual([expect.not.stringContaining('The login response was received')])
    expect([login.code, login.page]).toEqual([0, expect.stringContaining('The login response was received')])
  }, 30_000)

  it('gives one new token for many requests of a program at once', async () => {
    const credential = { id: 'mine', sendTo: `${files().origin}/`, ...provider().person((text) => text) }
    const auth = createAuth({ credentials: [credential as CredentialInput] })
    const redirect = loopbackRedirect({ show: (url) => provider().visit(url) })
    await auth.login('mine', { redirect })
    const read = async () => (await auth.fetch(files().url)).text()
    expect(await read()).toBe('file of alice')
    files().refuseShown()
    const before = new Set(files().shown).size
    expect(new Set(await Promise.all(Array.from({ length: 10 }, read)))).toEqual(new Set(['file of alice']))
    expect(new Set(files().shown).size).toBe(before + 1)
  }, 30_000)
}

function consent({ provider, files }: Setting): void {
  it('ends the login of a person who refuses consent', async () => {
    const login = await loggingIn(await userWith(provider().person, files()), provider(), { deny: true })
    expect([login.code, login.err]).toEqual([3, expect.stringContaining('LOGIN_DENIED')])
  }, 30_000)
}

function written({ provider, files }: Setting): void {
  it('logs a person in by URLs that are written out, with scope openid', async () => {
    const user = await userWith(required(provider().written), files())
    const login = await loggingIn(user, provider())
    expect([login.code, login.err]).toEqual([0, noError])
    expect((await user.run('fetch', files().url)).out).toBe('file of alice')
    files().refuseShown()
    const refreshed = await user.run('fetch', files().url)
    expect([refreshed.code, refreshed.out]).toEqual([0, 'file of alice'])
  }, 30_000)
}

function device({ provider, files }: Setting): void {
  it('logs a person in by a code that is typed on another device', async () => {
    const user = await userWith(provider().person, files())
    let acting: Promise<void> | undefined
    const login = await user.follow(['login', 'mine', '--yes'], (text, end) => {
      const [, url, code] = /(http:\/\/\S+)\s+and enter the code {2}(\S+)\n/.exec(text) ?? []
      if (acting !== undefined || url === undefined || code === undefined) return
      acting = required(provider().approve)(url, code)
      acting.catch(end)
    })
    await acting
    expect([login.code, login.err]).toEqual([0, noError])
    const fetched = await user.run('fetch', files().url)
    expect([fetched.code, fetched.out]).toEqual([0, 'file of alice'])
  }, 60_000)
}

function service({ provider, files }: Setting): void {
  it('gives a program tokens for its secret, and none for a wrong one', async () => {
    const { fields, owner } = required(provider().service)
    const fetched = await (await userWith(fields(), files())).run('fetch', files().url)
    expect([fetched.code, fetched.out, fetched.err]).toEqual([0, `file of ${owner}`, noError])
    await refused(fields('not~the~secret'), files())
  }, 30_000)
}

function password({ provider, files }: Setting): void {
  it('gives a program tokens for a user name and password, and none for a wrong password', async () => {
    const legacy = required(provider().legacy)
    const fetched = await (await userWith(legacy(), files())).run('fetch', files().url)
    expect([fetched.code, fetched.out, fetched.err]).toEqual([0, 'file of alice', noError])
    await refused(legacy('not~the~password'), files())
  }, 30_000)
}

function refusal({ files }: Setting): void {
  it('refuses a token that it did not issue', async () => {
    const user = await userWith((secret) => ({ type: 'http', scheme: 'bearer', token: secret('eyJhbGciOiJub25lIn0.e30.') }), files())
    const fetched = await user.run('fetch', files().url)
    expect([fetched.code, fetched.out, fetched.err]).toEqual([3, '', expect.stringContaining('AUTH_REJECTED')])
  }, 30_000)
}

/** Nothing is fetched with this credential, and its wrong secret is not repeated. */
async function refused(fields: Fields, files: Files): Promise<void> {
  const before = files.shown.length
  const { code, out, err } = await (await userWith(fields, files)).run('fetch', files.url)
  expect([code, out, err]).toEqual([3, '', expect.not.stringContaining('not~the~')])
  expect(files.shown.length).toBe(before)
}

/** What the command line tells when nothing went wrong. */
const noError = expect.not.stringContaining('error')

interface Outcome {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Somebody with one credential, `mine`. */
interface User {
  run(...args: readonly string[]): Promise<Outcome>
  /** Tells all that was written to stderr so far, or at a `terminal`, whenever something is; `end` stops the command. */
  follow(args: readonly string[], heard: Heard, terminal?: readonly string[]): Promise<Outcome>
}

type Heard = (text: string, end: () => void) => void

async function userWith(fields: Fields, { origin }: Pick<Files, 'origin'>): Promise<User> {
  const folder = await temporaryFolder()
  const secrets: Promise<string>[] = []
  const secret = (text: string) => {
    const name = `secret-${secrets.length}`
    secrets.push(put(folder, name, text))
    return { file: join(folder, name) }
  }
  const credential = { id: 'mine', sendTo: [`${origin}/`], ...fields(secret) }
  await Promise.all(secrets)
  const file = await put(folder, 'credentials.json', { version: 1, credentials: [credential] })
  return userIn(folder, file)
}

function userIn(folder: string, file: string): User {
  const env = { PATH: process.env.PATH, HOME: folder, LC_ALL: 'C.UTF-8', TERM: 'xterm', NO_COLOR: '1', STAC_AUTH_CREDENTIALS: file }
  const follow: User['follow'] = (args, heard, terminal = []) =>
    new Promise((resolve) => {
      const [program = '', ...words] = [...terminal, process.execPath, join(root, 'dist/cli/bin.js'), ...args]
      const child = spawn(program, words, { cwd: folder, env })
      const said = { out: '', err: '' }
      child.stdout.on('data', (chunk) => {
        said.out += chunk
        if (terminal.length > 0) heard(said.out, () => child.kill())
      })
      child.stderr.on('data', (chunk) => {
        said.err += chunk
        heard(said.err, () => child.kill())
      })
      child.on('close', (code) => resolve({ code, ...said }))
    })
  return { follow, run: (...args) => follow(args, () => {}) }
}

/** Runs a login and lets a person visit the URL that is printed. */
function loggingIn(user: User, provider: Pick<Provider, 'visit'>, how: Visit = {}): Promise<Outcome & { readonly page: string }> {
  return visiting(provider, (heard) => user.follow(['login', 'mine', '--browser', '--yes'], heard), how)
}

async function visiting({ visit }: Pick<Provider, 'visit'>, command: (heard: Heard) => Promise<Outcome>, how: Visit = {}) {
  let acting: Promise<string> | undefined
  const outcome = await command((text, end) => {
    const url = /http:\/\/127\.0\.0\.1:\d+\/\S+[?&]state=\S*(?=\s)/.exec(text)?.[0]
    if (acting !== undefined || url === undefined) return
    acting = visit(url, how)
    // Nobody waits for a person who does not come back.
    acting.then((page) => page.includes('The login response was received') || end(), end)
  })
  return { ...outcome, page: (await acting) ?? '' }
}
