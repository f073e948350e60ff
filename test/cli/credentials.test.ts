import { chmod, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { put, temporaryFolder } from './folder.ts'
import { itemWith, keyFor } from './items.ts'
import { lastError, run } from './run.ts'
import { newUser } from './setup-user.ts'

const folder = await temporaryFolder()
const good = await put(folder, 'good.json', keyFor('https://data.example/', 'https://*.tiles.example/'))
const bad = await put(
  folder,
  'bad.json',
  '{ "version": 1,\n  "credentials": [\n    { "id": "p", "type": "apiKey", "in": "header", "name": "x",\n      "value": "hunter2", "sendTo": [] }\n  ] }',
)

afterEach(() => vi.unstubAllEnvs())

describe('credentials list', () => {
  it('says how to create credentials where there are none, except to programs', async () => {
    const none = await put(folder, 'without.json', { version: 1, credentials: [] })
    const note = `no credentials in ${none}: stac-auth setup DOC creates those that a document needs\n`
    expect(await run(['credentials', 'list', none])).toMatchObject({ code: 0, stdout: '', stderr: note })
    expect(await run(['credentials', 'list', none, '--json'])).toMatchObject({ code: 0, stdout: '[]\n', stderr: '' })
  })

  it('names the token of the environment, which no file lists, and does not show it', async () => {
    const listed = async (env: Record<string, string>, ...argv: string[]) =>
      (await run(['credentials', 'list', good, ...argv], { env })).stderr
    const token = { STAC_AUTH_TOKEN: 'canary' }
    const used = { ...token, STAC_AUTH_TOKEN_FOR: 'https://data.example/' }
    const note = 'not in the file: the bearer token in STAC_AUTH_TOKEN, for https://data.example/\n'
    expect([await listed(token), await listed(used), await listed(used, '--json')]).toEqual(['', note, ''])
    const swapped = { STAC_AUTH_TOKEN: 'https://data.example/', STAC_AUTH_TOKEN_FOR: 'canary.of.a-token' }
    expect(await listed(swapped)).toMatch(/^error CONFIG_INVALID: STAC_AUTH_TOKEN_FOR: /)
    expect(await listed(swapped)).not.toContain('canary')
  })
})

describe('a credential file that does not exist', async () => {
  const none = join(folder, 'none.json')
  const empty = await put(folder, 'empty.json', { version: 1, credentials: [] })
  const item = await put(folder, 'item.json', itemWith({}))

  it.each([
    [['credentials', 'list', none], 'DOC'],
    [['credentials', 'check', none], 'DOC'],
    [['status', '--credentials', none], 'DOC'],
    [['login', 'portal', '--credentials', empty], 'DOC'],
    [['explain', item, '--credentials', none], item],
  ])('%j names in its advice a document that the user gave, and nothing else', async (argv, document) => {
    const { stderr } = await run(argv)
    const advised = /stac-auth setup (\S+)/.exec(stderr)?.[1]
    expect(advised).toBe(document)
  })

  it('has one advice in the result of credentials check --json and in its error', async () => {
    const outcome = await run(['credentials', 'check', none, '--json'])
    const { hint } = lastError(outcome)
    expect(hint).toBe(`correct its name, or create it: stac-auth setup DOC --credentials ${none}`)
    expect(JSON.parse(outcome.stdout).problems).toMatchObject([{ hint }])
  })
})

describe('credentials check', () => {
  it.each([[['--credentials', good]], [[good]]])('lists the credentials of a valid file: %j', async (argv) => {
    expect(await run(['credentials', 'check', ...argv])).toMatchObject({
      code: 0,
      stdout: `portal  apiKey  https://data.example/ https://*.tiles.example/\n${good}: 1 credential is valid\n`,
      stderr: '',
    })
  })

  it('names the service that gives a credential its keys', async () => {
    const login = { id: 'login', type: 'http', scheme: 'bearer', token: { env: 'TOKEN' }, sendTo: ['https://archive.example/'] }
    const keys = { id: 'archive', type: 's3', credentialsUrl: 'https://archive.example/keys', with: 'login', sendTo: ['s3://eo/'] }
    const path = await put(folder, 'archive.json', { version: 1, credentials: [login, keys] })
    const { stdout } = await run(['credentials', 'list', path])
    expect(stdout).toBe(
      'login  http  https://archive.example/\narchive  s3  s3://eo/  keys from: https://archive.example/keys  with: login\n',
    )
    const wrong = await put(folder, 'archive-profile.json', { version: 1, credentials: [login, { ...keys, profile: 'eo' }] })
    const { code, stderr } = await run(['credentials', 'check', wrong])
    expect([code, stderr]).toEqual([2, expect.stringContaining('is a second source of keys: set credentialsUrl or profile, not both')])
  })

  it('prints JSON for programs', async () => {
    const { stdout } = await run(['credentials', 'check', '--json'], { env: { STAC_AUTH_CREDENTIALS: good } })
    const credentials = [{ id: 'portal', type: 'apiKey', sendTo: ['https://data.example/', 'https://*.tiles.example/'] }]
    expect(JSON.parse(stdout)).toEqual({ file: good, credentials, problems: [] })
  })

  it('reports where the mistake is and never what the secret was', async () => {
    const { code, stdout, stderr } = await run(['credentials', 'check', bad])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^error CONFIG_INVALID \/credentials\/0\/value: .*bad\.json:4:16: /)
    expect(stderr).not.toContain('hunter2')
  })

  it('reports the mistake on stdout and stderr in JSON', async () => {
    const outcome = await run(['credentials', 'check', bad, '--json'])
    expect(outcome.code).toBe(2)
    expect(JSON.parse(outcome.stdout)).toMatchObject({
      file: bad,
      credentials: [],
      problems: [{ code: 'CONFIG_INVALID', pointer: '/credentials/0/value' }],
    })
    expect(lastError(outcome)).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/credentials/0/value' })
    expect(outcome.stdout + outcome.stderr).not.toContain('hunter2')
  })

  it.each([
    ['a trailing comma', '{"version":1,"credentials":[],}'],
    ['an unknown member', { version: 1, credentials: [], extra: 1 }],
    ['a pattern for everything', keyFor('*')],
    ['a wildcard on a shared host', keyFor('https://*.s3.amazonaws.com/')],
    ['plain http', keyFor('http://a.example/')],
    ['another version', { version: 2, credentials: [] }],
  ])('refuses %s with a position', async (_name, content) => {
    const path = await put(folder, 'wrong.json', content)
    const { code, stderr } = await run(['credentials', 'check', path])
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^error CONFIG_INVALID[ :].*wrong\.json:\d+:\d+: /)])
  })

  it('refuses a file that others can write', async () => {
    const path = await put(folder, 'open.json', keyFor('https://data.example/'))
    await chmod(path, 0o666)
    expect(await run(['credentials', 'check', path])).toMatchObject({ code: 2, stderr: expect.stringContaining('chmod go-w') })
  })

  it('a missing file is an error when it was named, but not by default', async () => {
    expect(await run(['credentials', 'check', join(folder, 'none.json')])).toMatchObject({ code: 2 })
    vi.stubEnv('XDG_CONFIG_HOME', folder)
    vi.stubEnv('STAC_AUTH_CREDENTIALS', '')
    const { code, stdout } = await run(['credentials', 'check'], { env: { XDG_CONFIG_HOME: folder } })
    expect([code, stdout]).toEqual([
      0,
      `${join(folder, 'stac-auth', 'credentials.json')}: the file does not exist, so there are no credentials\n`,
    ])
  })
})

describe('credentials list', () => {
  it('reports id, type and URLs', async () => {
    expect((await run(['credentials', 'list', good])).stdout).toBe('portal  apiKey  https://data.example/ https://*.tiles.example/\n')
    expect(JSON.parse((await run(['credentials', 'list', good, '--json'])).stdout)).toHaveLength(1)
  })

  it('reports where signed URLs may lead', async () => {
    const signer = {
      id: 'signer',
      type: 'signedUrl',
      authorizationApi: 'https://sign.example/sign',
      method: 'GET',
      signedUrlHosts: ['https://store.example/'],
      responseField: 'href',
    }
    const file = await put(folder, 'signer.json', { version: 1, credentials: [signer] })
    expect(await run(['credentials', 'list', file])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/signed: https:\/\/store.example\/\n$/),
    })
  })
})

describe('credentials remove', () => {
  const stored = (secrets: string, name: string) => ({ file: join(secrets, name) })
  const key = (id: string, value: object) => ({ id, type: 'apiKey', in: 'header', name: 'x', value, sendTo: ['https://data.example/'] })

  it('removes the credential, its tokens and the secret that only it uses', async () => {
    const user = await newUser()
    await mkdir(user.secrets, { recursive: true, mode: 0o700 })
    for (const name of ['a.value', 'shared.value', 'login.clientSecret']) await put(user.secrets, name, 'canary')
    const login = {
      ...{ id: 'login', type: 'oauth2', flow: 'clientCredentials', tokenUrl: 'https://identity.example/token', clientId: 'me' },
      ...{ clientSecret: stored(user.secrets, 'login.clientSecret'), sendTo: ['https://data.example/'] },
    }
    const shared = stored(user.secrets, 'shared.value')
    const all = [key('a', stored(user.secrets, 'a.value')), key('b', shared), key('c', shared), login, key('own', { env: 'OWN' })]
    await put(join(user.home, 'stac-auth'), 'credentials.json', { version: 1, credentials: all })
    for (const [id, told] of [
      ['a', ', with its stored secret'],
      ['b', ''],
      ['login', ', with its stored secret'],
      ['own', ''],
    ] as const) {
      const { code, stderr } = await user.at(['credentials', 'remove', id])
      expect([code, stderr]).toEqual([0, `"${id}" is removed from ${join(user.home, 'stac-auth', 'credentials.json')}${told}\n`])
    }
    expect((await user.credentials()).map(({ id }) => id)).toEqual(['c'])
    expect(await readdir(user.secrets)).toEqual(['shared.value'])
  })

  it('keeps the credential while its secret cannot be removed, so that the command can be repeated', async () => {
    const user = await newUser()
    await mkdir(join(user.secrets, 'a.value'), { recursive: true, mode: 0o700 })
    const all = [key('a', stored(user.secrets, 'a.value'))]
    await put(join(user.home, 'stac-auth'), 'credentials.json', { version: 1, credentials: all })
    expect(await user.at(['credentials', 'remove', 'a'])).toMatchObject({ code: 6, stderr: expect.stringContaining('error FILE_ACCESS') })
    expect(await user.credentials()).toHaveLength(1)
    await rm(join(user.secrets, 'a.value'), { recursive: true })
    expect(await user.at(['credentials', 'remove', 'a'])).toMatchObject({ code: 0 })
    expect(await user.credentials()).toEqual([])
  })

  it('names the credential that needs it, and changes nothing', async () => {
    const signed = { id: 'signed', type: 'signedUrl', authorizationApi: 'https://data.example/sign', method: 'GET', with: 'a' }
    const user = await newUser(key('a', { env: 'A' }), {
      ...signed,
      signedUrlHosts: ['https://data.example/'],
      sendTo: ['https://data.example/'],
    })
    const { code, stderr } = await user.at(['credentials', 'remove', 'a'])
    expect([code, stderr]).toEqual([
      2,
      'error USAGE: the credential "signed" needs "a"\n  stac-auth credentials remove signed goes first\n',
    ])
    expect(await user.credentials()).toHaveLength(2)
    expect(await user.at(['credentials', 'remove', 'nobody'])).toMatchObject({ code: 3 })
  })
})
