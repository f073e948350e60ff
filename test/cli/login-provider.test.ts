/** From a catalog's address to its protected file, by way of a person at a terminal and in a browser. */
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type AuthorizationServer, startAuthorizationServer } from '../servers/authorization-server.ts'
import { browse } from '../servers/person.ts'
import { put, temporaryFolder } from './folder.ts'
import { itemWith } from './items.ts'
import { lastError, type Outcome, run } from './run.ts'

const folder = await temporaryFolder()

interface Stage {
  readonly server: AuthorizationServer
  readonly item: string
  /** A user with folders of their own; what goes to stderr is heard by `onError`. */
  at(argv: readonly string[], typed?: string, onError?: (text: string) => void): Promise<Outcome>
  readonly home: string
}

let users = 0

/** The server, with a document about its protected file. */
async function stage({ isProtected = false, isWritten = false } = {}): Promise<Stage> {
  const written = (issuer: string) => ({ authorizationUrl: `${issuer}/auth`, tokenUrl: `${issuer}/token`, scopes: {} })
  const schemes = (issuer: string) => ({
    eo: isWritten
      ? { type: 'oauth2', flows: { authorizationCode: written(issuer) } }
      : { type: 'openIdConnect', openIdConnectUrl: `${issuer}/.well-known/openid-configuration` },
  })
  const server: AuthorizationServer = await startAuthorizationServer({
    interfere: (request, response) => {
      if (request.url !== '/item.json') return false
      if (isProtected && request.headers.authorization === undefined) response.writeHead(401)
      response.end(JSON.stringify(itemWith({ data: { href: '/files', 'auth:refs': ['eo'] } }, { schemes: schemes(server.issuer) })))
      return true
    },
  })
  onTestFinished(() => server.close())
  const home = join(folder, String(++users))
  const env = { NO_COLOR: '1', XDG_CACHE_HOME: join(home, 'cache'), STAC_AUTH_CREDENTIALS: join(home, 'credentials.json') }
  const at: Stage['at'] = (argv, stdin = '', onError) => run(argv, { isTTY: true, env, stdin, ...(onError && { onError }) })
  return { server, item: `${server.issuer}/item.json`, at, home }
}

/** A port that is free right now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Does in the browser what the terminal says, once it has said it. */
function person(pattern: RegExp, options?: { readonly deny?: boolean }) {
  let shown = ''
  return (text: string) => {
    const before = pattern.test(shown)
    shown += text
    const address = pattern.exec(shown)?.[1]
    if (!before && address !== undefined) void browse(address, options)
  }
}

const BROWSER = /open this URL in a browser on this machine:\n {2}(\S+)\n/
const DEVICE = /or open {2}(\S+)\n/

describe('login DOC', () => {
  it('setup writes the credential and logs in with a browser; the file downloads until the logout', async () => {
    const { item, at, home, server } = await stage()
    const outcome = await at(['login', item, '--browser', '--scope', 'read', '--scope', 'offline_access'], 'y\nnative\n', person(BROWSER))
    expect(outcome.stderr).toContain(`${item} asks for "eo" (OpenID Connect)\n`)
    expect(outcome.stderr).toContain(`  secret goes to   ${server.issuer}/`)
    expect(outcome.stderr).toMatch(/"eo" is logged in until 20\S+Z \(in \d+ \w+\)\n$/)
    expect(outcome).toMatchObject({ code: 0, stdout: '' })
    expect(await at(['fetch', item, '--asset', 'data'])).toMatchObject({ code: 0, stdout: 'file of alice' })
    expect((await at(['status'])).stdout).toMatch(
      /^eo {2}openIdConnect authorizationCode {2}valid until \S+ \(in \d+ \w+\), refreshed when needed, scopes /,
    )
    const [status] = JSON.parse((await at(['status', '--json'])).stdout)
    expect(status).toMatchObject({ credential: 'eo', state: 'valid', refreshable: true })

    const [name = ''] = await readdir(join(home, 'cache/stac-auth/tokens'))
    const kept = await readFile(join(home, 'cache/stac-auth/tokens', name), 'utf8')
    const { refreshToken, accessToken } = JSON.parse(JSON.parse(kept).text)
    const told = outcome.stderr + JSON.stringify(status) + (await readFile(join(home, 'credentials.json'), 'utf8'))
    for (const secret of [refreshToken, accessToken]) expect(told).not.toContain(secret)

    expect((await at(['login', item])).stderr).toBe('"eo" is logged in already\n')
    expect((await at(['logout'])).stderr).toBe('"eo" is logged out\n')
    expect(await server.isAlive(refreshToken)).toBe(false)
    expect(await readdir(join(home, 'cache/stac-auth/tokens'))).toEqual([])
    expect(await at(['fetch', item, '--asset', 'data'])).toMatchObject({ code: 3, stderr: expect.stringContaining('LOGIN_REQUIRED') })
    expect((await at(['status'])).stdout).toBe('eo  openIdConnect authorizationCode  not logged in: stac-auth login eo\n')
  })

  it('shows a device code where the provider can, and finds a credential that only lacks its login', async () => {
    const { item, at } = await stage()
    expect(await at(['credentials', 'add', item], 'y\nnative\n')).toMatchObject({ code: 0 })
    const { code, stderr } = await at(['login', item], '', person(DEVICE))
    expect(stderr).toMatch(/open this URL on any device:\n {2}\S+\/device\nand enter the code {2}\S+\n/)
    expect([code, stderr]).toEqual([0, expect.stringMatching(/"eo" is logged in until/)])
    expect(await at(['fetch', item, '--asset', 'data'])).toMatchObject({ code: 0, stdout: 'file of alice' })
  })

  it('finds the issuer of endpoints that the catalog writes out, and checks the ID token against it', async () => {
    const { item, at, home, server } = await stage({ isWritten: true })
    const outcome = await at(['login', item, '--scope', 'openid', '--scope', 'read'], 'y\nnative\n', person(BROWSER))
    expect(outcome).toMatchObject({ code: 0, stderr: expect.stringContaining(`the issuer of "eo" is ${server.issuer}\n`) })
    expect(outcome.stderr).not.toContain('ID_TOKEN_UNUSED')
    const { credentials } = JSON.parse(await readFile(join(home, 'credentials.json'), 'utf8'))
    expect(credentials).toMatchObject([{ id: 'eo', type: 'oauth2', issuer: server.issuer, tokenUrl: `${server.issuer}/token` }])
    const [name = ''] = await readdir(join(home, 'cache/stac-auth/tokens'))
    const { idToken } = JSON.parse(JSON.parse(await readFile(join(home, 'cache/stac-auth/tokens', name), 'utf8')).text)
    expect(JSON.parse(Buffer.from(idToken.split('.')[1], 'base64url').toString())).toMatchObject({ iss: server.issuer })
    expect(await at(['fetch', item, '--asset', 'data'])).toMatchObject({ code: 0, stdout: 'file of alice' })
  })

  it('asks no one for an issuer before the person has agreed', async () => {
    const { item, at, server } = await stage({ isWritten: true })
    expect(await at(['login', item], 'n\n')).toMatchObject({ code: 3, stderr: expect.stringContaining('no credential was written') })
    expect(server.log).toEqual(['GET /item.json'])
  })

  it('listens on the port and path that the credential says, and on the port that --port says', async () => {
    const { item, at, home } = await stage()
    await at(['credentials', 'add', item, '--scope', 'read'], 'y\nnative\n')
    const file = join(home, 'credentials.json')
    const [port, other] = [await freePort(), await freePort()]
    const text = await readFile(file, 'utf8')
    await put(
      home,
      'credentials.json',
      text.replace('"id": "eo"', `"id": "eo", "redirectPort": ${port}, "redirectPath": "/callback", "par": false`),
    )
    const asked = async (...more: string[]) => {
      const { code, stderr } = await at(['login', 'eo', '--browser', ...more], '', person(BROWSER))
      expect(code).toBe(0)
      return new URL(BROWSER.exec(stderr)?.[1] ?? '').searchParams.get('redirect_uri')
    }
    expect(await asked()).toBe(`http://127.0.0.1:${port}/callback`)
    expect(await asked('--port', String(other))).toBe(`http://127.0.0.1:${other}/callback`)
  })

  it.each(['0', '65536', '80a', '-1', ''])('takes no --port %j', async (port) => {
    expect(await run(['login', 'eo', `--port=${port}`])).toMatchObject({ code: 2, stderr: expect.stringContaining('--port') })
  })

  it('ends in 3 when the person refuses', async () => {
    const { item, at } = await stage()
    await at(['credentials', 'add', item], 'y\nnative\n')
    expect(await at(['login', 'eo', '--browser'], '', person(BROWSER, { deny: true }))).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('LOGIN_DENIED'),
    })
  })

  it('ends in 130 when it is interrupted, and listens no more', async () => {
    const { item, at, home } = await stage()
    await at(['credentials', 'add', item], 'y\nnative\n')
    const listening = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPServerWrap').length
    const before = listening()
    let during = 0
    const abort = new AbortController()
    const onError = (text: string) => {
      if (!BROWSER.test(text)) return
      during = listening()
      abort.abort('SIGINT')
    }
    const env = { STAC_AUTH_CREDENTIALS: join(home, 'credentials.json') }
    expect(await run(['login', 'eo', '--browser'], { isTTY: true, env, signal: abort.signal, onError })).toMatchObject({ code: 130 })
    expect(during).toBe(before + 1)
    await expect.poll(listening).toBe(before)
  })

  it('begins with the login where the document itself cannot be read before it', async () => {
    const { item, at } = await stage({ isProtected: true })
    const { stderr } = await at(['credentials', 'add', item])
    expect(stderr).toContain('AUTH_REJECTED')
    const { item: open, at: elsewhere, home } = await stage()
    await elsewhere(['credentials', 'add', open], 'y\nnative\n')
    const text = await readFile(join(home, 'credentials.json'), 'utf8')
    const file = await put(home, 'protected.json', text.replaceAll(new URL(open).origin, new URL(item).origin))
    const more = ['--credentials', file]
    expect(await at(['login', item, '--browser', ...more], '', person(BROWSER))).toMatchObject({ code: 0 })
    expect(await at(['fetch', item, '--asset', 'data', ...more])).toMatchObject({ code: 0, stdout: 'file of alice' })
  })

  it('needs a person: without a terminal nothing is asked', async () => {
    const { item, home } = await stage()
    const env = { STAC_AUTH_CREDENTIALS: join(home, 'credentials.json') }
    const outcome = await run(['login', item, '--yes'], { env })
    expect([outcome.code, outcome.stdout]).toEqual([3, ''])
    expect(outcome.stderr).toContain('NO_CREDENTIAL')
    expect(outcome.stderr).toContain('"clientId":"…"')
    for (const command of ['login', 'setup']) {
      const { stderr } = await run([command, item, '--redirect-host', 'localhost', '--port', '8765'], { env })
      expect(stderr).toContain('"redirectHost":"localhost","redirectPort":8765')
    }
    expect(lastError(await run(['fetch', item, '--asset', 'data', '--json'], { env }))).toBeDefined()
  })
})
