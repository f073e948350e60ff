import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { bearer, uncheckedCredential } from '../../src/auth/credential.ts'
import { CredentialError } from '../../src/errors.ts'
import { runSecretCommand, secretSource } from '../../src/node/credentials/secret-source.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'secret-source-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error) => error,
  )

async function file(name: string, content: string | Uint8Array) {
  const path = join(folder, name)
  await writeFile(path, content)
  return path
}

/** A command that runs JavaScript. */
const program = (script: string) => [process.execPath, '-e', script]

function expectSourceError(error: CredentialError, text: string) {
  expect(error).toBeInstanceOf(CredentialError)
  expect(error.code).toBe('CREDENTIAL_SOURCE')
  expect(error.message).toContain(text)
  expect(error).not.toHaveProperty('cause')
  expect(JSON.stringify(error) + error.stack).not.toContain('canary')
}

describe('env', () => {
  it('env is read when it is needed, once', async () => {
    const secret = secretSource({ env: 'STAC_AUTH_TEST_SECRET' })
    process.env.STAC_AUTH_TEST_SECRET = 'first'
    expect(await secret.read()).toBe('first')
    process.env.STAC_AUTH_TEST_SECRET = 'second'
    expect(await secret.read()).toBe('first')
    delete process.env.STAC_AUTH_TEST_SECRET
  })

  it('env that is not set is named, and may be set afterwards', async () => {
    const secret = secretSource({ env: 'STAC_AUTH_TEST_UNSET' })
    expectSourceError(await errorOf(secret.read()), 'STAC_AUTH_TEST_UNSET')
    process.env.STAC_AUTH_TEST_UNSET = 'now'
    expect(await secret.read()).toBe('now')
    delete process.env.STAC_AUTH_TEST_UNSET
  })
})

describe('an empty source', () => {
  it('is CREDENTIAL_VALUE_INVALID, which names the source', async () => {
    process.env.STAC_AUTH_TEST_EMPTY = ''
    for (const [source, message] of [
      [{ env: 'STAC_AUTH_TEST_EMPTY' }, 'the environment variable STAC_AUTH_TEST_EMPTY is empty'],
      [{ file: await file('empty', '\n') }, `the secret file ${join(folder, 'empty')} is empty`],
      [{ command: program('') }, `the program ${process.execPath} printed nothing`],
    ] as const)
      expect(await errorOf(secretSource(source).read())).toMatchObject({ code: 'CREDENTIAL_VALUE_INVALID', message })
    const token = uncheckedCredential({ id: 't', ...bearer('', 'https://data.example/'), token: { env: 'STAC_AUTH_TEST_EMPTY' } })
    expect(await errorOf(createAuth({ credentials: token }).fetch('https://data.example/a'))).toMatchObject({
      code: 'CREDENTIAL_VALUE_INVALID',
      message: 'token of "t": the environment variable STAC_AUTH_TEST_EMPTY is empty',
      hint: 'set STAC_AUTH_TEST_EMPTY in the environment of this program',
      credential: 't',
    })
    delete process.env.STAC_AUTH_TEST_EMPTY
  })
})

describe('file', () => {
  it.each([
    ['secret', 'secret'],
    ['secret\n', 'secret'],
    ['secret\r\n', 'secret'],
    ['secret\n\n', 'secret\n'],
    [' se cret ', ' se cret '],
    ['grün', 'grün'],
  ])('%j is %j: one line break at the end goes', async (content, secret) => {
    expect(await secretSource({ file: await file('secret', content) }).read()).toBe(secret)
  })

  it('~/ is the home folder', async () => {
    for (const name of ['HOME', 'USERPROFILE']) vi.stubEnv(name, folder)
    await file('at-home', 'from home\n')
    expect(await secretSource({ file: '~/at-home' }).read()).toBe('from home')
    vi.unstubAllEnvs()
  })

  it('file may have 64 KiB, no more', async () => {
    expect(await secretSource({ file: await file('full', 'x'.repeat(65_536)) }).read()).toHaveLength(65_536)
    expectSourceError(await errorOf(secretSource({ file: await file('over', 'canary'.repeat(20_000)) }).read()), 'is too large')
  })

  it('a variable that is written with $ is named without it in the hint', async () => {
    const error = await errorOf(secretSource({ env: '$CANARY' }).read())
    expect(error).toMatchObject({ code: 'CREDENTIAL_SOURCE', hint: 'write its name without $: CANARY' })
  })

  it('file that cannot be a secret is named', async () => {
    await mkdir(join(folder, 'folder'))
    expectSourceError(await errorOf(secretSource({ file: join(folder, 'absent') }).read()), 'does not exist')
    expectSourceError(await errorOf(secretSource({ file: join(folder, 'folder') }).read()), 'not a regular file')
    expectSourceError(await errorOf(secretSource({ file: '/dev/zero' }).read()), 'not a regular file')
    expectSourceError(await errorOf(secretSource({ file: 'secret' }).read()), 'relative path')
    const path = await file('latin', Buffer.from('canary-\xe9', 'latin1'))
    expectSourceError(await errorOf(secretSource({ file: path }).read()), 'not UTF-8')
    const marked = await file('marked', Buffer.from('\ufeffcanary'))
    expectSourceError(await errorOf(secretSource({ file: marked }).read()), 'returned a byte order mark before the secret')
  })

  it('file that you may not read is yours to open, or belongs to another user', async () => {
    if (process.platform === 'win32') return
    const path = await file('closed', 'canary')
    await chmod(path, 0)
    // Root may read everything, and another user may not even look into the folder.
    const isRoot = process.geteuid?.() === 0
    if (isRoot) process.seteuid?.(65_534)
    try {
      const error = await errorOf(secretSource({ file: path }).read())
      expectSourceError(error, 'is not readable by you')
      expect(error.hint).toMatch(isRoot ? /belongs to another user/ : /^chmod u\+r '/)
    } finally {
      if (isRoot) process.seteuid?.(0)
      await chmod(path, 0o600)
    }
  })

  it('file that no one writes to does not hang', async () => {
    const path = join(folder, 'fifo')
    execFileSync('mkfifo', [path])
    expectSourceError(await errorOf(secretSource({ file: path }).read()), 'not a regular file')
  })
})

describe('command', () => {
  it('returns the one line it prints, with its arguments as they are', async () => {
    const secret = secretSource({ command: [...program('console.log(process.argv[1])'), 'a b; $HOME `id` "'] })
    expect(await secret.read()).toBe('a b; $HOME `id` "')
  })

  it('command is started once for all who wait', async () => {
    const path = join(folder, 'count')
    const secret = secretSource({ command: program(`require('fs').appendFileSync(${JSON.stringify(path)}, 'x'); console.log('s')`) })
    expect(await Promise.all([secret.read(), secret.read(), secret.read()])).toEqual(['s', 's', 's'])
    expect(await secretSource({ file: path }).read()).toBe('x')
  })

  it('command has an empty input', async () => {
    expect(await runSecretCommand(program(`process.stdin.on('data', () => {}).on('end', () => console.log('ended'))`), 5000)).toBe('ended')
  })

  it.each([
    ['ends with an error', `console.log('canary'); console.error('canary'); process.exit(1)`, 'exited with code 1'],
    ['ends by a signal', `console.log('canary'); process.kill(process.pid, 'SIGTERM')`, 'was terminated by SIGTERM'],
    ['prints two lines', `console.log('canary'); console.log('canary')`, 'more than one line'],
    ['prints 10 MB', `process.stdout.write('canary'.repeat(2e6))`, 'more than 65536 bytes'],
    ['complains for 10 MB', `process.stderr.write('canary'.repeat(2e6))`, 'more than 65536 bytes'],
    ['prints what is not UTF-8', `process.stdout.write(Buffer.from('canary\\xe9', 'latin1'))`, 'not UTF-8'],
  ])('command that %s is an error that shows nothing of it', async (_name, script, text) => {
    const error = await errorOf(secretSource({ command: program(script) }).read())
    expectSourceError(error, text)
    expect(error.message).toContain(process.execPath)
  })

  it('command that hangs is killed in time, with a child that holds its output', async () => {
    const script = `require('child_process').spawn('sleep', ['60'], { stdio: 'inherit' }); console.log(process.pid); setInterval(() => {}, 1000)`
    expectSourceError(await errorOf(runSecretCommand(program(script), 700)), 'did not exit within 0.7 s')
  })

  it('does not outlive the process that asked it', async () => {
    const path = join(folder, 'alive')
    const script = `setInterval(() => require('fs').appendFileSync(${JSON.stringify(path)}, 'x'), 10); setTimeout(process.exit, 120_000)`
    const source = new URL('../../src/node/credentials/secret-source.ts', import.meta.url).href
    const parent = `
      import { existsSync } from 'node:fs'
      import { runSecretCommand } from ${JSON.stringify(source)}
      void runSecretCommand(${JSON.stringify(program(script))})
      setInterval(() => existsSync(${JSON.stringify(path)}) && process.exit(0), 20)`
    execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', parent], { timeout: 50_000 })
    const grown = async () => {
      const { size } = await stat(path)
      await setTimeout(300)
      return (await stat(path)).size - size
    }
    // Its last write may come after the end of its parent.
    await expect.poll(grown).toBe(0)
  })

  it('command that does not exist is named', async () => {
    expectSourceError(
      await errorOf(secretSource({ command: ['stac-auth-no-such-program'] }).read()),
      'stac-auth-no-such-program was not found',
    )
    const path = await file('not-executable', 'canary')
    await chmod(path, 0o600)
    expectSourceError(await errorOf(secretSource({ command: [path] }).read()), 'cannot be started')
    expectSourceError(await errorOf(secretSource({ command: [''] }).read()), 'cannot be started')
  })

  it('command uses no shell', async () => {
    expectSourceError(await errorOf(secretSource({ command: ['echo secret'] }).read()), 'was not found')
  })
})

describe('keyring', () => {
  it('reports which package it needs', async () => {
    const error = await errorOf(secretSource({ keyring: 'archive' }).read())
    expectSourceError(error, '@napi-rs/keyring')
    expect(error.hint).toBe('npm install @napi-rs/keyring')
  })
})
