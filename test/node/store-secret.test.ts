import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { loadKeyring } from '../../src/node/credentials/keyring.ts'
import { secretSource } from '../../src/node/credentials/secret-source.ts'
import { isStored, removeStoredSecret, replaceSecret, storeSecret } from '../../src/node/credentials/store-secret.ts'
import { temporaryFolder } from '../cli/folder.ts'
import { failureOf } from '../harness/failure.ts'

const folder = await temporaryFolder()
let users = 0
const newUser = () => ({ XDG_CONFIG_HOME: join(folder, String(++users)) })
const secretsOf = (env: { XDG_CONFIG_HOME: string }) => join(env.XDG_CONFIG_HOME, 'stac-auth/secrets')

/** A keyring in memory; `forgets` drops what is stored, `locked` throws. */
function keyring(habit?: 'forgets' | 'locked') {
  const kept = new Map<string, string>()
  class AsyncEntry {
    readonly #key: string
    constructor(service: string, account: string) {
      this.#key = `${service} ${account}`
    }
    async getPassword() {
      if (habit === 'locked') throw new Error('locked: s3cr3t')
      return kept.get(this.#key) ?? null
    }
    async setPassword(secret: string) {
      if (habit !== 'forgets') kept.set(this.#key, secret)
    }
    async deletePassword() {
      if (habit === 'locked') throw new Error('locked: s3cr3t')
      return kept.delete(this.#key)
    }
  }
  const load: typeof loadKeyring = async () => ({ AsyncEntry })
  return { kept, load }
}

describe('a typed secret', () => {
  it('is kept in the keyring, under the name that the source reads', async () => {
    const { kept, load } = keyring()
    const env = newUser()
    const stored = await storeSecret('portal.value', 's3cr3t', env, load)
    expect([stored.source, stored.path]).toEqual([{ keyring: 'portal.value' }, undefined])
    expect(await secretSource(stored.source, { load }).read()).toBe('s3cr3t')
    expect([...kept]).toEqual([['stac-auth portal.value', 's3cr3t']])
    await expect(readdir(env.XDG_CONFIG_HOME)).rejects.toMatchObject({ code: 'ENOENT' })
    expect((await storeSecret('portal.value', 'other', env, load)).source).toEqual({ keyring: 'portal.value-2' })
    await replaceSecret({ keyring: 'portal.value' }, 'newer', load)
    expect(kept.get('stac-auth portal.value')).toBe('newer')
    await stored.remove()
    expect(kept.has('stac-auth portal.value')).toBe(false)
  })

  it('is removed from the keyring, also a second time, and the keyring that refuses is named', async () => {
    const { kept, load } = keyring()
    await storeSecret('portal.value', 's3cr3t', newUser(), load)
    await removeStoredSecret({ keyring: 'portal.value' }, load)
    await removeStoredSecret({ keyring: 'portal.value' }, load)
    expect(kept.size).toBe(0)
    const failure = await failureOf(removeStoredSecret({ keyring: 'portal.value' }, keyring('locked').load))
    expect(failure).toMatchObject({ code: 'CREDENTIAL_SOURCE', message: expect.stringContaining('"portal.value"') })
    expect(failure.message).not.toContain('s3cr3t')
  })

  it.each(['forgets', 'locked', undefined] as const)('is kept in a private file where the keyring cannot (%s)', async (habit) => {
    const env = newUser()
    const none: typeof loadKeyring = () => Promise.reject(new Error('not installed'))
    const stored = await storeSecret('portal.value', 's3cr3t', env, habit ? keyring(habit).load : none)
    expect(stored).toMatchObject({ path: join(secretsOf(env), 'portal.value'), source: { file: join(secretsOf(env), 'portal.value') } })
    expect((await stat(stored.path ?? '')).mode & 0o777).toBe(0o600)
    expect((await stat(secretsOf(env))).mode & 0o777).toBe(0o700)
    expect(await secretSource(stored.source).read()).toBe('s3cr3t')
    await stored.remove()
    expect(await readdir(secretsOf(env))).toEqual([])
  })

  it('says how to use another folder where it cannot be written', async () => {
    const env = newUser()
    await writeFile(env.XDG_CONFIG_HOME, '')
    await expect(storeSecret('a', 's3cr3t', env, keyring('locked').load)).rejects.toMatchObject({
      code: 'FILE_ACCESS',
      hint: expect.stringContaining('set XDG_CONFIG_HOME to'),
    })
  })

  it('replaces no file that is there, and follows no link', async () => {
    const env = newUser()
    await mkdir(secretsOf(env), { recursive: true, mode: 0o700 })
    await writeFile(join(folder, 'elsewhere'), 'mine')
    await symlink(join(folder, 'elsewhere'), join(secretsOf(env), 'a'))
    await writeFile(join(secretsOf(env), 'a-2'), 'mine, too')
    const { load } = keyring('locked')
    expect((await storeSecret('a', 's3cr3t', env, load)).path).toBe(join(secretsOf(env), 'a-3'))
    expect(await readFile(join(folder, 'elsewhere'), 'utf8')).toBe('mine')
    expect(await readFile(join(secretsOf(env), 'a-2'), 'utf8')).toBe('mine, too')
  })

  it('can be replaced in the keyring and in the folder of secrets, and nowhere else', async () => {
    const env = newUser()
    const { source } = await storeSecret('a', 's3cr3t', env, keyring('locked').load)
    expect(
      [source, { keyring: 'a' }, { file: '/etc/secret' }, { env: 'A' }, { command: ['a'] }, 'text', undefined].map((one) =>
        isStored(one, env),
      ),
    ).toEqual([...[true, true], ...[false, false, false, false, false]])
    if (isStored(source, env)) await replaceSecret(source, 'newer')
    expect(await secretSource(source).read()).toBe('newer')
    expect((await stat(join(secretsOf(env), 'a'))).mode & 0o777).toBe(0o600)
    await expect(replaceSecret({ keyring: 'a' }, 's3cr3t', () => Promise.reject(new Error('x')))).rejects.toThrow()
  })
})
