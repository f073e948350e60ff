/** What Windows answers for files that are open elsewhere, on any system: its codes are put in front of the real calls. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { IntegrityError } from '../../src/errors.ts'
import { whenFree } from '../../src/node/base/files.ts'
import { writeOwnFile } from '../../src/node/base/own-file.ts'
import { takeLock, tryLock } from '../../src/node/base/process-lock.ts'
import { temporaryFolder } from '../cli/folder.ts'
import { failureOf } from '../harness/failure.ts'

/** How many calls are refused, `create` for new files alone, and whether open files have a device of their own. */
const windows = vi.hoisted(() => ({ open: 0, create: 0, rename: 0, otherDevice: false }))

vi.mock('node:fs/promises', async (original) => {
  const files = await original<typeof import('node:fs/promises')>()
  const refusing =
    <A extends unknown[], R>(name: 'open' | 'rename', call: (...args: A) => Promise<R>) =>
    async (...args: A) => {
      if (windows[name]-- > 0 || (args[1] === 'wx' && windows.create-- > 0))
        throw Object.assign(new Error(`EPERM: operation not permitted, ${name}`), { code: 'EPERM' })
      return call(...args)
    }
  const lstat = async (statOf: string) => {
    const stats = await files.lstat(statOf)
    if (windows.otherDevice) stats.dev += 2 ** 40
    return stats
  }
  return { ...files, open: refusing('open', files.open), rename: refusing('rename', files.rename), lstat }
})

vi.mock('node:timers/promises', async (original) => {
  const timers = await original<typeof import('node:timers/promises')>()
  return { ...timers, setTimeout: vi.fn(timers.setTimeout) }
})

const folder = await temporaryFolder()
const path = join(folder, 'a.lock')

beforeEach(() => vi.spyOn(process, 'platform', 'get').mockReturnValue('win32'))
afterEach(async () => {
  vi.restoreAllMocks()
  Object.assign(windows, { open: 0, create: 0, rename: 0, otherDevice: false })
  await rm(path, { force: true })
})

it('a folder that may not be written is an error within seconds, not a lock to wait for', async () => {
  windows.create = Number.POSITIVE_INFINITY
  expect(await failureOf(tryLock(path))).toMatchObject({ code: 'FILE_ACCESS', message: expect.stringContaining('access is denied') })
  expect(await failureOf(takeLock(path, new AbortController().signal))).toMatchObject({ code: 'FILE_ACCESS' })
})

it('a lock is taken although the one before it is still being removed', async () => {
  windows.open = 3
  const lease = await tryLock(path)
  expect(await lease?.confirm()).toBe(true)
  await lease?.release()
})

it('a lock stays held where the open file has another device number than its path', async () => {
  windows.otherDevice = true
  const lease = await tryLock(path)
  expect(await lease?.confirm()).toBe(true)
  await lease?.release()
})

it('a lock is lost elsewhere, when its path leads to another device', async () => {
  vi.spyOn(process, 'platform', 'get').mockReturnValue('linux')
  const lease = await tryLock(path)
  windows.otherDevice = true
  expect(await lease?.confirm()).toBe(false)
})

it('a file is replaced once the program that reads it has closed it, and not at all while it stays open', async () => {
  const file = join(folder, 'tokens.json')
  await writeFile(file, 'old')
  windows.rename = 3
  await writeOwnFile(file, 'new')
  expect(await readFile(file, 'utf8')).toBe('new')
  windows.rename = Number.POSITIVE_INFINITY
  expect(await failureOf(writeOwnFile(file, 'newer'))).toMatchObject({ code: 'FILE_ACCESS' })
  expect(await readFile(file, 'utf8')).toBe('new')
})

describe('a step', () => {
  const refusedWith = (error: Error, times: number) => {
    let left = times
    return vi.fn(async () => {
      if (left-- > 0) throw error
      return 'done'
    })
  }
  const systemError = (code: string) => Object.assign(new Error(code), { code })
  const pauses = () => vi.mocked(sleep).mock.calls.map(([ms = 0]) => ms)

  beforeEach(() => void vi.mocked(sleep).mockReset().mockResolvedValue(undefined))

  it.each([systemError('EPERM'), systemError('EACCES'), systemError('EBUSY'), new IntegrityError('FILE_ACCESS', 'access is denied')])(
    'is repeated for a second after %s, a little later each time',
    async (error) => {
      const step = refusedWith(error, 7)
      expect(await whenFree(step)).toBe('done')
      expect(step).toHaveBeenCalledTimes(8)
      expect(pauses().reduce((sum, ms) => sum + ms)).toBe(1000)
      expect(pauses()).toEqual(pauses().toSorted((one, other) => one - other))
      await expect(whenFree(refusedWith(error, 8))).rejects.toBe(error)
    },
  )

  it('is not repeated after other errors, nor on other systems', async () => {
    const missing = systemError('ENOENT')
    await expect(whenFree(refusedWith(missing, 1))).rejects.toBe(missing)
    vi.spyOn(process, 'platform', 'get').mockReturnValue('linux')
    const busy = systemError('EBUSY')
    await expect(whenFree(refusedWith(busy, 1))).rejects.toBe(busy)
    expect(pauses()).toEqual([])
  })
})
