import { execFileSync } from 'node:child_process'
import { access, chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { changedFiles } from '../../src/cli/lint/git.ts'
import { homeFolder } from '../../src/node/base/user-folder.ts'
import { awsKeys } from '../../src/node/credentials/aws-keys.ts'
import { askAws } from '../../src/node/credentials/aws-package.ts'
import { credentialsFromFile, defaultCredentialFile } from '../../src/node/credentials/credential-file.ts'
import { secretSource } from '../../src/node/credentials/secret-source.ts'
import { defaultTokenFolder, tokenFiles } from '../../src/node/tokens/token-files.ts'
import { tokenKeyring } from '../../src/node/tokens/token-keyring.ts'
import { temporaryFolder } from '../cli/folder.ts'
import { failureOf } from '../harness/failure.ts'

/** Values of variables that name no folder: absent, empty, relative, and on Windows on whichever drive. */
const NONE = {
  linux: [undefined, '', '.', 'x', './x', '../x', '~', '~/x', 'C:\\x'],
  win32: [undefined, '', '.', 'x', '..\\x', '\\x', '/x', 'C:x', '%USERPROFILE%'],
}
const ACCOUNT = { linux: '/srv/ada', win32: 'C:\\Users\\ada' }
const GOOD = { linux: '/srv/b', win32: 'D:\\b' }
const none = () => ''

describe.each(['linux', 'darwin', 'win32'] as const)('on %s', (platform) => {
  const kind = platform === 'win32' ? 'win32' : 'linux'
  const account = () => ACCOUNT[kind]
  const [config, cache, home] =
    platform === 'win32' ? ['APPDATA', 'LOCALAPPDATA', 'USERPROFILE'] : ['XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'HOME']
  const slashes = (path: string | undefined) => path?.replaceAll('\\', '/')
  const below = platform === 'win32' ? { config: 'AppData/Roaming', cache: 'AppData/Local' } : { config: '.config', cache: '.cache' }
  const ends = { config: 'stac-auth/credentials.json', cache: 'stac-auth/tokens' }

  it.each(NONE[kind])('takes no base folder from a variable that says %j', (value) => {
    const env = { [config]: value, [cache]: value, [home]: value }
    expect(slashes(defaultCredentialFile(env, platform, account))).toBe(`${slashes(ACCOUNT[kind])}/${below.config}/${ends.config}`)
    expect(slashes(defaultTokenFolder(env, platform, account))).toBe(`${slashes(ACCOUNT[kind])}/${below.cache}/${ends.cache}`)
    expect(homeFolder(env, platform, account)).toBe(ACCOUNT[kind])
    // Where the account has none either, there is no folder: the file is an error, tokens stay in memory.
    for (const nobody of [none, () => 'relative']) {
      expect(() => defaultCredentialFile(env, platform, nobody)).toThrow(`neither ${config} nor ${home}`)
      expect([defaultTokenFolder(env, platform, nobody), homeFolder(env, platform, nobody)]).toEqual([undefined, undefined])
    }
  })

  it('takes the variable of the base folder, then the home folder, then that of the account', () => {
    expect(slashes(defaultCredentialFile({ [config]: GOOD[kind], [home]: 'x' }, platform, none))).toBe(
      `${slashes(GOOD[kind])}/${ends.config}`,
    )
    expect(slashes(defaultTokenFolder({ [cache]: GOOD[kind], [home]: 'x' }, platform, none))).toBe(`${slashes(GOOD[kind])}/${ends.cache}`)
    expect(slashes(defaultCredentialFile({ [config]: 'x', [home]: GOOD[kind] }, platform, account))).toBe(
      `${slashes(GOOD[kind])}/${below.config}/${ends.config}`,
    )
    expect(slashes(defaultTokenFolder({ [cache]: '', [home]: GOOD[kind] }, platform, account))).toBe(
      `${slashes(GOOD[kind])}/${below.cache}/${ends.cache}`,
    )
  })
})

it('takes a share of Windows for absolute', () => {
  expect(homeFolder({ USERPROFILE: '\\\\server\\users\\ada' }, 'win32', none)).toBe('\\\\server\\users\\ada')
})

describe('in a working directory that someone else has filled', () => {
  const cwd = process.cwd()
  let [folder, ran] = ['', '']
  beforeEach(async () => {
    folder = await temporaryFolder()
    ran = join(folder, 'ran')
    const touch = join(folder, 'touch.sh')
    await put('touch.sh', `#!/bin/sh\ntouch ${ran}\necho '{"Version":1,"AccessKeyId":"theirs","SecretAccessKey":"theirs"}'\n`)
    await chmod(touch, 0o700)
    const entry = { id: 'theirs', type: 'http', scheme: 'bearer', token: { command: [touch] }, sendTo: ['https://data.example/'] }
    for (const base of ['', 'x/']) {
      await put(`${base}.config/stac-auth/credentials.json`, JSON.stringify({ version: 1, credentials: [entry] }))
      await put(`${base}stac-auth/credentials.json`, JSON.stringify({ version: 1, credentials: [entry] }))
      await put(`${base}.aws/config`, `[default]\ncredential_process = ${touch}\n[profile eo]\ncredential_process = ${touch}\n`)
      await put(`${base}.secret`, 'theirs')
      await put(`${base}.gitconfig`, `[filter "theirs"]\n  clean = ${touch}\n  smudge = ${touch}\n`)
      await put(`${base}git/config`, `[filter "theirs"]\n  clean = ${touch}\n  smudge = ${touch}\n`)
    }
    process.chdir(folder)
  })
  afterEach(() => {
    process.chdir(cwd)
    vi.unstubAllEnvs()
  })

  async function put(name: string, text: string): Promise<void> {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text, { mode: 0o600 })
  }

  function stub(value: string): void {
    for (const name of ['HOME', 'XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'APPDATA', 'LOCALAPPDATA', 'USERPROFILE']) vi.stubEnv(name, value)
    for (const name of ['STAC_AUTH_CREDENTIALS', 'AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE', 'CLOUD_CONFIG_FILE', 'AWS_PROFILE'])
      vi.stubEnv(name, '')
  }
  const hasRun = () =>
    access(ran).then(
      () => true,
      () => false,
    )

  it.each(['', '.', 'x', './x'])('reads no credentials, secrets or profiles of it where all variables say "%s"', async (value) => {
    stub(value)
    expect((await credentialsFromFile().catch(() => ({ credentials: [] }))).credentials).not.toContainEqual(
      expect.objectContaining({ id: 'theirs' }),
    )
    expect(
      await secretSource({ file: '~/.secret' })
        .read()
        .catch(() => 'none'),
    ).not.toBe('theirs')
    const entry = { id: 's3', profile: 'eo' } as unknown as Parameters<typeof awsKeys>[0]
    await failureOf(awsKeys(entry)())
    expect(await hasRun()).toBe(false)
  })

  it.each(['', '.', 'x'])('passes nothing to the libraries of AWS, which would look there, where HOME is "%s"', async (value) => {
    stub(value)
    const loaded = vi.fn()
    const asked = askAws({ source: 'the container', provider: () => async () => ({ accessKeyId: 'a', secretAccessKey: 'b' }) }, loaded)
    expect(await failureOf(asked)).toMatchObject({ code: 'CONFIG_INVALID', hint: expect.stringContaining('HOME') })
    expect(loaded).not.toHaveBeenCalled()
  })

  it('lets git run no filter of it', async () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], { cwd: folder, stdio: 'ignore' })
    await put('.gitattributes', '*.json filter=theirs\n')
    await put('item.json', '{}')
    git('init')
    git('add', 'item.json', '.gitattributes')
    git('commit', '-m', 'x')
    await put('item.json', '{ }')
    for (const value of ['.', 'x']) {
      stub(value)
      await changedFiles(folder, 'HEAD')
      expect(await hasRun(), value).toBe(false)
    }
  })

  it('keeps tokens in memory, with one warning, where there is no folder at all', async () => {
    const { nowhere } = await import('../../src/node/tokens/token-files.ts')
    const { withMemoryFallback } = await import('../../src/auth/session.ts')
    const warnings: string[] = []
    const store = withMemoryFallback(nowhere(), ({ code, message }) => warnings.push(`${code} ${message}`))
    await store.exclusively('a', async () => {
      await store.write('a', 'text')
      await store.reserve?.('a', 10)
    })
    expect(await store.read('a')).toBe('text')
    await store.remove('a')
    expect(await store.read('a')).toBeUndefined()
    expect(warnings).toEqual([expect.stringMatching(/^CACHE_MEMORY_ONLY .*neither XDG_CACHE_HOME nor HOME is an absolute path/)])
    // Those of the platform make nothing in the working directory either.
    stub('x')
    for (const open of [tokenFiles, tokenKeyring]) expect(await open().read('a1'.repeat(32))).toBeUndefined()
    expect(
      await access(join(folder, 'x/stac-auth')).then(
        () => 'credentials only',
        () => 'nothing',
      ),
    ).toBe('credentials only')
    await expect(access(join(folder, 'x/stac-auth/tokens'))).rejects.toThrow()
  })
})
