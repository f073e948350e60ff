/** From an empty account to a protected file: `setup` at a terminal, against servers that verify. */
import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CredentialObject } from '../../src/auth/credential.ts'
import { type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { startAuthorizationServer } from '../servers/authorization-server.ts'
import { digestServer } from '../servers/digest-server.ts'
import { basicGuard, bearerGuard, keyGuard } from '../servers/guards.ts'
import { browse } from '../servers/person.ts'
import { protectedFiles, startProtectedFiles } from '../servers/protected-files.ts'
import { startS3Server } from '../servers/s3-server.ts'
import { startSigningServer } from '../servers/signing-server.ts'
import { createUrlSigner } from '../servers/url-signer.ts'
import { put, temporaryFolder } from './folder.ts'
import { itemWith, KEY_SCHEME } from './items.ts'
import { lastError, type Outcome, run, type Surroundings } from './run.ts'

const folder = await temporaryFolder()

interface User {
  readonly home: string
  readonly secrets: string
  /** Runs a command at a terminal where these lines are typed. */
  at(argv: readonly string[], typed?: readonly string[], around?: Surroundings): Promise<Outcome>
  credentials(): Promise<readonly CredentialObject[]>
}

let users = 0

/** A user with an empty home folder. */
async function newUser(...present: readonly object[]): Promise<User> {
  const home = join(folder, `user-${++users}`)
  const config = join(home, 'stac-auth')
  const file = join(config, 'credentials.json')
  if (present.length > 0) {
    await mkdir(config, { recursive: true, mode: 0o700 })
    await put(config, 'credentials.json', { version: 1, credentials: present })
  }
  const env = { NO_COLOR: '1', XDG_CONFIG_HOME: home, XDG_CACHE_HOME: join(home, 'cache'), STAC_AUTH_CREDENTIALS: file }
  return {
    home,
    secrets: join(config, 'secrets'),
    at: (argv, typed = [], around = {}) =>
      run(argv, { isTTY: true, stdin: typed.map((line) => `${line}\n`).join(''), ...around, env: { ...env, ...around.env } }),
    credentials: async () => JSON.parse(await readFile(file, 'utf8')).credentials,
  }
}

const CONTENT = 'c'.repeat(5000)
const SECRETS = { token: 'token-s3cr3t', key: 'key-s3cr3t', password: 'password-s3cr3t' }
const SCHEMES = {
  token: { type: 'http', scheme: 'bearer' },
  key: KEY_SCHEME,
  basic: { type: 'http', scheme: 'basic' },
  digest: { type: 'http', scheme: 'digest' },
}

/** A server with one file for each of {@link SCHEMES}. */
async function fourFiles(): Promise<AnsweringServer> {
  const digest = digestServer({ username: 'ada', password: SECRETS.password })
  const files = protectedFiles({
    '/token.tif': { content: CONTENT, guard: bearerGuard((token) => token === SECRETS.token) },
    '/key.tif': { content: CONTENT, guard: keyGuard('header', 'x-api-key', SECRETS.key) },
    '/basic.tif': { content: CONTENT, guard: basicGuard('ada', SECRETS.password) },
  })
  const server = await startAnswering((request) => {
    if (request.path !== '/digest.tif') return files(request)
    const answer = digest(request)
    return answer.status === 200 ? { ...answer, body: CONTENT } : answer
  })
  onTestFinished(() => server.close())
  return server
}

async function itemOf(server: AnsweringServer, names: readonly string[], schemes: object = SCHEMES): Promise<string> {
  const assets = names.map((name) => [name, { href: `${server.origin}/${name}.tif`, 'auth:refs': [name] }])
  return put(folder, `item-${users}-${names.join('-')}.json`, itemWith(Object.fromEntries(assets), { schemes }))
}

const ASKED = '[y]es / [N]o / [d]etails '

describe('setup from an empty account', () => {
  it('asks for bearer, apiKey, basic and digest, tests each, and then the files can be fetched', async () => {
    const server = await fourFiles()
    const user = await newUser()
    const item = await itemOf(server, ['token', 'key', 'basic', 'digest'])
    const typed = ['y', SECRETS.token, 'y', SECRETS.key, 'y', 'ada', SECRETS.password, 'y', 'ada', SECRETS.password]
    const { code, stdout, stderr } = await user.at(['setup', item], typed)
    expect([code, stdout]).toEqual([
      0,
      [
        'one small request for each scheme:',
        ...['token', 'key', 'basic'].map((name) => `  + "${name}" works: ${server.origin}/${name}.tif answered 206, 5.0 kB`),
        `  + "digest" works: ${server.origin}/digest.tif answered 200, 5.0 kB`,
        'next:',
        `  stac-auth fetch ${item} --asset token -o token.tif`,
        `  stac-auth run ${item} -- gdalinfo {token}`,
        `  stac-auth download ${item} -d data\n`,
      ].join('\n'),
    ])
    expect(stderr.split('\n').slice(0, 5)).toEqual([
      `${item} uses 4 schemes`,
      '  x "token" (HTTP, bearer)              no credential, for token',
      '  x "key" (API key, header x-api-key)   no credential, for key',
      '  x "basic" (HTTP, basic)               no credential, for basic',
      '  x "digest" (HTTP, digest)             no credential, for digest',
    ])
    for (const secret of Object.values(SECRETS)) expect(stdout + stderr).not.toContain(secret)
    expect(await readFile(join(user.home, 'stac-auth/credentials.json'), 'utf8')).not.toContain('s3cr3t')
    for (const name of ['token', 'key', 'basic', 'digest'])
      expect(await user.at(['fetch', item, '--asset', name])).toMatchObject({ code: 0, stdout: CONTENT })
  })

  it('keeps typed secrets in files that only the user can read', async () => {
    const server = await fourFiles()
    const user = await newUser()
    await user.at(['setup', await itemOf(server, ['token'])], ['y', SECRETS.token])
    const path = join(user.secrets, 'token.token')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await stat(user.secrets)).mode & 0o777).toBe(0o700)
    expect(await readFile(path, 'utf8')).toBe(`${SECRETS.token}\n`)
    expect(await user.credentials()).toEqual([
      { id: 'token', type: 'http', scheme: 'bearer', token: { file: path }, sendTo: [`${server.origin}/`] },
    ])
  })

  it('takes a variable, a file and a command instead of the secret', async () => {
    const server = await fourFiles()
    const user = await newUser()
    const file = await put(folder, 'key.txt', `${SECRETS.key}\n`)
    const typed = [
      ...['y', '', 'v', 'not a name', 'MY_TOKEN'],
      ...['y', '', 'f', join(folder, 'missing.txt'), '', 'f', file],
      ...['y', 'ada', '', 'c', `'open`, '', 'c', `${process.execPath} -e 'process.stdout.write("${SECRETS.password}")'`],
    ]
    const { stderr, stdout } = await user.at(['setup', await itemOf(server, ['token', 'key', 'basic'])], typed)
    expect(stderr).toContain('MY_TOKEN is not set here: set it before you use the credential\n')
    expect(stderr).toContain('missing.txt does not exist\n')
    expect(stderr).toContain('quotes must be closed')
    const [token, key, basic] = await user.credentials()
    expect([token?.token, key?.value]).toEqual([{ env: 'MY_TOKEN' }, { file }])
    expect(basic?.password).toEqual({ command: [process.execPath, '-e', `process.stdout.write("${SECRETS.password}")`] })
    expect(stdout).toMatch(/x "token" fails: CREDENTIAL_SOURCE.*MY_TOKEN is not set\n/)
    expect(stdout).toContain('+ "key" works')
    expect(stdout).toContain('+ "basic" works')
    await expect(readdir(user.secrets)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('asks for S3 keys and shows the endpoint that the document states', async () => {
    const pair = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'very-s3cr3t' }
    const store = await startS3Server({ objects: { 'eo/band.tif': CONTENT }, keys: [pair] })
    onTestFinished(() => store.close())
    const user = await newUser()
    const storage = { store: { type: 'custom-s3', platform: store.url, region: 'us-east-1' } }
    const document = itemWith(
      { band: { href: 's3://eo/band.tif', 'auth:refs': ['s3'], 'storage:refs': ['store'] } },
      { schemes: { s3: { type: 's3' } } },
    ) as { stac_extensions: string[]; properties: object }
    document.stac_extensions.push('https://stac-extensions.github.io/storage/v2.0.0/schema.json')
    Object.assign(document.properties, { 'storage:schemes': storage })
    const item = await put(folder, 's3.json', document)
    const { code, stdout, stderr } = await user.at(['setup', item], ['y', 't', pair.accessKeyId, pair.secretAccessKey, ''])
    expect(stderr).toContain(`  endpoint            ${store.url}/      on this machine\n  signature goes to   s3://eo/ (1 asset)\n`)
    expect([code, stdout]).toEqual([0, expect.stringContaining('+ "s3" works')])
    expect(stdout + stderr).not.toContain(pair.secretAccessKey)
    expect(await readdir(user.secrets)).toEqual(['s3.accessKeyId', 's3.secretAccessKey'])
    expect(await user.at(['fetch', item, '--asset', 'band'])).toMatchObject({ code: 0, stdout: CONTENT })
  })

  it('logs in with OpenID Connect, and asks for nothing when it runs again', async () => {
    const server = await startAuthorizationServer()
    onTestFinished(() => server.close())
    const schemes = { eo: { type: 'openIdConnect', openIdConnectUrl: `${server.issuer}/.well-known/openid-configuration` } }
    const item = await put(folder, 'oidc.json', itemWith({ data: { href: server.resource, 'auth:refs': ['eo'] } }, { schemes }))
    const user = await newUser()
    const typed = ['read offline_access', 'y', 'native', 'n']
    const first = await user.at(['setup', item, '--browser'], typed, { onError: person() })
    expect(first.stderr).toMatch(/"eo" is logged in until 20/)
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining(`+ "eo" works: ${server.resource} answered 200`)])
    expect(await user.at(['fetch', item, '--asset', 'data'])).toMatchObject({ code: 0, stdout: 'file of alice' })
    const again = await user.at(['setup', item])
    expect([again.code, again.stderr]).toEqual([0, `${item} uses 1 scheme\n  + "eo" (OpenID Connect)   credential "eo", for data\n`])
    await user.at(['logout', 'eo'])
    const third = await user.at(['setup', item, '--browser'], [], { onError: person() })
    expect(third.stderr).toContain('credential "eo", not logged in, for data\n')
    expect([third.code, third.stdout]).toEqual([0, expect.stringContaining('+ "eo" works')])
  })

  it('asks for the scheme that authorizes a signing service first', async () => {
    const signer = createUrlSigner({ key: 'k' })
    const files = await startProtectedFiles({ '/band.tif': { content: CONTENT, guard: signer.guard } })
    const guard = basicGuard('ada', SECRETS.password)
    const api = await startSigningServer({ signer, objects: files.origin, get: guard, post: guard })
    onTestFinished(async () => void (await Promise.all([files.close(), api.close()])))
    const parameters = { href: { in: 'query', required: true, schema: { type: 'string' } } }
    const flow = { method: 'GET', authorizationApi: `${api.origin}/get/sign`, parameters, responseField: 'href' }
    const schemes = {
      sign: { type: 'signedUrl', 'auth:refs': ['account'], flows: { get: flow } },
      account: { type: 'http', scheme: 'basic' },
    }
    const item = await put(
      folder,
      'signed.json',
      itemWith({ band: { href: `${files.origin}/band.tif`, 'auth:refs': ['sign'] } }, { schemes }),
    )
    const user = await newUser()
    const { code, stdout, stderr } = await user.at(['setup', item], ['y', 'ada', SECRETS.password, '', 'y'])
    expect(stderr).toContain(`asks for "account" (HTTP, basic)\n  secret goes to   ${api.origin}/ (for "sign")      on this machine\n`)
    expect(stderr).toContain(`  Allowed hosts of signed URLs [${files.origin}/]: `)
    expect([code, stdout]).toEqual([0, expect.stringContaining('+ "sign" works')])
    expect(await user.credentials()).toMatchObject([
      { id: 'account', sendTo: [`${api.origin}/`] },
      { id: 'sign', with: 'account', signedUrlHosts: [`${files.origin}/`] },
    ])
    expect(await user.at(['fetch', item, '--asset', 'band'])).toMatchObject({ code: 0, stdout: CONTENT })
  })

  it('asks for the values of parameters that a signing service requires', async () => {
    const signer = createUrlSigner({ key: 'k' })
    const files = await startProtectedFiles({ '/band.tif': { content: CONTENT, guard: signer.guard } })
    const guard = keyGuard('query', 'project', 'p1')
    const api = await startSigningServer({ signer, objects: files.origin, get: guard, post: guard })
    onTestFinished(async () => void (await Promise.all([files.close(), api.close()])))
    const parameters = { href: { in: 'query', required: true }, project: { in: 'query', required: true } }
    const flow = { method: 'GET', authorizationApi: `${api.origin}/get/sign`, parameters, responseField: 'href' }
    const schemes = { sign: { type: 'signedUrl', flows: { get: flow } } }
    const item = await put(
      folder,
      'project.json',
      itemWith({ band: { href: `${files.origin}/band.tif`, 'auth:refs': ['sign'] } }, { schemes }),
    )
    const user = await newUser()
    const { code, stdout, stderr } = await user.at(['setup', item], ['', 'y', 'p1'])
    expect(stderr).toContain('Value of "project" for the signing service')
    expect([code, stdout]).toEqual([0, expect.stringContaining('+ "sign" works')])
    expect(await user.credentials()).toMatchObject([{ id: 'sign', parameters: { project: 'p1' } }])
  })
})

describe('the confirmation of setup', () => {
  it('asks for consent to loopback and private hosts, and writes nothing after a no', async () => {
    const server = await fourFiles()
    const user = await newUser()
    const item = await itemOf(server, ['key'])
    const { code, stderr } = await user.at(['setup', item], [''])
    expect(stderr).toContain(`  secret goes to   ${server.origin}/ (1 asset)      on this machine\nCreate this credential?  ${ASKED}`)
    expect([code, stderr]).toEqual([3, expect.stringContaining('"key" still without a credential')])
    expect(server.exchanges).toEqual([])
    await expect(user.credentials()).rejects.toMatchObject({ code: 'ENOENT' })
    expect(await user.at(['credentials', 'add', item], ['y'])).toMatchObject({ code: 4, stderr: expect.stringContaining('URL_INSECURE') })
  })

  it('names a host of the private network, and refuses http: to it', async () => {
    const assets = {
      inside: { href: 'https://10.1.2.3/a.tif', 'auth:refs': ['key'] },
      plain: { href: 'http://10.1.2.3/a.tif', 'auth:refs': ['key'] },
    }
    const item = await put(folder, 'private.json', itemWith(assets))
    const user = await newUser()
    const { stderr } = await user.at(['setup', item], ['n'])
    expect(stderr).toContain('secret goes to   https://10.1.2.3/ (1 asset)      in your private network\n')
    expect(stderr).toContain('URL_INSECURE /assets/plain: ')
  })

  it('asks where a credential of the same kind exists for another host, and extends it', async () => {
    const server = await fourFiles()
    const elsewhere = { id: 'portal', type: 'apiKey', in: 'header', name: 'x-api-key', value: { env: 'K' }, sendTo: ['https://a.example/'] }
    const user = await newUser(elsewhere)
    const item = await itemOf(server, ['key'])
    const skipped = await user.at(['setup', item], [''])
    expect([skipped.code, await user.credentials()]).toEqual([3, [elsewhere]])
    const { stderr } = await user.at(['setup', item], ['u'])
    expect(stderr).toContain(`"portal" is a credential of this kind; until now it is sent to https://a.example/\n`)
    expect(await user.credentials()).toEqual([{ ...elsewhere, sendTo: ['https://a.example/', `${server.origin}/`] }])
    const other = await newUser(elsewhere)
    expect(await other.at(['setup', item], ['n', 'y', SECRETS.key])).toMatchObject({ code: 0 })
    expect((await other.credentials()).map(({ id }) => id)).toEqual(['portal', 'key'])
  })
})

describe('another credential for the same host', () => {
  const present = (server: AnsweringServer) => ({
    id: 'old',
    type: 'apiKey',
    in: 'query',
    name: 'x-api-key',
    value: { env: 'OLD' },
    sendTo: [`${server.origin}/`],
  })

  it('does not hide from setup and from credentials add that a scheme has none', async () => {
    const server = await fourFiles()
    const item = await itemOf(server, ['key', 'token'])
    const user = await newUser(present(server))
    const { code, stderr } = await user.at(['credentials', 'add', item], ['y', 'env:KEY', 'y', 'env:TOKEN'])
    expect(stderr).toContain('  note: scheme "key" requires in "header", credential "old" has "query"\n')
    expect([code, (await user.credentials()).map(({ id }) => id)]).toEqual([0, ['old', 'key', 'token']])
    expect((await user.at(['credentials', 'add', item])).stderr).toMatch(/^nothing to add: every scheme/)
    const another = await newUser(present(server))
    expect(await another.at(['setup', item], ['y', SECRETS.key, 'y', SECRETS.token])).toMatchObject({ code: 0 })
  })

  it('says which endpoint differs before a secret goes to a new one', async () => {
    const sendTo = ['https://data.example/']
    const client = { type: 'oauth2', flow: 'clientCredentials', clientId: 'me', clientSecret: { env: 'S' } }
    const user = await newUser({ id: 'eo', ...client, tokenUrl: 'https://identity.example/token', sendTo })
    const schemes = { o: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://evil.example/token' } } } }
    const item = await put(folder, 'endpoint.json', itemWith({ a: { href: 'https://data.example/a', 'auth:refs': ['o'] } }, { schemes }))
    const { code, stderr } = await user.at(['credentials', 'add', item], ['n'])
    expect(stderr).toContain(
      '  note: scheme "o" sends the secret to https://evil.example/token, credential "eo" has https://identity.example/token\n',
    )
    expect([code, await user.credentials()]).toEqual([3, expect.objectContaining({ length: 1 })])
    const alone = await user.at(['credentials', 'add', item], [], { isTTY: false })
    expect(alone).toMatchObject({ code: 4, stderr: expect.stringContaining('CREDENTIAL_ENDPOINT_UNTRUSTED') })
  })
})

describe('an interruption', () => {
  it('keeps what was finished, and the next run asks for the rest', async () => {
    const server = await fourFiles()
    const item = await itemOf(server, ['token', 'key', 'basic'])
    const user = await newUser()
    const interrupted = await user.at(['setup', item], ['y', SECRETS.token, 'y'])
    expect(interrupted.code).toBe(130)
    expect(interrupted.stderr).toMatch(
      /\ncredentials that were written are kept; run the same command again for the rest\nerror ABORTED: interrupted\n$/,
    )
    expect((await user.credentials()).map(({ id }) => id)).toEqual(['token'])
    expect(await readdir(user.secrets)).toEqual(['token.token'])
    const rest = await user.at(['setup', item], ['y', SECRETS.key, 'y', 'ada', SECRETS.password])
    expect([rest.code, rest.stderr.split(ASKED)]).toEqual([0, expect.objectContaining({ length: 3 })])
    expect(rest.stderr).toContain('+ "token" (HTTP, bearer)')
    expect(rest.stdout.match(/ works: /g)).toHaveLength(3)
  })

  it('leaves no secret of a credential that was not written', async () => {
    const server = await fourFiles()
    const user = await newUser()
    const abort = new AbortController()
    const onError = (text: string) => text.includes('Password') && abort.abort('SIGINT')
    const item = await itemOf(server, ['basic'])
    expect(await user.at(['setup', item], ['y', 'ada'], { signal: abort.signal, onError })).toMatchObject({ code: 130 })
    await expect(readdir(join(user.home, 'stac-auth'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('of credentials add is continued, too', async () => {
    const user = await newUser()
    const assets = {
      a: { href: 'https://data.example/a', 'auth:refs': ['key'] },
      b: { href: 'https://data.example/b', 'auth:refs': ['other'] },
    }
    const file = await put(
      folder,
      'two.json',
      itemWith(assets, { schemes: { key: KEY_SCHEME, other: { ...KEY_SCHEME, name: 'x-other' } } }),
    )
    expect(await user.at(['credentials', 'add', file], ['y', ''])).toMatchObject({ code: 130 })
    expect(await user.at(['credentials', 'add', file], ['y', ''])).toMatchObject({ code: 0 })
    expect((await user.credentials()).map(({ id }) => id)).toEqual(['key', 'other'])
  })
})

describe('the small requests', () => {
  it('offer to type a refused secret again', async () => {
    const server = await fourFiles()
    const user = await newUser()
    const item = await itemOf(server, ['token'])
    const { code, stdout, stderr } = await user.at(['setup', item], ['y', 'wrong', 'y', SECRETS.token])
    expect(stdout).toMatch(/x "token" fails: AUTH_REJECTED.*\n(?: .*\n)* {2}\+ "token" works/)
    expect(stderr).toContain('Type the secret of "token" again?  [y]es / [N]o ')
    expect(code).toBe(0)
    expect(await readFile(join(user.secrets, 'token.token'), 'utf8')).toBe(`${SECRETS.token}\n`)
    expect((await stat(join(user.secrets, 'token.token'))).mode & 0o777).toBe(0o600)
    expect(await user.at(['setup', item])).toMatchObject({ code: 0 })
  })

  it('ask for one byte, and report a missing file', async () => {
    const server = await fourFiles()
    const user = await newUser()
    const schemes = { gone: KEY_SCHEME }
    const { code, stdout } = await user.at(['setup', await itemOf(server, ['gone'], schemes)], ['y', SECRETS.key])
    expect([code, stdout]).toEqual([5, expect.stringMatching(/x "gone" fails: HTTP_404: .*answered 404\n/)])
    expect(server.exchanges.map(({ request }) => request.headers.range)).toEqual(['bytes=0-0'])
  })
})

describe('setup without a terminal', () => {
  it('ends in 2 and says what to do', async () => {
    const server = await fourFiles()
    const user = await newUser()
    const item = await itemOf(server, ['key'])
    const { code, stdout, stderr } = await user.at(['setup', item], [], { isTTY: false })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('error USAGE: no credential matches "key", and setup asks for one at a terminal\n')
    expect(stderr).toContain(`  run stac-auth setup ${item} at a terminal, or, if you trust these URLs, add this credential to`)
    expect(JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ id: 'key', sendTo: [`${server.origin}/`] })
  })

  it('tests what is there', async () => {
    const server = await fourFiles()
    const user = await newUser()
    const item = await itemOf(server, ['key'])
    await user.at(['setup', item], ['y', SECRETS.key])
    expect(await user.at(['setup', item], [], { isTTY: false })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('+ "key" works'),
    })
  })

  it('lists what is there and what is missing with --json and --dry-run, and sends nothing', async () => {
    const server = await fourFiles()
    const user = await newUser()
    await user.at(['setup', await itemOf(server, ['key'])], ['y', SECRETS.key])
    const before = server.exchanges.length
    const item = await itemOf(server, ['key', 'token'])
    const json = await user.at(['setup', item, '--json'])
    const common = { document: item, pointer: expect.stringMatching(/^\/properties\/auth:schemes\//) }
    expect([json.code, JSON.parse(json.stdout)]).toEqual([
      3,
      [
        { ...common, scheme: 'key', type: 'apiKey', state: 'ready', credential: 'key', targets: ['/assets/key'] },
        {
          ...common,
          scheme: 'token',
          type: 'http',
          state: 'missing',
          code: 'NO_CREDENTIAL',
          targets: ['/assets/token'],
          proposal: { id: 'token', type: 'http', scheme: 'bearer', token: { env: 'TOKEN_TOKEN' }, sendTo: [`${server.origin}/`] },
        },
      ],
    ])
    const dry = await user.at(['setup', item, '--dry-run'])
    expect([dry.code, dry.stdout, dry.stderr]).toEqual([3, expect.stringContaining('x "token" (HTTP, bearer)'), ''])
    expect(server.exchanges).toHaveLength(before)
  })

  it('says that a document needs no credential, and which one may', async () => {
    const catalog = {
      type: 'Catalog',
      id: 'c',
      description: '',
      stac_version: '1.0.0',
      links: [{ rel: 'item', href: 'https://c.example/i.json' }],
    }
    const name = await put(folder, 'catalog.json', catalog)
    const { code, stderr } = await (await newUser()).at(['setup', name])
    expect([code, stderr]).toEqual([
      0,
      `${name} names no scheme for its assets and links: they need no credential\nthe documents that it links to may need one: stac-auth setup https://c.example/i.json\n`,
    ])
    expect(lastError(await (await newUser()).at(['setup', '--json'])).code).toBe('USAGE')
  })
})

it('setup names the first assets and links that need a scheme, and counts the others', async () => {
  const refs = { 'auth:refs': ['key'] }
  const asset = { href: 'https://data.example/a.tif', ...refs }
  const assets = { 'a\x1b/b': { ...asset, alternate: { web: asset } }, c: asset, d: asset }
  const item = await put(folder, 'uses.json', itemWith(assets, { links: [{ rel: 'tiles', href: 'https://data.example/', ...refs }] }))
  const { stdout } = await (await newUser()).at(['setup', item, '--dry-run'])
  expect(stdout).toContain('no credential, for a\\u{1b}/b, a\\u{1b}/b/web, c and 2 more\n')
})

describe('setup of a catalog', () => {
  const linking = (rel: string, href: string) => ({
    type: 'Catalog',
    id: 'c',
    description: '',
    stac_version: '1.0.0',
    links: [
      { rel: 'self', href: 'https://c.example/' },
      { rel, href },
    ],
  })

  it('follows its links to the first item', async () => {
    const server = await fourFiles()
    const user = await newUser()
    const item = await itemOf(server, ['key'])
    const name = await put(folder, 'root.json', linking('child', './inner.json'))
    await put(folder, 'inner.json', linking('item', item.slice(folder.length + 1)))
    const { code, stdout, stderr } = await user.at(['setup', name], ['y', SECRETS.key])
    expect(stderr).toContain(`"${name}" needs no credential itself, so its first document is used: ${item}\n${item} uses 1 scheme\n`)
    expect([code, stdout]).toEqual([0, expect.stringContaining(`stac-auth fetch ${item} --asset key -o key.tif`)])
  })

  it('follows links of a served catalog on its origin only', async () => {
    const server = await startAnswering(({ path }) => {
      const documents: Readonly<Record<string, object>> = {
        '/catalog.json': linking('item', '/item.json'),
        '/item.json': itemWith({ a: { href: 'https://data.example/a.tif', 'auth:refs': ['key'] } }),
        '/elsewhere.json': linking('item', 'https://other.example/item.json'),
      }
      const document = documents[path]
      return document ? { status: 200, body: JSON.stringify(document) } : { status: 404 }
    })
    onTestFinished(() => server.close())
    const user = await newUser()
    const found = await user.at(['setup', `${server.origin}/catalog.json`, '--json'])
    expect([found.code, JSON.parse(found.stdout)]).toMatchObject([3, [{ document: `${server.origin}/item.json`, scheme: 'key' }]])
    const other = await user.at(['setup', `${server.origin}/elsewhere.json`, '--dry-run'])
    expect([other.code, other.stdout]).toEqual([0, expect.stringContaining('stac-auth setup https://other.example/item.json\n')])
    expect(server.exchanges).toHaveLength(3)
  })
})

describe('the other questions of setup', () => {
  it('name a file for a key of several lines, and never ask for it to be typed', async () => {
    const user = await newUser()
    const schemes = { sealed: { type: 'http', scheme: 'concealed' } }
    const name = await put(folder, 'sealed.json', itemWith({ a: { href: 'https://data.example/a', 'auth:refs': ['sealed'] } }, { schemes }))
    const file = await put(folder, 'key.pem', '-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\n')
    const abort = new AbortController()
    const onError = (text: string) => text.includes('is written to') && abort.abort('SIGINT')
    const { stderr } = await user.at(['setup', name], ['y', '', file, 'id-1'], { signal: abort.signal, onError })
    expect(stderr).toMatch(/Private key.* is in a \[v\]ariable \/ a \[F\]ile \/ a \[c\]ommand prints it: /)
    expect(await user.credentials()).toMatchObject([{ id: 'sealed', privateKey: { file }, keyId: 'id-1' }])
  })

  it('leave S3 keys to a profile of the AWS tools, or to where these look', async () => {
    const name = await put(
      folder,
      'bucket.json',
      itemWith({ a: { href: 's3://eo/a', 'auth:refs': ['s3'] } }, { schemes: { s3: { type: 's3' } } }),
    )
    for (const [typed, fields] of [
      [['y', 'p', ''], { profile: 'default' }],
      [['y', 'u'], {}],
    ] as const) {
      const user = await newUser()
      const abort = new AbortController()
      const onError = (text: string) => text.includes('is written to') && abort.abort('SIGINT')
      await user.at(['setup', name], typed, { signal: abort.signal, onError })
      expect(await user.credentials()).toEqual([{ id: 's3', type: 's3', ...fields, sendTo: ['s3://eo/'] }])
    }
  })
})

/** Does in the browser what the terminal says, once it has said it. */
function person() {
  let shown = ''
  return (text: string) => {
    const pattern = /open this URL in a browser on this machine:\n {2}(\S+)\n/
    const before = pattern.test(shown)
    shown += text
    const address = pattern.exec(shown)?.[1]
    if (!before && address !== undefined) void browse(address)
  }
}
