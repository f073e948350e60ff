import { createHash } from 'node:crypto'
import { readdir, readFile, truncate, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { ProcessIdentity } from '../../../src/node/base/lock-holder.ts'
import { DiskPart } from '../../../src/node/download/destination/disk-part.ts'
import { readPartJournal } from '../../../src/node/download/destination/part-journal.ts'
import { temporaryFolder } from '../../cli/folder.ts'
import { failureOf } from '../../harness/failure.ts'

const elsewhere: ProcessIdentity = { pid: 1, started: '1', place: 'another host' }
const wait = { self: elsewhere, signal: new AbortController().signal }
const SIZE = 2 ** 22
const version = { url: 'http://data.example/data.bin', validator: '"a"', size: SIZE }
const next = { ...version, validator: '"b"' }
const bytes = (letter: string, length = SIZE / 2) => Buffer.alloc(length, letter)

/** Writes bytes to the disk. */
async function write(part: DiskPart, offset: number, chunk: Uint8Array) {
  await part.write(offset, chunk)
  await part.flush()
}

/** A part whose holder is stopped with half of the file, so that another process takes it over. */
async function takenOver() {
  const path = join(await temporaryFolder(), 'data.bin')
  const first = await DiskPart.open(path, { taken: false, resume: true })
  await first.begin(version, SIZE)
  await write(first, 0, bytes('a'))
  const long = Date.now() / 1000 - 61
  await utimes(`${path}.part.lock`, long, long)
  const second = await DiskPart.open(path, { taken: true, resume: true, wait })
  expect(second).toMatchObject({ version, total: SIZE / 2 })
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
  it('a holder that was stopped beyond its lease does not write, reset, name or remove its part', async () => {
    const { path, first, second } = await takenOver()
    later()
    expect(await failureOf(write(first, SIZE / 2, bytes('x')))).toMatchObject(BUSY)
    expect(await failureOf(first.reset())).toMatchObject(BUSY)
    expect(await failureOf(first.complete(false))).toMatchObject(BUSY)
    await first.close(false)
    await write(second, SIZE / 2, bytes('a'))
    await second.complete(false)
    expect((await readFile(path)).equals(bytes('a', SIZE))).toBe(true)
    expect(await readdir(join(path, '..'))).toEqual(['data.bin'])
  })

  it('a part that was begun anew holds no bytes of a stopped holder, even of writes that were under way', async () => {
    const { path, first, second } = await takenOver()
    await second.reset()
    await second.begin(next, SIZE)
    await write(second, 0, bytes('b', SIZE - 1000))
    // It looked at its lock just before it was stopped.
    await write(first, SIZE / 2, bytes('a'))
    await first.close(true)
    await second.close(true)
    const third = await DiskPart.open(path, { taken: true, resume: true })
    expect(third).toMatchObject({ version: next, total: SIZE - 1000 })
    await write(third, SIZE - 1000, bytes('b', 1000))
    await third.complete(false)
    expect((await readFile(path)).equals(bytes('b', SIZE))).toBe(true)
  })
})

it('a part that ends early while its bytes are hashed is reported', async () => {
  const path = join(await temporaryFolder(), 'data.bin')
  const part = await DiskPart.open(path, { taken: false, resume: true })
  part.hash('sha256')
  await part.begin(version, SIZE)
  await write(part, SIZE / 2, bytes('b'))
  await truncate(`${path}.part`, SIZE / 2)
  expect(await failureOf(write(part, 0, bytes('a')))).toMatchObject({ code: 'FILE_ACCESS', message: expect.stringContaining(path) })
  await part.close(false)
})

it('a hash is that of all bytes, in whatever order they arrive, and of those of an earlier run', async () => {
  const path = join(await temporaryFolder(), 'data.bin')
  const content = Buffer.concat([bytes('a'), bytes('b', SIZE / 4), bytes('c', SIZE / 4)])
  const first = await DiskPart.open(path, { taken: false, resume: true })
  await first.begin(version, SIZE)
  await write(first, 0, content.subarray(0, SIZE / 4))
  await first.close(true)
  const second = await DiskPart.open(path, { taken: true, resume: true })
  second.hash('sha256')
  for (const at of [(SIZE * 3) / 4, SIZE / 4, SIZE / 2]) await write(second, at, content.subarray(at, at + SIZE / 4))
  for (const algorithm of ['sha256', 'md5'])
    expect(await second.digest(algorithm)).toBe(createHash(algorithm).update(content).digest('hex'))
  await second.close(false)
})

it('a killed process has lost no more than 512 KiB of what arrived', async () => {
  const path = join(await temporaryFolder(), 'data.bin')
  const part = await DiskPart.open(path, { taken: false, resume: true })
  await part.begin(version, SIZE)
  for (let at = 0; at < SIZE / 2; at += 60_000) await part.write(at, bytes('a', 60_000))
  const least = part.length - 2 ** 19
  await expect.poll(async () => (await readPartJournal(`${path}.part.json`))?.spans.total).toBeGreaterThanOrEqual(least)
  await part.close(false)
})

it('names the file, not its lock, when the lock cannot be written', async () => {
  const path = join(await temporaryFolder(), 'x'.repeat(250))
  expect(await failureOf(DiskPart.open(path, { taken: true, resume: true, wait }))).toMatchObject({
    code: 'FILE_ACCESS',
    message: `cannot write "${path}": the name of its lock is too long`,
  })
})
