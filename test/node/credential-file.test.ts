import { chmod, chown, link, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ConfigurationError } from '../../src/errors.ts'
import { credentialsFromFile, defaultCredentialFile } from '../../src/node/credentials/credential-file.ts'

const cwd = process.cwd()
let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'credential-file-'))
  vi.stubEnv('XDG_CONFIG_HOME', join(folder, 'config'))
  vi.stubEnv('STAC_AUTH_CREDENTIALS', undefined)
})
afterEach(async () => {
  process.chdir(cwd)
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true, force: true })
})

const portal = {
  id: 'portal',
  type: 'apiKey',
  in: 'header',
  name: 'x-api-key',
  value: { env: 'PORTAL_KEY' },
  sendTo: ['https://api.example/stac/'],
}
const good = { version: 1, preferred: ['portal'], credentials: [portal] }

async function file(content: unknown, name = 'credentials.json', mode = 0o600) {
  const path = join(folder, name)
  await writeFile(path, typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content, null, 2))
  await chmod(path, mode)
  return path
}

async function errorOf(content: unknown, mode?: number): Promise<ConfigurationError> {
  const path = await file(content, 'bad.json', mode)
  return credentialsFromFile(path).then(
    () => {
      throw new Error('expected a failure')
    },
    (error) => error,
  )
}

describe('which file', () => {
  it('reads the file that is named, else that of the variable, else that in the configuration folder', async () => {
    const named = (id: string) => ({ ...good, preferred: [], credentials: [{ ...portal, id }] })
    const ids = async (path?: string) => (await credentialsFromFile(path)).credentials.map(({ id }) => id)
    expect(await ids()).toEqual([])
    await mkdir(join(folder, 'config/stac-auth'), { recursive: true })
    await file(named('folder'), 'config/stac-auth/credentials.json')
    expect(await ids()).toEqual(['folder'])
    vi.stubEnv('STAC_AUTH_CREDENTIALS', await file(named('variable'), 'variable.json'))
    expect(await ids()).toEqual(['variable'])
    expect(await ids(await file(named('argument'), 'argument.json'))).toEqual(['argument'])
  })

  it('never reads a file in the working directory', async () => {
    process.chdir(folder)
    await file(good)
    await file('STAC_AUTH_CREDENTIALS=credentials.json', '.env')
    await mkdir(join(folder, 'stac-auth'))
    await file(good, 'stac-auth/credentials.json')
    vi.stubEnv('XDG_CONFIG_HOME', '.')
    vi.stubEnv('HOME', join(folder, 'home'))
    expect(await credentialsFromFile()).toEqual({ credentials: [] })
  })

  it.each([
    [{ XDG_CONFIG_HOME: '/x' }, 'linux', '/x/stac-auth/credentials.json'],
    [{ XDG_CONFIG_HOME: 'relative', HOME: '/h' }, 'linux', '/h/.config/stac-auth/credentials.json'],
    [{ HOME: '/h' }, 'darwin', '/h/.config/stac-auth/credentials.json'],
    [{ APPDATA: 'C:\\data', XDG_CONFIG_HOME: '/x' }, 'win32', 'C:\\data\\stac-auth\\credentials.json'],
  ] as const)('the default path for %j on %s is %s', (env, platform, path) => expect(defaultCredentialFile(env, platform)).toBe(path))

  it('refuses a missing file that was named', async () => {
    const path = join(folder, 'absent.json')
    await expect(credentialsFromFile(path)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: `the credential file ${path} does not exist`,
    })
    vi.stubEnv('STAC_AUTH_CREDENTIALS', path)
    await expect(credentialsFromFile()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      hint: `correct its name, or create it: stac-auth setup DOC --credentials ${path}`,
    })
  })
})

const SIGNER = {
  id: 's',
  type: 'signedUrl',
  method: 'GET',
  authorizationApi: 'https://sign.example/',
  signedUrlHosts: ['https://data.example/'],
}

describe('what it says', () => {
  it('what it says comes back as it is written', async () => {
    expect(await credentialsFromFile(await file(good))).toEqual({ preferred: ['portal'], credentials: [portal] })
    expect(await credentialsFromFile(await file(`\ufeff${JSON.stringify(good)}`))).toEqual({ preferred: ['portal'], credentials: [portal] })
    expect(await credentialsFromFile(await file({ version: 1, credentials: [] }))).toEqual({ credentials: [] })
  })

  it.each([
    ['a trailing comma', '{\n  "version": 1,\n  "credentials": [],\n}', '4:1: not valid JSON'],
    ['single quotes', "{\n  'canary': 1\n}", '2:3: not valid JSON'],
    ['an early end', '{ "version": 1, "credentials": [ "canary', 'not valid JSON'],
    ['nothing', '', '1:1: not valid JSON'],
    ['a list', '[]', '1:1: the credential file must be a JSON object'],
    ['another version', '{\n  "version": 2, "credentials": [] }', '2:14: version must be 1'],
    ['no version', '{ "credentials": [] }', '1:1: version must be 1'],
    ['an unknown member', '{ "version": 1, "credentials": [],\n "canary": 1 }', '2:'],
    [
      'a member that is written twice',
      '{ "version": 1,\n "credentials": [],\n "credentials": [] }',
      '3:17: "credentials" is written twice in one object',
    ],
    ['no entries', '{ "version": 1 }', 'credentials must be an array'],
    ['preferred as a text', '{ "version": 1, "credentials": [],\n"preferred": "a" }', '2:14: preferred must be an array of ids'],
    ['an entry that is a text', '{ "version": 1, "credentials": [\n "canary" ] }', '2:2: '],
  ])('%s is refused with its place', async (_name, content, text) => {
    const error = await errorOf(content)
    expect(error).toBeInstanceOf(ConfigurationError)
    expect(error.code).toBe('CONFIG_INVALID')
    expect(error.message).toContain(`${folder}/bad.json:`)
    expect(error.message).toContain(text)
    expect(error.message.replace('"canary" is not a member', '')).not.toContain('canary')
    expect(error).not.toHaveProperty('cause')
  })

  it('refuses a credential with two lists of allowed URLs, of which the first would be ignored', async () => {
    const text = JSON.stringify({ version: 1, credentials: [portal] }).replace('"sendTo"', '"sendTo":["https://a.example/"],"sendTo"')
    expect(await errorOf(text)).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/credentials/0/sendTo', hint: 'remove one of them' })
  })

  it('names the member that is written twice also where the last one is wrong', async () => {
    const text = JSON.stringify({ version: 1, credentials: [portal] }).replace(
      '"type"',
      '"type":"apiKey","type":"http","scheme":"basic","type"',
    )
    expect(await errorOf(text)).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/credentials/0/type', hint: 'remove one of them' })
  })

  it.each([
    ['a comment at the start', '// mine\n{ "version": 1, "credentials": [] }', '1:1', 'JSON has no comments: remove this one'],
    ['a comment in a list', '{ "version": 1, "credentials": [ /* none */ ] }', '1:34', 'JSON has no comments: remove this one'],
    ['a comment of a shell', '{ "version": 1,\n# mine\n"credentials": [] }', '2:1', 'JSON has no comments: remove this one'],
    ['an empty file', '\n', '2:1', 'the file is empty; its form is { "version": 1, "credentials": [ … ] }'],
    ['a missing comma', '{ "version": 1 "credentials": [] }', '1:16', expect.stringContaining('one comma between members')],
  ])('says how to repair %s', async (_name, text, place, hint) => {
    const error = await errorOf(text)
    expect(error.message).toContain(`bad.json:${place}: not valid JSON`)
    expect(error.hint).toEqual(hint)
  })

  it.each([
    ['bearer', 'did you mean "type": "http", "scheme": "bearer"?'],
    ['clientCredentials', 'did you mean "type": "oauth2", "flow": "clientCredentials"?'],
    ['token', undefined],
    [5, undefined],
  ])('says which type has %j as a value of another field', async (type, hint) => {
    const error = await errorOf({ version: 1, credentials: [{ ...portal, type }] })
    expect([error.code, error.pointer, error.hint]).toEqual(['CONFIG_INVALID', '/credentials/0/type', hint])
  })

  it('what it says holds no secrets', async () => {
    const error = await errorOf({ version: 1, credentials: [{ ...portal, value: 'canary-secret' }] })
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/credentials/0/value', hint: expect.stringContaining('"env"') })
    expect(error.message).toContain('bad.json:9:16: ')
    expect(JSON.stringify(error) + error.stack).not.toContain('canary-secret')
  })

  it.each([
    ['a secret', [{ ...portal, value: { file: 'canary' } }], '/credentials/0/value/file'],
    ['a parameter of a signing service', [{ ...SIGNER, parameters: { key: { file: './canary' } } }], '/credentials/0/parameters/key/file'],
  ])('the relative path of a file with %s is refused with its place, and not shown', async (_name, credentials, pointer) => {
    const error = await errorOf({ version: 1, credentials })
    const hint = 'use an absolute path, or one that starts with ~/'
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', pointer, hint })
    expect(error.message).toMatch(/bad\.json:\d+:\d+: \w+ is in a file with a relative path$/)
  })

  it.each([
    ['an unknown field', { ...portal, extra: 1 }, '/credentials/0/extra'],
    ['an unknown type', { ...portal, type: 'magic' }, '/credentials/0/type'],
    ['no id', { ...portal, id: undefined }, '/credentials/0/id'],
    ['no patterns', { ...portal, sendTo: undefined }, '/credentials/0/sendTo'],
    ['a pattern for everything', { ...portal, sendTo: ['*'] }, '/credentials/0/sendTo/0'],
    ['a pattern on a shared suffix', { ...portal, sendTo: ['https://*.github.io/'] }, '/credentials/0/sendTo/0'],
  ])('%s in a credential is refused with pointer and line', async (_name, entry, pointer) => {
    const error = await errorOf({ version: 1, credentials: [entry] })
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', pointer })
    expect(error.message).toMatch(/bad\.json:\d+:\d+: /)
  })

  it('what it says is UTF-8', async () => {
    expect((await errorOf(Buffer.from('{"version":1,"caf\xe9":1}', 'latin1'))).message).toContain('is not UTF-8 text')
  })
})

describe('whose file', () => {
  it.each([0o620, 0o602, 0o666, 0o777])('refuses a file with mode %o', async (mode) => {
    const error = await errorOf(good, mode)
    expect(error.message).toContain('can be written by others')
    expect(error.hint).toMatch(/^chmod go-w '.*'$/)
  })

  it.each([0o600, 0o400, 0o644])('reads a file with mode %o', async (mode) => {
    expect((await credentialsFromFile(await file(good, 'mode.json', mode))).credentials).toHaveLength(1)
  })

  it.runIf(process.getuid?.() === 0)('refuses a file of another user, also behind a link', async () => {
    const path = await file(good)
    await chown(path, 12_345, 12_345)
    await symlink(path, join(folder, 'soft.json'))
    await link(path, join(folder, 'hard.json'))
    for (const name of ['credentials.json', 'soft.json', 'hard.json']) {
      await expect(credentialsFromFile(join(folder, name))).rejects.toMatchObject({
        message: expect.stringContaining('belongs to another user'),
      })
    }
  })

  it('reads only regular files of at most 1 MiB', async () => {
    await expect(credentialsFromFile(folder)).rejects.toMatchObject({ message: expect.stringContaining('not a regular file') })
    await expect(credentialsFromFile('/dev/zero')).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    expect((await errorOf(' '.repeat(2 ** 20 + 1))).message).toContain('is too large')
  })
})
