import { spawnSync } from 'node:child_process'
import { linkSync, renameSync } from 'node:fs'
import { chmod, type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { newHolder } from '../../src/node/base/lock-holder.ts'
import { localFiles, newPath, replaceFile, seenFile, writeNewFile } from '../../src/node/base/write-file.ts'
import { put, temporaryFolder } from '../cli/folder.ts'

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>()
  return { ...real, linkSync: vi.fn(real.linkSync), renameSync: vi.fn(real.renameSync) }
})
const files = await vi.importActual<typeof import('node:fs')>('node:fs')
afterEach(() => {
  vi.mocked(linkSync).mockReset().mockImplementation(files.linkSync)
  vi.mocked(renameSync).mockReset().mockImplementation(files.renameSync)
})
const failing = (code: string) => () => {
  throw Object.assign(new Error('not now'), { code })
}

const folder = await temporaryFolder()
afterEach(async () => {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true })
})
const data = async () => chunksOf('abc', 'def')

async function* chunksOf(...texts: string[]) {
  for (const text of texts) yield new TextEncoder().encode(text)
}

const never = async () => {
  throw new Error('the source was asked')
}

describe('writeNewFile', () => {
  it('writes all chunks and leaves no partial file', async () => {
    const path = join(folder, 'new.bin')
    await writeNewFile(path, data)
    expect(await readFile(path, 'utf8')).toBe('abcdef')
    expect(await readdir(folder)).toEqual(['new.bin'])
  })

  it('creates files as other programs do, for all whom the umask allows', async () => {
    const umask = process.umask(0o022)
    onTestFinished(() => void process.umask(umask))
    const [one, other] = [join(folder, 'shared.bin'), join(folder, 'shared.json')]
    await writeNewFile(one, data)
    await replaceFile(other, 'new', undefined)
    for (const path of [one, other]) expect((await stat(path)).mode & 0o777).toBe(0o644)
  })

  it('refuses what is there already before anything is requested', async () => {
    await put(folder, 'old.bin', 'old')
    await symlink(join(folder, 'nowhere'), join(folder, 'dangling'))
    await mkdir(join(folder, 'sub'))
    const codes = { 'old.bin': 'PATH_EXISTS', dangling: 'PATH_UNSAFE', sub: 'PATH_UNSAFE', 'missing/x': 'FILE_ACCESS' }
    for (const [name, code] of Object.entries(codes)) {
      await expect(writeNewFile(join(folder, name), never)).rejects.toMatchObject({ code, message: expect.stringContaining(`${name}"`) })
    }
    for (const name of ['fresh/', 'sub/'])
      await expect(writeNewFile(`${folder}/${name}`, never)).rejects.toMatchObject({
        code: 'PATH_UNSAFE',
        hint: 'add a file name to it',
      })
    await expect(writeNewFile('/dev/null', never, true)).rejects.toMatchObject({
      code: 'PATH_UNSAFE',
      hint: 'choose another name, or redirect stdout to it: > /dev/null',
    })
    for (const name of ['dangling', 'sub'])
      await expect(writeNewFile(join(folder, name), never, true)).rejects.toMatchObject({
        code: 'PATH_UNSAFE',
        hint: 'choose another name',
      })
    await expect(writeNewFile('..', never)).rejects.toMatchObject({ code: 'PATH_UNSAFE' })
    expect(await readFile(join(folder, 'old.bin'), 'utf8')).toBe('old')
  })

  it('leaves a partial file of someone else unchanged', async () => {
    const part = await put(folder, 'busy.bin.part', 'theirs')
    await expect(writeNewFile(join(folder, 'busy.bin'), never)).rejects.toMatchObject({ code: 'PATH_BUSY' })
    expect(await readFile(part, 'utf8')).toBe('theirs')
  })

  it('takes over what a process has left that is gone, or on another host for longer than its lease', async () => {
    const ended = { id: '1'.repeat(16), pid: spawnSync('true').pid, started: '1', place: (await newHolder()).place }
    for (const [name, holder, secondsAgo] of [
      ['gone.bin', ended, 0],
      ['far.bin', { ...ended, place: 'another host' }, 61],
      ['lock-alone.bin', ended, 0],
    ] as const) {
      const path = join(folder, name)
      if (name !== 'lock-alone.bin') await put(folder, `${name}.part`, 'half of it')
      await writeFile(`${path}.part.lock`, JSON.stringify(holder), { mode: 0o600 })
      await utimes(`${path}.part.lock`, Date.now() / 1000 - secondsAgo, Date.now() / 1000 - secondsAgo)
      await writeNewFile(path, data)
      expect(await readFile(path, 'utf8')).toBe('abcdef')
      expect((await readdir(folder)).filter((there) => there.startsWith(name))).toEqual([name])
    }
  })

  it('takes over nothing of a process that lives, nor what a download can resume', async () => {
    const path = join(folder, 'held.bin')
    const seen = writeNewFile(path, async () => {
      await expect(writeNewFile(path, never)).rejects.toMatchObject({ code: 'PATH_BUSY' })
      return data()
    })
    await seen
    expect(await readFile(path, 'utf8')).toBe('abcdef')
    const resumable = await put(folder, 'download.bin.part', 'half of it')
    await put(folder, 'download.bin.part.json', '{}')
    const ended = { id: '1'.repeat(16), pid: spawnSync('true').pid, started: '1', place: (await newHolder()).place }
    await writeFile(`${resumable}.lock`, JSON.stringify(ended), { mode: 0o600 })
    await expect(writeNewFile(join(folder, 'download.bin'), never)).rejects.toMatchObject({ code: 'PATH_BUSY' })
    expect(await readFile(resumable, 'utf8')).toBe('half of it')
  })

  it('removes what it wrote when the source fails, and passes the failure on', async () => {
    const cut = async function* () {
      yield new Uint8Array(3)
      throw new Error('cut')
    }
    await expect(writeNewFile(join(folder, 'cut.bin'), async () => cut())).rejects.toThrow('cut')
    expect(await readdir(folder)).not.toContain('cut.bin')
    expect(await readdir(folder)).not.toContain('cut.bin.part')
  })
})

describe('a file that appears while another is written', () => {
  const appearing = (path: string) => async () => {
    await put(folder, basename(path), 'theirs')
    return chunksOf('ours')
  }

  const codes = [undefined, 'EPERM', 'ENOTSUP', 'EINVAL']

  it.each(codes.map((code) => ({ what: code ? `where there are none (${code})` : 'with links', code })))(
    'keeps its name, $what',
    async ({ what, code }) => {
      if (code) vi.mocked(linkSync).mockImplementation(failing(code))
      const path = join(folder, `${what}.bin`)
      await expect(writeNewFile(path, appearing(path))).rejects.toMatchObject({ code: 'PATH_EXISTS' })
      expect(await readFile(path, 'utf8')).toBe('theirs')
      await writeNewFile(`${path}.2`, data)
      expect(await readFile(`${path}.2`, 'utf8')).toBe('abcdef')
      await writeNewFile(path, data, true)
      expect(await readFile(path, 'utf8')).toBe('abcdef')
      expect((await readdir(folder)).filter((name) => name.startsWith(what))).toEqual([`${what}.bin`, `${what}.bin.2`])
    },
  )

  it('keeps its name also when it is gone again at once', async () => {
    vi.mocked(linkSync).mockImplementation(failing('EEXIST'))
    await expect(writeNewFile(join(folder, 'brief.bin'), data)).rejects.toMatchObject({ code: 'PATH_EXISTS' })
  })

  it('a file that appears while another is written is no reason to hide other failures', async () => {
    for (const name of [linkSync, renameSync]) vi.mocked(name).mockImplementation(failing('ENOSPC'))
    await expect(writeNewFile(join(folder, 'full.bin'), data)).rejects.toMatchObject({ code: 'DISK_FULL' })
    expect((await readdir(folder)).filter((name) => name.startsWith('full'))).toEqual([])
  })
})

describe('replaceFile', () => {
  it('replaces the content and keeps the mode', async () => {
    const path = await put(folder, 'replaced.json', 'old')
    await replaceFile(path, 'new', await seenFile(path))
    expect([await readFile(path, 'utf8'), (await stat(path)).mode & 0o777]).toEqual(['new', 0o600])
    expect(await readdir(folder)).not.toContain('replaced.json.part')
    await chmod(path, 0o755)
    await replaceFile(path, '#!/bin/sh', await seenFile(path))
    expect((await stat(path)).mode & 0o777).toBe(0o755)
  })

  it('creates a file that was missing, and one that has appeared meanwhile stays', async () => {
    const path = join(folder, 'created.json')
    expect(await seenFile(path)).toBeUndefined()
    await replaceFile(path, 'new', undefined)
    expect(await readFile(path, 'utf8')).toBe('new')
    await expect(replaceFile(path, 'newer', undefined)).rejects.toMatchObject({ code: 'FILE_CHANGED' })
    expect(await readFile(path, 'utf8')).toBe('new')
  })

  const at = (path: string) => utimes(path, 1000, 1000)

  it.each<[string, (path: string) => Promise<unknown>]>([
    ['longer', (path) => writeFile(path, 'longer', { flag: 'a' }).then(() => at(path))],
    ['newer', (path) => utimes(path, 1000, 2000)],
    [
      'another file',
      async (path) => {
        // The number of a removed file may be given to the next one.
        await rename(path, `${path}.old`)
        await writeFile(path, 'old')
        await at(path)
      },
    ],
    ['gone', (path) => rm(path)],
  ])('leaves a file that is %s than before as it is', async (_, change) => {
    const path = await put(folder, 'changing.json', 'old')
    await at(path)
    const seen = await seenFile(path)
    await change(path)
    const before = await readFile(path, 'utf8').catch(() => undefined)
    await expect(replaceFile(path, 'new', seen)).rejects.toMatchObject({ code: 'FILE_CHANGED' })
    expect(await readFile(path, 'utf8').catch(() => undefined)).toBe(before)
  })

  it('names the file, not its lock, when the folder does not exist', async () => {
    const path = join(folder, 'none', 'known.json')
    await expect(replaceFile(path, 'new', undefined)).rejects.toMatchObject({
      code: 'FILE_ACCESS',
      message: `cannot write "${path}": no such file or folder`,
    })
  })

  it('never writes through a link, nor over a folder', async () => {
    const path = await put(folder, 'aim.json', 'old')
    const way = join(folder, 'way.json')
    await symlink(path, way)
    await mkdir(join(folder, 'sub'))
    expect(await seenFile(way)).toBeUndefined()
    for (const name of [way, join(folder, 'sub')]) {
      await expect(replaceFile(name, 'new', undefined)).rejects.toMatchObject({ code: 'PATH_UNSAFE' })
      await expect(replaceFile(name, 'new', await seenFile(path))).rejects.toMatchObject({ code: 'PATH_UNSAFE' })
    }
    expect(await readFile(path, 'utf8')).toBe('old')
  })

  it('is refused while something else has the path of its lock', async () => {
    const path = await put(folder, 'held.json', 'old')
    await mkdir(`${path}.part.lock`)
    await expect(replaceFile(path, 'new', await seenFile(path))).rejects.toMatchObject({
      code: 'PATH_BUSY',
      hint: expect.stringContaining('held.json.part.lock'),
    })
    await expect(replaceFile(join(folder, 'missing/x'), 'new', undefined)).rejects.toMatchObject({
      code: 'FILE_ACCESS',
      hint: 'create its folder first',
    })
    expect(await readFile(path, 'utf8')).toBe('old')
  })
})

it('gives nothing its name when the lock was lost meanwhile, and leaves the part of the one who has it', async () => {
  const path = join(folder, 'lost.bin')
  const losing = async () => {
    await rm(`${path}.part.lock`, { recursive: true })
    await rm(`${path}.part`)
    await writeFile(`${path}.part`, 'theirs')
    return chunksOf('abc')
  }
  await expect(writeNewFile(path, losing)).rejects.toMatchObject({ code: 'PATH_BUSY', message: expect.stringContaining('lost.bin"') })
  expect(await readdir(folder)).toEqual(['lost.bin.part'])
  expect(await readFile(`${path}.part`, 'utf8')).toBe('theirs')
})

it('leaves no lock when it may not write', async () => {
  const path = join(folder, 'refused.bin')
  await writeFile(`${path}.part`, 'of someone else')
  await expect(writeNewFile(path, never)).rejects.toMatchObject({ message: expect.stringContaining('refused.bin"') })
  expect((await readdir(folder)).filter((name) => name.startsWith('refused'))).toEqual(['refused.bin.part'])
})

describe('the path of a new file', () => {
  it.each(['/', '.', '..', 'sub/', 'sub\\', ''])('is not %j', async (name) => {
    await expect(newPath(name)).rejects.toMatchObject({ code: 'PATH_UNSAFE', hint: 'add a file name to it' })
  })

  it('is that of an existing file only when it may be replaced', async () => {
    const path = await put(folder, 'taken.bin', 'old')
    await expect(newPath(path)).rejects.toMatchObject({ code: 'PATH_EXISTS' })
    expect(await newPath(path, true)).toBe(path)
    await mkdir(join(folder, 'sub'))
    await expect(newPath(join(folder, 'sub'), true)).rejects.toMatchObject({ code: 'PATH_UNSAFE' })
    await expect(newPath(join(folder, 'x'.repeat(300)))).rejects.toMatchObject({ code: 'FILE_ACCESS' })
  })
})

it('names the file whose lock cannot be written', async () => {
  // Its own name is short enough for the file system, those of its partial file and its lock are not.
  const name = 'x'.repeat(250)
  await expect(writeNewFile(join(folder, name), never)).rejects.toMatchObject({
    code: 'FILE_ACCESS',
    message: `cannot write "${join(folder, name)}": the name of its lock is too long`,
    hint: 'choose a shorter name',
  })
})

describe('a replaced file', () => {
  const whenWritten = async (then: () => Promise<void>) => {
    const probe = await open(folder)
    await probe.close()
    const prototype = Object.getPrototypeOf(probe) as FileHandle
    const real = prototype.writeFile
    // The lock is written in the same way.
    const spy = vi.spyOn(prototype, 'writeFile').mockImplementation(function (this: FileHandle, ...given) {
      return given[0] === 'new' ? then() : real.apply(this, given)
    })
    onTestFinished(() => spy.mockRestore())
  }

  it('stays as it was when the disk is full', async () => {
    const path = await put(folder, 'full.json', 'old')
    const seen = await seenFile(path)
    await whenWritten(() => Promise.reject(Object.assign(new Error('no space'), { code: 'ENOSPC' })))
    await expect(replaceFile(path, 'new', seen)).rejects.toMatchObject({
      code: 'DISK_FULL',
      message: expect.stringContaining('full.json"'),
    })
    expect([await readFile(path, 'utf8'), await readdir(folder)]).toEqual(['old', ['full.json']])
  })

  it('is not written when it cannot be looked at any more', async () => {
    const path = join(folder, 'sub', 'gone.json')
    await mkdir(join(folder, 'sub'))
    await whenWritten(async () => {
      await rename(join(folder, 'sub'), join(folder, 'moved'))
      await writeFile(join(folder, 'sub'), 'a file in place of the folder')
    })
    await expect(replaceFile(path, 'new', undefined)).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:FILE_ACCESS|PATH_BUSY)$/),
      message: expect.stringContaining('gone.json"'),
    })
    expect(await readFile(join(folder, 'sub'), 'utf8')).toBe('a file in place of the folder')
  })
})

describe('a file of this machine', () => {
  const textOf = async (chunks: AsyncIterable<Uint8Array>) => {
    let text = ''
    for await (const chunk of chunks) text += Buffer.from(chunk).toString()
    return text
  }

  it('has a name, a size and chunks', async () => {
    const file = await localFiles.open(await put(folder, 'sent.bin', 'abcdef'))
    expect([file.name, file.size, await textOf(file.chunks())]).toEqual(['sent.bin', 6, 'abcdef'])
  })

  it('that is missing, or none, is named', async () => {
    const missing = join(folder, 'missing.bin')
    const code = 'FILE_ACCESS'
    await expect(localFiles.open(missing)).rejects.toMatchObject({ code, message: expect.stringContaining('missing.bin"') })
    await expect(localFiles.open(folder)).rejects.toMatchObject({ code, message: expect.stringContaining('not a regular file') })
  })

  it('that is gone once it is read is named', async () => {
    const path = await put(folder, 'gone.bin', 'abc')
    const file = await localFiles.open(path)
    await rm(path)
    await expect(textOf(file.chunks())).rejects.toMatchObject({ code: 'FILE_ACCESS', message: expect.stringContaining('gone.bin"') })
  })

  it('is checked before anything is requested for it', async () => {
    const path = await put(folder, 'there.bin', 'old')
    await expect(localFiles.check(path, false)).rejects.toMatchObject({ code: 'PATH_EXISTS' })
    await expect(localFiles.check(path, true)).resolves.toBeUndefined()
  })
})
