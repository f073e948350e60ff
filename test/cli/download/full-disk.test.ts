import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { disk } from '../../node/download/full-disk.ts'
import { lastError } from '../run.ts'
import { contentOf, downloaded, itemOf, startArchive } from './fixture.ts'

vi.mock('node:fs', async (original) => (await import('../../node/download/full-disk.ts')).onFullDisk(await original()))
vi.mock('node:fs/promises', async (original) => (await import('../../node/download/full-disk.ts')).onFullDiskLater(await original()))
afterEach(() => disk.reset())

const server = await startArchive()
const SIZE = 1_500_000

function itemOfMany(count: number): string {
  const names = Array.from({ length: count }, (_, at) => `${at}-${SIZE}.tif`)
  return JSON.stringify(itemOf('one', Object.fromEntries(names.map((name) => [name, { href: `${server.origin}/open/${name}` }]))))
}

it('reports once that the disk is full, what to do, and what was not begun; the next run has it all', async () => {
  const stdin = itemOfMany(4)
  disk.refuses = (step, path) => {
    if (step === 'make' && path.endsWith('.part.lock')) disk.room = 1_300_000
    return false
  }
  const { code, stderr, stdout, folder: into } = await downloaded(server, ['-', '--concurrency', '1'], { stdin })
  const name = `0-${SIZE}.tif`
  expect([code, stderr]).toEqual([
    6,
    `error DISK_FULL: no space is left to write "${join(into, 'one', name)}"\n` +
      `  free some space, then run the same command again: downloads resume\n  file: one/${name}\nnot started: 3 of 4 files\n`,
  ])
  expect(stdout).toMatch(/^failed {8}1\n/)
  expect((await readdir(join(into, 'one'))).sort()).toEqual([`${name}.part`, `${name}.part.json`])
  disk.reset()
  const next = await downloaded(server, ['-'], { stdin, into })
  expect([next.code, next.stderr]).toEqual([0, ''])
  for (const [path, bytes] of Object.entries(next.files)) expect(bytes.equals(contentOf(path)), path).toBe(true)
  expect(Object.keys(next.files)).toHaveLength(4)
})

it('reports programs the error last', async () => {
  disk.refuses = (step, path) => step === 'write' && path.endsWith('.part')
  const outcome = await downloaded(server, ['-', '--json'], { stdin: itemOfMany(2) })
  expect([outcome.code, lastError(outcome).code, outcome.files]).toEqual([6, 'DISK_FULL', {}])
})
