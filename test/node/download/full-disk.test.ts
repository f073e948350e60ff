import { readdir, readFile, readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { temporaryFolder } from '../../cli/folder.ts'
import { differenceOf } from '../../servers/chaos/depot-content.ts'
import { contentName, startFileDepot } from '../../servers/chaos/file-depot.ts'
import { codesOf, itemOf, namesIn, ofKind, run } from './fixture.ts'
import { disk, type Step } from './full-disk.ts'

vi.mock('node:fs', async (original) => (await import('./full-disk.ts')).onFullDisk(await original()))
vi.mock('node:fs/promises', async (original) => (await import('./full-disk.ts')).onFullDiskLater(await original()))
afterEach(() => disk.reset())

const LARGE = 5 * 2 ** 20

async function setting(size: number, count = 1) {
  const depot = await startFileDepot({ files: () => ({ size }) })
  onTestFinished(() => depot.close())
  const folder = await temporaryFolder()
  const names = Array.from({ length: count }, (_, at) => `${at}.bin`)
  const assets = Object.fromEntries(names.map((name) => [name, { href: name }]))
  return {
    depot,
    folder,
    fetched: (options = {}) => run([itemOf(depot, assets)], { folder, server: depot, ...options }),
    /** What differs from the files of the depot, and what else lies there. */
    wrong: async () => {
      const there = await namesIn(folder)
      const differences = names.map((name) => differenceOf(join(folder, name), contentName(`/${name}`, 0), size).catch(String))
      return [...(await Promise.all(differences)).filter(Boolean), ...there.filter((name) => !names.includes(name))]
    },
  }
}

/** Files of a folder that this process has open. */
async function openIn(folder: string): Promise<readonly string[]> {
  const links = (await readdir('/proc/self/fd')).map((number) => readlink(`/proc/self/fd/${number}`).catch(() => ''))
  return (await Promise.all(links)).filter((path) => path.startsWith(`${folder}/`))
}

describe('a disk that is full as a file begins', () => {
  it.each<[string, number, Step, RegExp]>([
    ['the lock of a large one', LARGE, 'make', /\.part\.lock$/],
    ['what is in its lock', LARGE, 'write', /\.part\.lock$/],
    ['its journal', LARGE, 'make', /\.part\.json$/],
    ['the first line of its journal', LARGE, 'write', /\.part\.json$/],
    ['its part', LARGE, 'make', /\.bin\.part$/],
    ['what comes first', LARGE, 'write', /\.bin\.part$/],
    ['a small one', 1000, 'make', /\.part$/],
    ['what is in a small one', 1000, 'write', /\.part$/],
    ['a small one on the disk', 1000, 'sync', /\.part$/],
    ['the name of a small one', 1000, 'name', /\.bin$/],
  ])('a disk that is full as a file begins has nothing left over of it, without room for %s', async (_, size, step, path) => {
    const { folder, fetched, wrong } = await setting(size)
    disk.refuses = (its, name) => its === step && path.test(name)
    const result = await fetched()
    expect(codesOf(result)).toEqual(['DISK_FULL'])
    expect(ofKind(result, 'failed')).toMatchObject([{ resumable: 0, error: { hint: expect.stringContaining('free some space') } }])
    expect([await readdir(folder), await openIn(folder)]).toEqual([[], []])
    disk.reset()
    expect((await fetched()).summary).toMatchObject({ written: 1, failed: 0 })
    expect(await wrong()).toEqual([])
  })

  it('a disk that is full as a file begins has nothing left over of what took the last of the room', async () => {
    // The room ends within the lock, the journal, or what they are about.
    for (let room = 0; room < 300; room += 23) {
      const { folder, fetched } = await setting(LARGE)
      disk.room = room
      expect(codesOf(await fetched()), String(room)).toEqual(['DISK_FULL'])
      expect([await readdir(folder), await openIn(folder)], String(room)).toEqual([[], []])
    }
  })

  it.each([
    ['its first line', 1],
    ['the line of a file', 2],
  ])('a manifest of its own has nothing left over, without room for %s', async (_, refused) => {
    const { folder, fetched } = await setting(1000)
    const elsewhere = await temporaryFolder()
    let lines = 0
    disk.refuses = (step, path) => step === 'write' && /manifest\.\d+\.part$/.test(path) && ++lines === refused
    await expect(fetched({ manifest: join(elsewhere, 'manifest') })).rejects.toMatchObject({ code: 'DISK_FULL' })
    expect([await readdir(elsewhere), await openIn(elsewhere), await openIn(folder)]).toEqual([[], [], []])
  })

  it('leaves an old file that was to be replaced', async () => {
    for (const size of [1000, LARGE]) {
      const { folder, fetched } = await setting(size)
      await writeFile(join(folder, '0.bin'), 'old')
      disk.refuses = (step) => step === 'name'
      expect(codesOf(await fetched({ existing: 'replace' }))).toEqual(['DISK_FULL'])
      expect(await readFile(join(folder, '0.bin'), 'utf8')).toBe('old')
    }
  })
})

describe('a disk that is full in the middle', () => {
  it.each([2.5, 3, 4.999])('keeps what came, and the next run continues: %d MiB', async (room) => {
    const { depot, folder, fetched, wrong } = await setting(LARGE)
    disk.room = room * 2 ** 20
    const result = await fetched()
    const [{ resumable = 0 } = {}] = ofKind(result, 'failed')
    expect([codesOf(result), resumable > 2 ** 20, await openIn(folder)]).toEqual([['DISK_FULL'], true, []])
    disk.reset()
    const before = depot.sent
    const next = await fetched()
    expect(ofKind(next, 'started')).toMatchObject([{ resumed: resumable }])
    expect([next.summary.received, await wrong()]).toEqual([LARGE - resumable, []])
    expect(depot.sent - before).toBe(LARGE - resumable)
  })

  it('loses no more than a line of a journal that was cut', async () => {
    const { fetched, wrong } = await setting(LARGE)
    let lines = 0
    disk.refuses = (step, path) => {
      // The third line: the room ends within it.
      if (step === 'write' && path.endsWith('.json') && ++lines === 4) disk.room = 5
      return false
    }
    expect(codesOf(await fetched())).toEqual(['DISK_FULL'])
    disk.reset()
    const next = await fetched()
    expect(next.summary).toMatchObject({ written: 1 })
    expect(next.summary.received).toBeLessThan(LARGE)
    expect(await wrong()).toEqual([])
  })

  it.each(['EDQUOT', 'EIO', 'EFBIG', 'ENOSPC', 'EROFS'])('keeps what came also when the system says %s', async (code) => {
    const { fetched, wrong } = await setting(LARGE)
    disk.code = code
    let pieces = 0
    disk.refuses = (step, path) => step === 'write' && path.endsWith('.bin.part') && ++pieces > 2
    const [failed] = ofKind(await fetched(), 'failed')
    expect(failed?.error.code).toMatch(/^(?:DISK_FULL|FILE_ACCESS)$/)
    expect(failed?.resumable).toBeGreaterThan(2 ** 20)
    disk.reset()
    const next = await fetched()
    expect([next.summary.received, await wrong()]).toEqual([LARGE - (failed?.resumable ?? 0), []])
  })

  it('keeps what an earlier sync has brought to the disk when a later one fails', async () => {
    const size = 90 * 2 ** 20
    const { fetched, wrong } = await setting(size)
    disk.code = 'EDQUOT'
    let syncs = 0
    disk.refuses = (step) => step === 'sync' && ++syncs > 1
    const [failed] = ofKind(await fetched({ ranges: 1 }), 'failed')
    expect(failed?.error).toMatchObject({ code: 'DISK_FULL', message: expect.stringContaining('quota') })
    expect(failed?.resumable).toBeGreaterThanOrEqual(32 * 2 ** 20)
    expect(failed?.resumable).toBeLessThan(size)
    disk.reset()
    const next = await fetched()
    expect([next.summary.received, await wrong()]).toEqual([size - (failed?.resumable ?? 0), []])
  })

  it('fetches again what was to be on it and is not', async () => {
    // Room is promised first and looked for when the disk is asked to have it all: what is there then, nobody knows.
    for (const size of [LARGE, 40 * 2 ** 20]) {
      const { folder, fetched, wrong } = await setting(size)
      disk.refuses = (step) => step === 'sync'
      const result = await fetched()
      expect([codesOf(result), await readdir(folder)]).toEqual([['DISK_FULL'], []])
      disk.reset()
      expect((await fetched()).summary).toMatchObject({ written: 1, received: size })
      expect(await wrong()).toEqual([])
    }
  })

  it('keeps a file that is whole and finds no room for its name', async () => {
    const { depot, folder, fetched, wrong } = await setting(LARGE)
    disk.refuses = (step, path) => step === 'name' && path.endsWith('.bin')
    const result = await fetched()
    expect(ofKind(result, 'failed')).toMatchObject([{ error: { code: 'DISK_FULL' }, resumable: LARGE }])
    expect((await readdir(folder)).sort()).toEqual(['0.bin.part', '0.bin.part.json'])
    disk.reset()
    const before = depot.requests
    expect((await fetched()).summary).toMatchObject({ written: 1, received: 0 })
    expect([depot.requests - before, await wrong()]).toEqual([0, []])
  })

  it('begins no more files, and the next run has them all', async () => {
    const { depot, fetched, wrong } = await setting(3 * 2 ** 20, 30)
    disk.room = 20 * 2 ** 20
    const result = await fetched({ concurrency: 4 })
    expect(new Set(codesOf(result))).toEqual(new Set(['DISK_FULL']))
    expect(result.summary).toMatchObject({ stopped: { code: 'DISK_FULL' } })
    expect(depot.requests).toBeLessThan(15)
    disk.reset()
    const next = await fetched()
    expect(next.summary).toMatchObject({ failed: 0, written: 30 - result.summary.written, kept: result.summary.written })
    expect(await wrong()).toEqual([])
  })
})

describe('a system that opens no more files', () => {
  it.each([
    ['small', 1000],
    ['large', LARGE],
  ])('puts %s files off as long as others are on their way', async (_, size) => {
    const { fetched, wrong } = await setting(size, 12)
    disk.code = 'EMFILE'
    let [open, made, refused] = [0, 0, 0]
    disk.refuses = (step, path) => {
      // Two at a time, until they have their names; the third one in any case, for small files may be done before there are three.
      if (step === 'name') open--
      if (step !== 'make' || !/\.part(?:\.lock)?$/.test(path) || path.endsWith('.bin.part')) return false
      const isRefused = open === 2 || ++made === 3
      if (isRefused) refused++
      else open++
      return isRefused
    }
    const { summary, events } = await fetched({ concurrency: 8 })
    expect(events.filter(({ kind }) => kind === 'failed')).toEqual([])
    expect([summary.written, summary.retries, refused > 0, await wrong()]).toEqual([12, refused, true, []])
  })

  it('a system that opens no more files is reported when nothing would free one', async () => {
    const { depot, fetched, folder } = await setting(LARGE, 3)
    disk.code = 'EMFILE'
    disk.refuses = (step, path) => step === 'make' && path.endsWith('.part.lock')
    const result = await fetched()
    expect(codesOf(result)).toEqual(['FILE_ACCESS', 'FILE_ACCESS', 'FILE_ACCESS'])
    for (const { error } of ofKind(result, 'failed')) expect(error.message).toMatch(/too many open files \(EMFILE\)$/)
    expect([await readdir(folder), depot.requests]).toEqual([[], 5])
  })
})
