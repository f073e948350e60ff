import { execFileSync } from 'node:child_process'
import { chmod, lstat, mkdir, readdir, readFile, rm, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { withMemoryFallback } from '../../src/auth/session.ts'
import type { Warning } from '../../src/auth/strategy.ts'
import { folderVariables } from '../../src/node/base/user-folder.ts'
import { defaultTokenFolder, nowhere, tokenFiles } from '../../src/node/tokens/token-files.ts'
import { temporaryFolder } from '../cli/folder.ts'
import { canary, leaks, shown } from '../harness/canary.ts'
import { failureOf } from '../harness/failure.ts'
import { KEY, OTHER_KEY } from '../harness/stores.ts'

const base = await temporaryFolder()
let made = 0
let folder = ''
let path = ''
beforeEach(() => {
  folder = join(base, `${++made}`, 'stac-auth', 'tokens')
  path = join(folder, `${KEY}.json`)
})

const modeOf = async (name: string) => ((await stat(name)).mode & 0o777).toString(8)
const envelope = (members: object) => JSON.stringify({ version: 1, key: KEY, text: 'believed', ...members })

/** A store whose folder holds that file already. */
async function storeWith(content: string | Uint8Array, mode = 0o600) {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(path, content, { mode })
  await chmod(path, mode)
  return tokenFiles({ folder })
}

describe('tokenFiles', () => {
  it('knows the names of its options', () => {
    const misspelt = { foldr: '/nowhere' } as object
    expect(() => tokenFiles(misspelt)).toThrow(/tokenFiles.*"foldr"/s)
  })

  it('reserves the space of a token before it is requested', async () => {
    const store = tokenFiles({ folder })
    await store.exclusively(KEY, async () => {
      await store.reserve?.(KEY, 1000)
      const names = await readdir(folder)
      const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size))
      expect(Math.max(...sizes)).toBeGreaterThanOrEqual(1000)
      await store.write(KEY, 'short')
    })
    expect(await store.read(KEY)).toBe('short')
    expect(await readdir(folder)).toEqual([`${KEY}.json`])
  })

  it('touches nothing before it is used, and makes nothing to find nothing', async () => {
    const store = tokenFiles({ folder })
    expect(await store.read(KEY)).toBeUndefined()
    await store.remove(KEY)
    await expect(lstat(folder)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('keeps one file per key that only its owner can touch, in a folder of that kind', async () => {
    const before = process.umask(0)
    try {
      await tokenFiles({ folder }).write(KEY, 'grün "one"\n')
      await tokenFiles({ folder }).write(OTHER_KEY, 'other')
    } finally {
      process.umask(before)
    }
    expect(await tokenFiles({ folder }).read(KEY)).toBe('grün "one"\n')
    expect((await readdir(folder)).sort()).toEqual([`${KEY}.json`, `${OTHER_KEY}.json`])
    expect([await modeOf(folder), await modeOf(join(folder, '..')), await modeOf(path)]).toEqual(['700', '700', '600'])
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ version: 1, key: KEY, text: 'grün "one"\n' })
  })

  it('replaces a file by another one, so that a reader has the old or the new one whole', async () => {
    const store = tokenFiles({ folder })
    await store.write(KEY, 'one')
    const { ino } = await stat(path)
    await store.write(KEY, 'two')
    expect((await stat(path)).ino).not.toBe(ino)
    let writing = true
    const writes = Promise.all(['a', 'b'].map(async (letter) => store.write(KEY, letter.repeat(200_000)))).finally(() => (writing = false))
    while (writing) expect(await store.read(KEY)).toMatch(/^(?:two|a{200000}|b{200000})$/)
    await writes
    expect(await readdir(folder)).toEqual([`${KEY}.json`])
  })

  it('overwrites what it removes, and takes everything of that key with it', async () => {
    const store = tokenFiles({ folder })
    await store.write(KEY, 'secret '.repeat(20_000))
    await store.write(OTHER_KEY, 'other')
    await writeFile(join(folder, `${KEY}.0123.corrupt`), 'damaged secret')
    // A second name shows what became of the bytes.
    const trace = join(base, `trace-${made}`)
    execFileSync('ln', [path, trace])
    await store.remove(KEY)
    expect(await readdir(folder)).toEqual([`${OTHER_KEY}.json`])
    expect((await readFile(trace)).every((byte) => byte === 0)).toBe(true)
    expect((await stat(trace)).size).toBeGreaterThan(140_000)
    expect([await store.read(KEY), await store.read(OTHER_KEY)]).toEqual([undefined, 'other'])
  })

  it('sweeps away what a killed process left long ago, not what another one is writing', async () => {
    const store = await storeWith(envelope({}))
    for (const name of [`${KEY}.old.tmp`, `${KEY}.lock.0123`, `${KEY}.new.tmp`]) await writeFile(join(folder, name), 'secret')
    for (const name of [`${KEY}.old.tmp.bak`, `${OTHER_KEY}.old.tmp`]) await writeFile(join(folder, name), 'of somebody else')
    const old = [`${KEY}.old.tmp`, `${KEY}.lock.0123`, `${KEY}.old.tmp.bak`, `${OTHER_KEY}.old.tmp`]
    for (const name of old) await utimes(join(folder, name), 0, 0)
    await store.write(KEY, 'one')
    expect((await readdir(folder)).sort()).toEqual([`${KEY}.json`, `${KEY}.new.tmp`, `${KEY}.old.tmp.bak`, `${OTHER_KEY}.old.tmp`])
  })

  it('takes no key that could be a path', async () => {
    const store = tokenFiles({ folder })
    for (const key of ['', '../../x', KEY.toUpperCase(), `${KEY}0`, `${KEY}\n`]) {
      await expect(store.write(key, 'x')).rejects.toThrow(TypeError)
      await expect(store.read(key)).rejects.toThrow(TypeError)
      await expect(store.remove(key)).rejects.toThrow(TypeError)
      await expect(store.exclusively(key, async () => {})).rejects.toThrow(TypeError)
    }
  })

  it('keeps no more than it will read', async () => {
    const store = tokenFiles({ folder })
    await store.write(KEY, '')
    const room = 1_048_576 - (await stat(path)).size
    await store.write(KEY, 'x'.repeat(room))
    expect(await store.read(KEY)).toHaveLength(room)
    await expect(store.write(KEY, 'x'.repeat(room + 1))).rejects.toMatchObject({ code: 'CACHE_UNSAFE' })
    expect(await store.read(KEY)).toHaveLength(room)
  })
})

describe('where others could have had a hand in', () => {
  /** Reads; the hint is followed as a user would; then it must work, or be absent. */
  async function refused(text: string, after: string | undefined, store = tokenFiles({ folder })) {
    const error = await failureOf(store.read(KEY))
    expect(error).toMatchObject({ name: 'IntegrityError', code: 'CACHE_UNSAFE', message: expect.stringContaining(text) })
    expect(shown(error)).not.toContain('believed')
    execFileSync('sh', ['-c', (error as Error & { hint: string }).hint])
    expect(await store.read(KEY)).toBe(after)
  }

  it.each([0o644, 0o640, 0o606, 0o660, 0o610])('a file with mode %o is refused until it is repaired', async (mode) => {
    await refused('is accessible to other users', 'believed', await storeWith(envelope({}), mode))
  })

  it.each([0o755, 0o770, 0o701])('a folder with mode %o is refused until it is repaired', async (mode) => {
    const store = await storeWith(envelope({}))
    await chmod(folder, mode)
    for (const work of [() => store.write(KEY, 'x'), () => store.remove(KEY), () => store.exclusively(KEY, async () => {})])
      await expect(work()).rejects.toMatchObject({ code: 'CACHE_UNSAFE' })
    await refused('is accessible to other users', 'believed', store)
  })

  it('a file or folder of another user is refused', async () => {
    const store = await storeWith(envelope({}))
    const { uid } = await stat(folder)
    const geteuid = vi.spyOn(process, 'geteuid').mockReturnValue(uid + 1)
    const folderError = await failureOf(store.read(KEY))
    // The folder is ours, the file is not.
    geteuid.mockReturnValueOnce(uid)
    const fileError = await failureOf(store.read(KEY)).finally(() => geteuid.mockRestore())
    const message = (name: string) => `"${name}" belongs to another user: its content is not used`
    expect(folderError).toMatchObject({ code: 'CACHE_UNSAFE', message: message(folder), hint: `mv '${folder}' '${folder}.old'` })
    expect(fileError).toMatchObject({ code: 'CACHE_UNSAFE', message: message(path), hint: `rm -f '${path}'` })
  })

  it('a link is refused, wherever it points, and written over without following it', async () => {
    const store = await storeWith('')
    const elsewhere = join(base, 'elsewhere')
    await writeFile(elsewhere, envelope({}), { mode: 0o600 })
    for (const target of [elsewhere, join(base, 'nowhere')]) {
      await rm(path)
      await symlink(target, path)
      await expect(store.read(KEY)).rejects.toMatchObject({ code: 'CACHE_UNSAFE', message: expect.stringContaining('is a link') })
    }
    await rm(path)
    await symlink(elsewhere, path)
    await store.write(KEY, 'new')
    expect([await store.read(KEY), (await lstat(path)).isFile()]).toEqual(['new', true])
    await rm(path)
    await symlink(elsewhere, path)
    await store.remove(KEY)
    expect(await readFile(elsewhere, 'utf8')).toBe(envelope({}))
    await symlink(elsewhere, path)
    await refused('is a link', undefined, store)
  })

  it('a link in place of the folder is refused', async () => {
    await storeWith(envelope({}))
    const link = join(base, `link-${made}`)
    await symlink(folder, link)
    await expect(tokenFiles({ folder: link }).read(KEY)).rejects.toMatchObject({ code: 'CACHE_UNSAFE' })
  })

  it('a folder, a pipe and a file of 100 MB are refused at once', async () => {
    const store = await storeWith('')
    await rm(path)
    await mkdir(join(path, 'inner'), { recursive: true })
    await expect(store.write(KEY, 'x')).rejects.toMatchObject({ code: 'CACHE_UNSAFE' })
    await expect(store.remove(KEY)).rejects.toMatchObject({ code: 'CACHE_UNSAFE' })
    await refused('is a folder', undefined, store)
    execFileSync('mkfifo', ['-m', '600', path])
    await refused('is a special file', undefined, store)
    await storeWith(envelope({}))
    await truncate(path, 100_000_000)
    await refused('is longer than 1048576 bytes', undefined, store)
  })
})

describe('a damaged file', () => {
  const good = envelope({})
  it.each([
    ['cut', good.slice(0, -5)],
    ['empty', ''],
    ['of NULs', Buffer.alloc(500)],
    ['with a byte order mark', `\ufeff${good}`],
    ['with NULs', good.replace('believed', 'bel\0eved')],
    ['not UTF-8', Buffer.from(good.replace('believed', 'gr\xfcn'), 'latin1')],
    ['of a later version', envelope({ version: 2 })],
    ['without a version', envelope({ version: undefined })],
    ['for another key', envelope({ key: OTHER_KEY })],
    ['without a text', envelope({ text: undefined })],
    ['with something else as text', envelope({ text: { access_token: 'x' } })],
    ['with an odd mark', envelope({ keyring: 'yes' })],
    ['a list', '[]'],
    ['null', 'null'],
  ])('%s counts as absent and is set aside whole', async (_name, content) => {
    const store = await storeWith(content)
    expect(await store.read(KEY)).toBeUndefined()
    const [aside = '', ...more] = await readdir(folder)
    expect([aside, ...more]).toEqual([expect.stringMatching(new RegExp(`^${KEY}\\.[0-9a-f]{16}\\.corrupt$`))])
    expect(await readFile(join(folder, aside))).toEqual(Buffer.from(content))
    await store.write(KEY, 'new')
    expect(await store.read(KEY)).toBe('new')
  })
})

describe('a folder that cannot be had', () => {
  it('a folder that cannot be had is memory, with one warning', async () => {
    const warnings: Warning[] = []
    const file = join(base, 'a-file')
    await writeFile(file, '')
    const store = tokenFiles({ folder: join(file, 'tokens'), onWarning: (warning) => warnings.push(warning) })
    const secret = canary('memory-only')
    const token = await store.exclusively(KEY, async () => {
      await store.write(KEY, secret.value)
      return store.read(KEY)
    })
    expect(token).toBe(secret.value)
    await store.write(OTHER_KEY, 'x')
    expect(warnings).toEqual([{ code: 'CACHE_MEMORY_ONLY', message: expect.stringContaining(`"${join(file, 'tokens')}"`) }])
    expect(leaks([secret], { warnings: shown(warnings), store: shown(store) })).toEqual([])
  })
})

describe('a user without a folder for caches', () => {
  it('keeps tokens in memory, with one warning that names the variables', async () => {
    const warnings: Warning[] = []
    const store = withMemoryFallback(nowhere(), (warning) => void warnings.push(warning))
    await store.exclusively(KEY, () => store.write(KEY, 'one'))
    expect([await store.read(KEY), warnings.length]).toEqual(['one', 1])
    expect(warnings[0]?.message).toContain(folderVariables('cache'))
    await store.remove(KEY)
    expect(await store.read(KEY)).toBeUndefined()
  })
})

describe('defaultTokenFolder', () => {
  it("defaultTokenFolder is in the user's folder for caches", () => {
    expect(defaultTokenFolder({ XDG_CACHE_HOME: '/c' }, 'linux')).toBe('/c/stac-auth/tokens')
    for (const env of [{}, { XDG_CACHE_HOME: '' }, { XDG_CACHE_HOME: 'relative' }])
      expect(defaultTokenFolder({ HOME: '/h', ...env }, 'linux')).toBe('/h/.cache/stac-auth/tokens')
    expect(defaultTokenFolder({ LOCALAPPDATA: 'C:\\l', XDG_CACHE_HOME: '/c' }, 'win32')).toBe('C:\\l\\stac-auth\\tokens')
  })
})
