import { chmod, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Warning } from '../../src/auth/strategy.ts'
import { tokenFiles } from '../../src/node/tokens/token-files.ts'
import { tokenKeyring } from '../../src/node/tokens/token-keyring.ts'
import { temporaryFolder } from '../cli/folder.ts'
import { canary, leaks, shown } from '../harness/canary.ts'
import { failureOf } from '../harness/failure.ts'
import { doorkeeper, KEY, OTHER_KEY } from '../harness/stores.ts'

const base = await temporaryFolder()
let made = 0
let folder = ''
let path = ''
let warnings: Warning[] = []
beforeEach(() => {
  folder = join(base, `${++made}`)
  path = join(folder, `${KEY}.json`)
  warnings = []
})

/** The package with a store of its own: throws as it does, with what it was given in the message, which a library may do. */
function fakeKeyring() {
  const passwords = new Map<string, string>()
  const state = { locked: false, longest: 1280, loaded: 0, options: [] as unknown[] }
  class AsyncEntry {
    readonly #name: string
    constructor(service: string, account: string, options?: unknown) {
      this.#name = `${service}/${account}`
      state.options.push(options)
    }
    async getPassword(): Promise<string | null> {
      return unlessLocked(passwords.get(this.#name) ?? null, '')
    }
    async setPassword(password: string): Promise<void> {
      if (password.length > state.longest) throw new Error(`Attribute 'password' is longer than the limit: ${password}`)
      passwords.set(unlessLocked(this.#name, password), password)
    }
    async deletePassword(): Promise<boolean> {
      return passwords.delete(unlessLocked(this.#name, ''))
    }
  }
  function unlessLocked<T>(value: T, secret: string): T {
    if (state.locked) throw new Error(`Platform failure: DBus error: no such service ${secret}`)
    return value
  }
  const load = async () => {
    state.loaded++
    return { AsyncEntry }
  }
  const open = () => tokenKeyring({ folder, onWarning: (warning) => warnings.push(warning) }, load)
  return { passwords, state, load, open }
}

const file = async () => JSON.parse(await readFile(path, 'utf8'))
const NAME = `stac-auth tokens/${KEY}`

describe('tokenKeyring', () => {
  it('keeps texts in the keyring, and in files only that it does', async () => {
    const { open, passwords, state } = fakeKeyring()
    const store = open()
    expect(await store.read(KEY)).toBeUndefined()
    expect(state.loaded).toBe(0)
    await store.write(KEY, 'one')
    await store.write(KEY, 'two')
    expect([...passwords]).toEqual([[NAME, 'two']])
    expect(await file()).toEqual({ version: 1, key: KEY, keyring: true })
    expect(await open().read(KEY)).toBe('two')
    expect(await tokenFiles({ folder }).read(KEY)).toBeUndefined()
    await store.remove(KEY)
    expect([passwords.size, await readdir(folder), await open().read(KEY)]).toEqual([0, [], undefined])
    expect(warnings).toEqual([])
    // The kernel's keyring of Linux would forget them at the next logout.
    expect(state.options).toContainEqual({ linux: { store: 'secret-service' } })
  })

  it('keeps them in files while the keyring cannot be used, and warns once', async () => {
    const { open, passwords, state } = fakeKeyring()
    state.locked = true
    const store = open()
    await store.write(KEY, 'one')
    await store.write(KEY, 'two')
    expect(await file()).toEqual({ version: 1, key: KEY, text: 'two' })
    expect([await store.read(KEY), await tokenFiles({ folder }).read(KEY)]).toEqual(['two', 'two'])
    expect(warnings).toEqual([{ code: 'CREDENTIAL_SOURCE', message: expect.stringContaining(`files in ${folder}`) }])
    await store.remove(KEY)
    expect(await readdir(folder)).toEqual([])
    state.locked = false
    await store.write(KEY, 'three')
    expect([...passwords]).toEqual([[NAME, 'three']])
  })

  it('explains how to install the package where it is absent', async () => {
    const store = tokenKeyring({ folder, onWarning: (warning) => warnings.push(warning) })
    await store.write(KEY, 'one')
    expect(await store.read(KEY)).toBe('one')
    expect(warnings).toEqual([{ code: 'CREDENTIAL_SOURCE', message: expect.stringContaining('npm install @napi-rs/keyring') }])
  })

  it('always reads the newest text, wherever the keyring took it', async () => {
    const { open, state } = fakeKeyring()
    const store = open()
    for (const [text, locked] of Object.entries({ one: false, two: true, three: true, four: false, five: true, six: false })) {
      state.locked = locked
      await store.write(KEY, text)
      expect(await open().read(KEY)).toBe(text)
      state.locked = false
      expect(await open().read(KEY)).toBe(text)
    }
    expect(await file()).toEqual({ version: 1, key: KEY, keyring: true })
    await store.write(KEY, 'x'.repeat(2000))
    expect(await open().read(KEY)).toBe('x'.repeat(2000))
    await store.remove(KEY)
    expect(await open().read(KEY)).toBeUndefined()
  })

  it('counts what is in a locked keyring as absent, and reports that', async () => {
    const { open, state } = fakeKeyring()
    await open().write(KEY, 'one')
    state.locked = true
    expect(await open().read(KEY)).toBeUndefined()
    expect(warnings).toEqual([{ code: 'CREDENTIAL_SOURCE', message: expect.stringContaining('are not used') }])
  })

  it('fails to remove what a locked keyring has, but nothing is left in files, and it can be tried again', async () => {
    const { open, passwords, state } = fakeKeyring()
    const store = open()
    await store.write(KEY, 'one')
    state.locked = true
    await store.write(KEY, 'two')
    expect(await failureOf(store.remove(KEY))).toMatchObject({ name: 'CredentialError', code: 'CREDENTIAL_SOURCE' })
    expect(await file()).toEqual({ version: 1, key: KEY, keyring: true })
    state.locked = false
    await store.remove(KEY)
    expect([passwords.size, await readdir(folder)]).toEqual([0, []])
  })

  it('removes from the keyring what no file speaks of any more', async () => {
    const { open, passwords } = fakeKeyring()
    await open().write(KEY, 'one')
    await writeFile(path, 'damaged')
    await open().remove(KEY)
    expect([passwords.size, await readdir(folder)]).toEqual([0, []])
  })

  it('refuses files that others can look into, as files do, and uses them as locks', async () => {
    const { open } = fakeKeyring()
    await open().write(KEY, 'one')
    const { visit, counts } = doorkeeper()
    await Promise.all(Array.from({ length: 6 }, () => open().exclusively(KEY, visit)))
    expect(counts()).toEqual({ most: 1, entered: 6 })
    await chmod(path, 0o644)
    expect(await failureOf(open().read(KEY))).toMatchObject({ code: 'CACHE_UNSAFE' })
  })

  it('shows no secret, not even when the package does', async () => {
    const { open, state } = fakeKeyring()
    const secret = canary('keyring')
    const store = open()
    await store.write(OTHER_KEY, secret.value)
    state.locked = true
    await store.write(OTHER_KEY, 'x'.repeat(2000))
    state.locked = false
    await store.write(OTHER_KEY, secret.value)
    state.locked = true
    const failure = await failureOf(store.remove(OTHER_KEY))
    const names = await readdir(folder)
    const files = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
    expect(leaks([secret], { warnings: shown(warnings), failure: shown(failure), store: shown(store), files: files.join() })).toEqual([])
  })
})
