import { chmod, mkdir, open, readdir, readFile, realpath, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { NetworkError } from '../../src/errors.ts'
import {
  checkFolder,
  headOf,
  makeFolder,
  nameNew,
  presentFile,
  readRegularFile,
  syncFolder,
  writeFileAtomically,
} from '../../src/node/base/files.ts'
import { temporaryFolder } from '../cli/folder.ts'

const base = await realpath(await temporaryFolder())
const modeOf = async (path: string) => (await stat(path)).mode & 0o777

it('makes what is missing, with that mode, and leaves what is there', async () => {
  const folder = join(base, 'a/b/c')
  await Promise.all(Array.from({ length: 10 }, () => makeFolder(folder, 0o700)))
  for (const path of ['a', 'a/b', 'a/b/c']) expect(await modeOf(join(base, path))).toBe(0o700)
  await makeFolder(folder, 0o755)
  expect(await modeOf(folder)).toBe(0o700)
})

it('fails below a file, and where there is no room for folders', async () => {
  await writeFile(join(base, 'file'), '')
  await expect(makeFolder(join(base, 'file/a/b'), 0o700)).rejects.toMatchObject({ code: 'ENOTDIR' })
  if (process.platform === 'linux') await expect(makeFolder('/proc/nowhere/a', 0o700)).rejects.toMatchObject({ code: 'ENOENT' })
})

describe('a regular file', () => {
  const file = join(base, 'ten')
  const pathOf = async (size: number) => {
    await writeFile(file, 'x'.repeat(size))
    return file
  }

  it('is read up to the limit, with its state', async () => {
    const reading = await readRegularFile(await pathOf(10), 10)
    expect('bytes' in reading && [Buffer.from(reading.bytes).toString(), reading.stats.size]).toEqual(['x'.repeat(10), 10])
    expect(await readRegularFile(await pathOf(11), 10)).toEqual({ problem: 'is too large' })
  })

  it('that says it is empty is read up to the limit too', async () => {
    if (process.platform !== 'linux') return
    expect('bytes' in (await readRegularFile('/proc/self/status', 2 ** 16))).toBe(true)
    expect(await readRegularFile('/proc/self/status', 10)).toEqual({ problem: 'is too large' })
  })

  it.each([
    ['missing', 'does not exist'],
    ['ten/below-a-file', 'does not exist'],
    ['.', 'is not a regular file'],
    ['x'.repeat(300), 'cannot be read'],
  ])('is not %s: it %s', async (name, problem) => {
    await pathOf(10)
    expect(await readRegularFile(join(base, name), 10)).toEqual({ problem })
  })

  it('that you may not read says so', async () => {
    if (process.platform === 'win32') return
    const path = await pathOf(10)
    await chmod(path, 0)
    // Root may read everything.
    const isRoot = process.geteuid?.() === 0
    if (isRoot) process.seteuid?.(65_534)
    try {
      expect(await readRegularFile(path, 10)).toEqual({ problem: 'is not readable by you' })
    } finally {
      if (isRoot) process.seteuid?.(0)
      await chmod(path, 0o600)
    }
  })

  it('shows its first bytes, at most those that were asked for', async () => {
    await writeFile(join(base, 'head'), 'abcdef')
    expect(Buffer.from(headOf(join(base, 'head'), 4)).toString()).toBe('abcd')
    expect(Buffer.from(headOf(join(base, 'head'), 40)).toString()).toBe('abcdef')
    expect(() => headOf(join(base, 'missing'), 4)).toThrow(expect.objectContaining({ code: 'FILE_ACCESS' }))
    await symlink(join(base, 'head'), join(base, 'link-to-head'))
    if (process.platform !== 'win32')
      expect(() => headOf(join(base, 'link-to-head'), 4)).toThrow(expect.objectContaining({ code: 'FILE_ACCESS' }))
  })

  it('is there, or missing, or something else that is refused', async () => {
    await writeFile(join(base, 'present'), 'abc')
    await symlink(join(base, 'present'), join(base, 'link-to-present'))
    expect(presentFile(join(base, 'present'))?.size).toBe(3)
    expect(presentFile(join(base, 'absent'))).toBeUndefined()
    for (const name of ['link-to-present', '.'])
      expect(() => presentFile(join(base, name))).toThrow(expect.objectContaining({ code: 'PATH_UNSAFE' }))
    expect(() => presentFile(join(base, 'x'.repeat(300)))).toThrow(
      expect.objectContaining({ code: 'FILE_ACCESS', message: expect.stringContaining('xxx"') }),
    )
  })
})

it('refuses a folder that has become a link, or is gone', async () => {
  await mkdir(join(base, 'real'))
  await symlink(join(base, 'real'), join(base, 'link'))
  expect(() => checkFolder(join(base, 'real', 'f'))).not.toThrow()
  expect(() => checkFolder(join(base, 'link', 'f'))).toThrow(expect.objectContaining({ code: 'PATH_UNSAFE' }))
  expect(() => checkFolder(join(base, 'gone', 'f'))).toThrow(
    expect.objectContaining({ code: 'FILE_ACCESS', message: expect.stringContaining('gone"') }),
  )
})

it('makes nothing where something other than a parent is the reason', async () => {
  await expect(makeFolder(join(base, 'x'.repeat(300), 'a'), 0o700)).rejects.toMatchObject({ code: 'ENAMETOOLONG' })
})

describe('an atomic write', () => {
  const part = async (name: string) => {
    const path = join(base, `${name}.part`)
    return { path, file: await open(path, 'wx') }
  }

  it('writes, syncs, closes, confirms and renames, in that order', async () => {
    const opened = await part('ordered')
    const steps: string[] = []
    const { file } = opened
    const real = { sync: file.sync.bind(file), close: file.close.bind(file) }
    file.sync = async () => {
      steps.push('sync')
      await real.sync()
    }
    file.close = async () => {
      steps.push('close')
      await real.close()
    }
    const write = async () => {
      steps.push('write')
      await file.writeFile('abc')
    }
    const confirm = async () => void steps.push('confirm')
    await writeFileAtomically(opened, join(base, 'ordered'), { write, confirm })
    expect(steps).toEqual(['write', 'sync', 'close', 'confirm'])
    expect(await readFile(join(base, 'ordered'), 'utf8')).toBe('abc')
    expect(presentFile(opened.path)).toBeUndefined()
  })

  it('leaves the target and closes the part when it fails, and names the file', async () => {
    const target = join(base, 'kept')
    await writeFile(target, 'old')
    const own = new NetworkError('NETWORK_FAILED', 'the source ended')
    const failing = await part('kept')
    await expect(writeFileAtomically(failing, target, { write: async () => Promise.reject(own) })).rejects.toBe(own)
    expect(failing.file.fd).toBe(-1)
    const refused = await part('kept-2')
    await expect(
      writeFileAtomically(refused, target, { write: (to) => to.writeFile('x'), confirm: () => Promise.reject(own) }),
    ).rejects.toBe(own)
    const misplaced = await part('kept-3')
    const place = async () => Promise.reject(Object.assign(new Error('no'), { code: 'EACCES' }))
    await expect(writeFileAtomically(misplaced, target, { write: async () => {}, place }, 'shown.json')).rejects.toMatchObject({
      code: 'FILE_ACCESS',
      message: expect.stringContaining('"shown.json"'),
    })
    const full = await part('kept-4')
    full.file.sync = async () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }))
    await expect(writeFileAtomically(full, target, { write: async () => {} })).rejects.toMatchObject({ code: 'DISK_FULL' })
    expect(await readFile(target, 'utf8')).toBe('old')
  })

  it('syncs a folder where the system can, and says nothing where it cannot', async () => {
    await expect(syncFolder(base)).resolves.toBeUndefined()
    await expect(syncFolder(join(base, 'missing-folder'))).resolves.toBeUndefined()
  })
})

it('moves a part to a name that is free, and leaves it where the name is taken', async () => {
  const [part, name] = [join(base, 'moved.part'), join(base, 'moved')]
  await writeFile(part, 'first')
  expect(nameNew(part, name)).toBe(true)
  expect(presentFile(part)).toBeUndefined()
  await writeFile(part, 'second')
  expect(nameNew(part, name)).toBe(false)
  expect([await readFile(part, 'utf8'), await readFile(name, 'utf8')]).toEqual(['second', 'first'])
})

it('leaves no file open', async () => {
  if (process.platform !== 'linux') return
  await writeFile(join(base, 'opened'), 'abc')
  const before = (await readdir('/proc/self/fd')).length
  for (let round = 0; round < 50; round++) {
    await readRegularFile(join(base, 'opened'), 10)
    await readRegularFile(join(base, 'opened'), 1)
    headOf(join(base, 'opened'), 2)
    await syncFolder(base)
  }
  expect((await readdir('/proc/self/fd')).length).toBeLessThan(before + 40)
})
