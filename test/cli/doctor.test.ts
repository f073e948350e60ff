/** `doctor` finds each fault and says what to do, and finds none where nothing is wrong. */
import { chmod, chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CredentialStatus } from '../../src/auth/auth.ts'
import { createAuth } from '../../src/auth/create-auth.ts'
import type { Check } from '../../src/cli/doctor/check.ts'
import { loginChecks } from '../../src/cli/doctor/credential-checks.ts'
import { packageChecks, versionChecks } from '../../src/cli/doctor/local-checks.ts'
import { type AnsweringServer, jsonAnswer, startAnswering } from '../servers/answering-server.ts'
import { temporaryFolder } from './folder.ts'
import { run } from './run.ts'

const SECRETS = ['token-of-the-portal', 'password-of-the-archive', 'client-secret-of-oidc', 'key-of-the-program']
const SUFFIX = '/.well-known/openid-configuration'

/** What a healthy server answers; a fault replaces members. */
interface Server {
  discovery: { readonly status: number; readonly body: string }
  date: Date | undefined
}

/** A user's surroundings, in which everything is right until a fault changes it. */
interface Surroundings {
  readonly folder: string
  readonly file: string
  readonly secretFile: string
  readonly tokens: string
  readonly env: Record<string, string>
  credentials: Record<string, unknown>[]
  readonly item: { properties: Record<string, unknown>; assets: Record<string, { href: string; 'auth:refs': string[] }> }
}

let server: AnsweringServer
let answers: Server
let around: Surroundings

beforeAll(async () => {
  server = await startAnswering(({ path }) => {
    const date: Record<string, string> = answers.date ? { date: answers.date.toUTCString() } : {}
    if (path === '/token') return jsonAnswer(401, { error: 'invalid_client' }, date)
    if (path === '/key/file') return { status: 401, headers: date }
    if (path === '/bearer/file' || path === '/basic/file') return { status: 200, headers: date, body: 'file' }
    if (path === SUFFIX) return { ...answers.discovery, headers: { ...date, 'content-type': 'application/json' } }
    return { status: 404, headers: date }
  })
})
afterAll(() => server.close())

beforeEach(async () => {
  answers = {
    discovery: { status: 200, body: JSON.stringify({ issuer: server.origin, token_endpoint: `${server.origin}/token` }) },
    date: new Date(),
  }
  const folder = await temporaryFolder()
  const [secretFile, tokens] = [join(folder, 'secret'), join(folder, 'cache/stac-auth/tokens')]
  await writeFile(secretFile, SECRETS[1] ?? '', { mode: 0o600 })
  await mkdir(tokens, { recursive: true, mode: 0o700 })
  vi.stubEnv('DOCTOR_TOKEN', SECRETS[0])
  vi.stubEnv('DOCTOR_SECRET', SECRETS[2])
  const sendTo = (path: string) => [`${server.origin}/${path}/`]
  const command = [process.execPath, '-e', `console.log('${SECRETS[3]}')`]
  around = {
    folder,
    file: join(folder, 'credentials.json'),
    secretFile,
    tokens,
    env: { XDG_CACHE_HOME: join(folder, 'cache') },
    credentials: [
      { id: 'portal', type: 'http', scheme: 'bearer', token: { env: 'DOCTOR_TOKEN' }, sendTo: sendTo('bearer') },
      { id: 'archive', type: 'http', scheme: 'basic', username: 'ada', password: { file: secretFile }, sendTo: sendTo('basic') },
      { id: 'key', type: 'apiKey', in: 'header', name: 'x-api-key', value: { command }, sendTo: sendTo('key') },
      {
        id: 'oidc',
        type: 'openIdConnect',
        issuer: server.origin,
        flow: 'clientCredentials',
        clientId: 'me',
        clientSecret: { env: 'DOCTOR_SECRET' },
        sendTo: sendTo('oidc'),
      },
    ],
    item: {
      properties: {
        'auth:schemes': {
          bearer: { type: 'http', scheme: 'bearer' },
          basic: { type: 'http', scheme: 'basic' },
          key: { type: 'apiKey', in: 'header', name: 'x-api-key' },
          oidc: { type: 'openIdConnect', openIdConnectUrl: `${server.origin}${SUFFIX}` },
        },
      },
      assets: Object.fromEntries(
        ['bearer', 'basic', 'key', 'oidc'].map((ref) => [ref, { href: `${server.origin}/${ref}/file`, 'auth:refs': [ref] }]),
      ),
    },
  }
})
afterEach(() => vi.unstubAllEnvs())

/** Runs `doctor` in the surroundings. No secret may be printed, and none may be sent without `--test`. */
async function examined(...options: readonly string[]): Promise<{ readonly checks: readonly Check[]; readonly code: number }> {
  const { folder, file, credentials, item, env } = around
  await writeFile(file, JSON.stringify({ version: 1, credentials }), { flag: 'wx', mode: 0o600 }).catch(() => undefined)
  const document = join(folder, 'item.json')
  const whole = { type: 'Feature', stac_version: '1.0.0', stac_extensions: [], id: 'scene', geometry: null, links: [], ...item }
  await writeFile(document, JSON.stringify(whole))
  const before = server.exchanges.length
  const { stdout, stderr, code } = await run(['doctor', document, '--credentials', file, '--json', ...options], { env })
  for (const secret of SECRETS) expect(stdout + stderr).not.toContain(secret)
  if (options.includes('--test')) return { checks: JSON.parse(stdout), code }
  const exchanges = server.exchanges.slice(before)
  for (const secret of SECRETS) expect(JSON.stringify(exchanges)).not.toContain(secret)
  expect(exchanges.some(({ request }) => request.headers.authorization ?? request.headers['x-api-key'])).toBe(false)
  return { checks: JSON.parse(stdout), code }
}

const tls = (name: string) => readFile(new URL(`../../fixtures/tls/${name}`, import.meta.url), 'utf8')

const checkOf = (checks: readonly Check[], name: string) => checks.find(({ check }) => check === name)

const writeCredentials = (text: string) => writeFile(around.file, text, { mode: 0o600 })

/** What is wrong, what causes it, the check that finds it with its code and level, and a part of its message or hint. */
type Fault = readonly [fault: string, cause: () => unknown, check: string, code: string, says: RegExp, level?: 'warning']

const FAULTS: readonly Fault[] = [
  [
    'a credential file that others can write',
    async () => {
      await writeCredentials(JSON.stringify({ version: 1, credentials: around.credentials }))
      await chmod(around.file, 0o666)
    },
    'credential file',
    'CONFIG_INVALID',
    /chmod go-w/,
  ],
  [
    'a credential file that does not exist',
    () =>
      mkdir(around.file)
        .then(() => rm(around.file, { recursive: true }))
        .then(() => (around = { ...around, file: join(around.folder, 'no/file.json') })),
    'credential file',
    'CONFIG_INVALID',
    /setup \S+item\.json/,
  ],
  ['malformed JSON', () => writeCredentials('{ "version": 1, }'), 'credential file', 'CONFIG_INVALID', /:1:17: not valid JSON/],
  [
    'a misspelt field',
    () => Object.assign(around.credentials[1] ?? {}, { password: undefined, pasword: { file: around.secretFile } }),
    'credential file',
    'CONFIG_INVALID',
    /pasword[\s\S]*password/,
  ],
  [
    'a variable that is not set',
    () => vi.stubEnv('DOCTOR_TOKEN', undefined),
    'secret portal.token',
    'CREDENTIAL_SOURCE',
    /set DOCTOR_TOKEN/,
  ],
  ['an empty variable', () => vi.stubEnv('DOCTOR_TOKEN', ''), 'secret portal.token', 'CREDENTIAL_VALUE_INVALID', /is empty/],
  [
    'a line break in a secret',
    () => vi.stubEnv('DOCTOR_TOKEN', 'to\nken'),
    'secret portal.token',
    'CREDENTIAL_VALUE_INVALID',
    /line break/,
  ],
  [
    'a secret file that others can read',
    () => chmod(around.secretFile, 0o644),
    'secret archive.password',
    'CREDENTIAL_SOURCE',
    /chmod 600/,
    'warning',
  ],
  [
    'a program that fails',
    () => Object.assign(around.credentials[2] ?? {}, { value: { command: ['false'] } }),
    'secret key.value',
    'CREDENTIAL_SOURCE',
    /run it yourself/,
  ],
  [
    'another issuer',
    () => (answers.discovery = { status: 200, body: JSON.stringify({ issuer: 'https://other.example' }) }),
    'discovery oidc',
    'OAUTH_ISSUER_MISMATCH',
    /other\.example instead of/,
  ],
  [
    'a discovery document that is not JSON',
    () => (answers.discovery = { status: 200, body: '<html>' }),
    'discovery oidc',
    'OAUTH_RESPONSE_INVALID',
    /not a discovery document/,
  ],
  [
    'a missing discovery document',
    () => (answers.discovery = { status: 404, body: '' }),
    'discovery oidc',
    'OAUTH_RESPONSE_INVALID',
    /answers 404/,
  ],
  [
    'a clock that is 10 minutes ahead',
    () => (answers.date = new Date(Date.now() - 600_000)),
    'clock',
    'CLOCK_SKEW',
    /60\d s ahead[\s\S]*set the clock/,
  ],
  ['a clock that is 10 minutes behind', () => (answers.date = new Date(Date.now() + 600_000)), 'clock', 'CLOCK_SKEW', /behind/],
  [
    'a proxy that is down',
    () => Object.assign(around.env, { HTTPS_PROXY: 'http://127.0.0.1:1' }),
    'proxy',
    'PROXY_UNREACHABLE',
    /127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)/,
  ],
  ['a malformed proxy', () => Object.assign(around.env, { HTTPS_PROXY: 'not a proxy' }), 'proxy', 'PROXY_INVALID', /HTTPS_PROXY/],
  [
    'a missing file of certificates',
    () => Object.assign(around.env, { NODE_EXTRA_CA_CERTS: '/no/such.pem' }),
    'certificates',
    'CONFIG_INVALID',
    /NODE_EXTRA_CA_CERTS: \/no\/such\.pem cannot be read/,
  ],
  [
    'a file of certificates without any',
    () => Object.assign(around.env, { NODE_EXTRA_CA_CERTS: around.secretFile }),
    'certificates',
    'CONFIG_INVALID',
    /no readable certificate/,
  ],
  [
    'a switched-off check of certificates',
    () => Object.assign(around.env, { NODE_TLS_REJECT_UNAUTHORIZED: '0' }),
    'certificates',
    'TLS_DISABLED',
    /unset/,
  ],
  [
    'a closed port',
    () => Object.assign(around.credentials[0] ?? {}, { sendTo: ['http://127.0.0.1:1/'] }),
    'host http://127.0.0.1:1',
    'NETWORK_REFUSED',
    /server is running/,
  ],
  [
    'a host name that does not exist',
    () => Object.assign(around.credentials[0] ?? {}, { sendTo: ['https://no-such-host.invalid/'] }),
    'host https://no-such-host.invalid',
    'NETWORK_DNS',
    /host name/,
  ],
  ['a token store that others can read', () => chmod(around.tokens, 0o755), 'token store', 'CACHE_UNSAFE', /chmod/],
  [
    'a file in place of the token store',
    () => rm(around.tokens, { recursive: true }).then(() => writeFile(around.tokens, '')),
    'token store',
    'CACHE_UNSAFE',
    /not a folder/,
  ],
  [
    'a file in place of the cache folder',
    () => Object.assign(around.env, { XDG_CACHE_HOME: join(around.secretFile, 'cache') }),
    'token store',
    'FILE_ACCESS',
    /not a folder[\s\S]*XDG_CACHE_HOME/,
  ],
  [
    'STAC_AUTH_TOKEN without STAC_AUTH_TOKEN_FOR',
    () => Object.assign(around.env, { STAC_AUTH_TOKEN: 'quick' }),
    'STAC_AUTH_TOKEN',
    'CONFIG_INVALID',
    /export STAC_AUTH_TOKEN_FOR=/,
    'warning',
  ],
  [
    'credentials that match nothing in a document without auth:refs',
    () => Object.assign(around.item, { assets: {} }),
    'credentials',
    'CREDENTIAL_TARGET_UNTRUSTED',
    /^for no target of the document: "portal", "archive", "key", "oidc"$/m,
    'warning',
  ],
  [
    'a folder of the credential file that others can write',
    () => chmod(around.folder, 0o777),
    'credential folder',
    'FILE_ACCESS',
    /chmod go-w/,
    'warning',
  ],
  [
    'a keyring that cannot be used',
    () => Object.assign(around.credentials[0] ?? {}, { token: { keyring: 'portal' } }),
    'secret portal.token',
    'CREDENTIAL_SOURCE',
    /npm install @napi-rs\/keyring/,
  ],
  [
    'a redirect port that another program uses',
    () =>
      Object.assign(around.credentials[3] ?? {}, {
        flow: undefined,
        clientSecret: undefined,
        redirectPort: Number(new URL(server.origin).port),
      }),
    'redirect port oidc',
    'NETWORK_LISTEN',
    /EADDRINUSE[\s\S]*redirectPort of "oidc"/,
  ],
  [
    'a scheme without a credential',
    () => around.credentials.splice(2, 1),
    'scheme key',
    'NO_CREDENTIAL',
    /no credential for[\s\S]*^stac-auth setup \S+item\.json$/m,
  ],
]

it('finds no problem where everything is right', async () => {
  const { checks, code } = await examined()
  expect(checks.filter(({ level }) => level !== 'ok')).toEqual([])
  expect(code).toBe(0)
  const names = checks.map(({ check }) => check)
  expect(names).toEqual(
    expect.arrayContaining([
      'node',
      'credential file',
      'secret portal.token',
      'token store',
      `host ${server.origin}`,
      'clock',
      'discovery oidc',
      'scheme bearer',
    ]),
  )
  const { stdout } = await run(['doctor', join(around.folder, 'item.json'), '--credentials', around.file], { env: around.env })
  expect(stdout).toMatch(/\n\nno problem found; stac-auth doctor \S+item\.json --test also tries each credential\n$/)
})

it('names the credentials for other documents in one line, as a warning only where a scheme has none', async () => {
  const token = { env: 'DOCTOR_TOKEN' }
  for (let number = 0; number < 7; number++)
    around.credentials.push({ id: `far${number}`, type: 'http', scheme: 'bearer', token, sendTo: [`${server.origin}/far/`] })
  const message = 'for no target of the document: "far0", "far1", "far2", "far3", "far4" and 2 more'
  const right = await examined()
  expect(checkOf(right.checks, 'credentials')).toEqual({ check: 'credentials', level: 'ok', message })
  around.credentials.splice(2, 1)
  await rm(around.file)
  const { checks } = await examined()
  expect(checkOf(checks, 'credentials')).toMatchObject({ level: 'warning', code: 'CREDENTIAL_TARGET_UNTRUSTED', message })
})

describe('doctor finds', () => {
  it.each(FAULTS.map((fault) => ({ title: fault[0], fault })))('$title', async ({ fault }) => {
    const [, cause, check, code, says, level = 'error'] = fault
    await cause()
    const { checks, code: exit } = await examined()
    const found = checks.filter((one) => one.check === check && one.level !== 'ok')
    expect(found).toEqual([expect.objectContaining({ level, code, hint: expect.any(String) })])
    expect(`${found[0]?.message}\n${found[0]?.hint}`).toMatch(says)
    expect(exit === 0).toBe(level === 'warning')
  })

  it.runIf(process.getuid?.() === 0)('a credential file of another user', async () => {
    await writeCredentials(JSON.stringify({ version: 1, credentials: [] }))
    await chown(around.file, 12_345, 12_345)
    expect(checkOf((await examined()).checks, 'credential file')).toMatchObject({
      level: 'error',
      code: 'CONFIG_INVALID',
      hint: expect.stringContaining('use a file that you own'),
    })
  })

  it('a token endpoint and a server that refuse the credentials, if it may send requests', async () => {
    const refused = await examined('--test')
    expect(refused.checks.filter(({ check, level }) => check.startsWith('request ') && level !== 'ok')).toEqual([
      expect.objectContaining({ check: 'request key', code: 'AUTH_REJECTED', hint: expect.stringContaining('whether it has expired') }),
      expect.objectContaining({ check: 'request oidc', code: 'OAUTH_ERROR', hint: expect.stringContaining('clientSecret') }),
    ])
    expect(refused.checks.filter(({ check, level }) => check.startsWith('request ') && level === 'ok')).toEqual([
      expect.objectContaining({ check: 'request bearer', message: expect.stringMatching(/^with "portal" works: .* answered 200/) }),
      expect.objectContaining({ check: 'request basic' }),
    ])
    expect(refused.code).toBe(3)
  })

  it('a certificate that no known authority has signed', async () => {
    const secure = await startAnswering(() => ({ status: 200 }), { key: await tls('server.key'), cert: await tls('self-signed.pem') })
    try {
      Object.assign(around.credentials[0] ?? {}, { sendTo: [`${secure.origin}/`] })
      const found = checkOf((await examined()).checks, `host ${secure.origin}`)
      expect(found).toMatchObject({ level: 'error', code: 'TLS_UNTRUSTED', hint: expect.stringContaining('SSL_CERT_FILE') })
    } finally {
      await secure.close()
    }
  })

  it('a version of Node that is too old', () => {
    expect(versionChecks('20.19.0')[0]).toMatchObject({ check: 'node', level: 'ok' })
    for (const version of ['20.18.1', '18.20.4']) {
      expect(versionChecks(version)[0]).toMatchObject({ level: 'error', hint: 'install Node 20.19 or later' })
    }
  })

  it('a missing optional package, only if a credential needs it', () => {
    const negotiate = { id: 'n', type: 'http', scheme: 'Negotiate' }
    const profile = { id: 's', type: 's3', profile: 'eo' }
    const set = { credentials: [negotiate, profile] }
    expect(packageChecks(set, () => true).map(({ level }) => level)).toEqual(['ok', 'ok'])
    expect(packageChecks(set, () => false).map(({ level, hint }) => [level, hint])).toEqual([
      ['error', 'npm install kerberos'],
      ['warning', 'npm install @aws-sdk/credential-providers'],
    ])
    expect(packageChecks({ credentials: [] }, () => false)).toEqual([])
  })

  it('an expired token, a missing login, and a token that is refreshed', async () => {
    const state = (credential: string, more: Partial<CredentialStatus>): CredentialStatus => ({
      credential,
      type: 'oauth2',
      flow: 'authorizationCode',
      state: 'valid',
      refreshable: false,
      persistent: true,
      ...more,
    })
    const states = [
      state('a', { state: 'expired' }),
      state('b', { state: 'none' }),
      state('c', { state: 'expired', refreshable: true }),
      state('d', {}),
    ]
    const auth = { ...createAuth({ credentials: [] }), status: async () => states }
    expect((await loginChecks(auth)).checks.map(({ check, level, hint }) => [check, level, hint])).toEqual([
      ['token a', 'error', 'stac-auth login a'],
      ['token b', 'warning', 'stac-auth login b'],
      ['token c', 'ok', undefined],
      ['token d', 'ok', undefined],
    ])
  })
})

it('does not take a login that is due for a credential without use', async () => {
  Object.assign(around.credentials[3] ?? {}, { flow: undefined, clientSecret: undefined })
  const { checks } = await examined()
  expect(checks.filter(({ check }) => check === 'credential oidc')).toEqual([])
  expect(checkOf(checks, 'scheme oidc')).toMatchObject({ code: 'LOGIN_REQUIRED', hint: expect.stringContaining('stac-auth login oidc') })
})

it('says how to use --test without a document', async () => {
  for (const argv of [
    ['doctor', '--test'],
    ['doctor', 'item.json', '--test', '--offline'],
  ])
    expect(await run(argv)).toMatchObject({ code: 2, stderr: expect.stringContaining('stac-auth doctor DOC --test') })
})

it('sends no request with --offline', async () => {
  await writeCredentials(JSON.stringify({ version: 1, credentials: around.credentials }))
  const before = server.exchanges.length
  const { code, stdout } = await run(['doctor', '--offline', '--credentials', around.file], { env: around.env })
  expect([code, server.exchanges.length]).toEqual([0, before])
  expect(stdout).toMatch(/^ok {6}node: Node [\d.]+ on /)
  expect(stdout).toMatch(/\n\nno problem found\n$/)
})

it('prints each fault with its remedy for people', async () => {
  vi.stubEnv('DOCTOR_TOKEN', undefined)
  await writeCredentials(JSON.stringify({ version: 1, credentials: around.credentials }))
  const { code, stdout } = await run(['doctor', '--offline', '--credentials', around.file], { env: around.env })
  expect(code).toBe(3)
  expect(stdout).toContain(
    'error   secret portal.token: CREDENTIAL_SOURCE: the environment variable DOCTOR_TOKEN is not set\n        set DOCTOR_TOKEN in the environment of this program\n',
  )
  expect(stdout).toMatch(/\n1 error, 0 warnings\n$/)
})

describe('doctor without a document', () => {
  const folders = async (env: Readonly<Record<string, string>>) => {
    const { stdout, code } = await run(['doctor', '--offline', '--json'], { env })
    const checks: readonly Check[] = JSON.parse(stdout)
    return { code, config: checkOf(checks, 'credential folder'), tokens: checkOf(checks, 'token store') }
  }

  it('finds a file in place of the configuration folder', async () => {
    const config = join(await temporaryFolder(), 'config')
    await writeFile(config, '')
    const hint = expect.stringContaining('set XDG_CONFIG_HOME')
    expect(await folders({ XDG_CONFIG_HOME: config })).toMatchObject({
      code: 6,
      config: { level: 'error', message: `${config} is not a folder`, hint },
    })
  })

  it('finds no fault in folders that do not exist yet', async () => {
    const folder = await temporaryFolder()
    const found = await folders({ XDG_CONFIG_HOME: join(folder, 'a/b'), XDG_CACHE_HOME: join(folder, 'c/d') })
    expect(found).toMatchObject({ code: 0, config: undefined, tokens: { level: 'ok' } })
  })

  it('reports a shared token store that cannot be reached once, not for the logins as well', async () => {
    vi.stubEnv('TOKEN_STORE_KEY', Buffer.alloc(32, 7).toString('base64'))
    const tokens = { redis: 'redis://127.0.0.1:1', key: { env: 'TOKEN_STORE_KEY' } }
    await writeCredentials(JSON.stringify({ version: 1, tokens, credentials: around.credentials }))
    const { stdout } = await run(['doctor', '--offline', '--json', '--credentials', around.file])
    const refused = (JSON.parse(stdout) as Check[]).filter(({ code }) => code === 'NETWORK_REFUSED')
    expect(refused.map(({ check }) => check)).toEqual(['token store'])
  })
})

it('doctor checks a document with --offline, and refuses the URL of one', async () => {
  around.credentials.splice(2, 1)
  expect(await examined('--offline')).toMatchObject({
    code: 3,
    checks: expect.arrayContaining([expect.objectContaining({ code: 'NO_CREDENTIAL' })]),
  })
  expect(await run(['doctor', '--offline', 'https://data.example/item.json', '--credentials', around.file])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--offline reads no document from a URL'),
  })
})
