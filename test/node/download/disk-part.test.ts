import { readdir, readFile, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { ProcessIdentity } from '../../../src/node/base/lock-holder.ts'
import { DiskPart } from '../../../src/node/download/disk-part.ts'
import { temporaryFolder } from '../../cli/folder.ts'
import { failureOf } from '../../harness/failure.ts'

const elsewhere: ProcessIdentity = { pid: 1, started: '1', place: 'another host' }
const wait = { self: elsewhere, signal: new AbortController().signal }
const version = { url: 'http://data.example/data.bin', validator: '"a"', size: 4000 }
const next = { ...version, validator: '"b"' }
const bytes = (letter: string, length = 2000) => Buffer.alloc(length, letter)

/** A part whose holder is stopped with half of the file, so that another process takes it over. */
async function takenOver() {
  const path = join(await temporaryFolder(), 'data.bin')
  const first = await DiskPart.open(path)
  first.describe(version)
  await first.write(0, [bytes('a')])
  const long = Date.now() / 1000 - 61
  await utimes(`${path}.part.lock`, long, long)
  const second = await DiskPart.open(path, wait)
  expect(second.found).toMatchObject({ version, spans: { total: 2000 } })
  return { path, first, second }
}

/** Time goes on for whoever was stopped. */
function later() {
  const now = Date.now.bind(Date)
  vi.spyOn(Date, 'now').mockImplementation(() => now() + 31_000)
  onTestFinished(() => void vi.restoreAllMocks())
}

const BUSY = { code: 'PATH_BUSY', message: expect.stringContaining('another process took it over') }

describe('a part whose holder was stopped for longer than its lease', () => {
  it('a part whose holder was stopped for longer than its lease is not written, reset, named or removed by that holder', async () => {
    const { path, first, second } = await takenOver()
    later()
    expect(await failureOf(first.write(2000, [bytes('x')]))).toMatchObject(BUSY)
    expect(await failureOf(first.reset())).toMatchObject(BUSY)
    expect(await failureOf(first.complete(false))).toMatchObject(BUSY)
    await first.discard()
    await second.write(2000, [bytes('a')])
    await second.complete(false)
    expect((await readFile(path)).equals(bytes('a', 4000))).toBe(true)
    expect(await readdir(join(path, '..'))).toEqual(['data.bin'])
  })

  it('a part whose holder was stopped for longer than its lease has nothing of that holder in it once it was begun anew, even what was on its way to the disk', async () => {
    const { path, first, second } = await takenOver()
    await second.reset()
    second.describe(next)
    await second.write(0, [bytes('b', 3000)])
    // It looked at its lock just before it was stopped.
    await first.write(2000, [bytes('a')])
    await first.keep()
    await second.keep()
    const third = await DiskPart.open(path)
    expect(third.found).toMatchObject({ version: next, spans: { total: 3000 } })
    await third.write(3000, [bytes('b', 1000)])
    await third.complete(false)
    expect((await readFile(path)).equals(bytes('b', 4000))).toBe(true)
  })
})
