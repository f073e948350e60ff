/** Two processes at one lock: what the other one does between two system calls of ours, with its own program. */
import { spawnSync } from 'node:child_process'
import { chmod, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { type LockHolder, newHolder, parseHolder } from '../../src/node/base/lock-holder.ts'
import { takeLock, tryLock } from '../../src/node/base/process-lock.ts'
import { temporaryFolder } from '../cli/folder.ts'
import { KEY } from '../harness/stores.ts'

/** What the other process does before a call of that name whose path fits, once, after so many others. */
const other = vi.hoisted(() => ({ before: '', path: /$/ as RegExp, skip: 0, act: undefined as (() => void) | undefined }))

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>()
  const watched = <Name extends 'rename' | 'lstat' | 'open' | 'link' | 'unlink'>(name: Name) =>
    ((...args: unknown[]) => {
      const { act } = other
      if (act && other.before === name && other.path.test(String(args[0])) && other.skip-- === 0) {
        other.act = undefined
        act()
      }
      return (real[name] as (...all: unknown[]) => unknown)(...args)
    }) as (typeof real)[Name]
  return {
    ...real,
    rename: watched('rename'),
    lstat: watched('lstat'),
    open: watched('open'),
    link: watched('link'),
    unlink: watched('unlink'),
  }
})

const folder = await temporaryFolder()
await chmod(folder, 0o700)
const path = join(folder, `${KEY}.lock`)
const script = join(await temporaryFolder(), 'lock-process.mjs')
await build({
  entryPoints: [join(dirname(fileURLToPath(import.meta.url)), 'lock-process.ts')],
  outfile: script,
  bundle: true,
  platform: 'node',
  format: 'esm',
  logLevel: 'error',
})
const { id, ...self } = await newHolder()
const forever = new AbortController().signal
const ended: Partial<LockHolder> = { pid: spawnSync('true').pid, started: '1' }

afterEach(async () => {
  other.act = undefined
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true })
})

/** Runs the other process to its end; its lock stays. */
function runOther(work: 'beat' | 'replace' | 'remove' | 'take'): void {
  const { status, stderr } = spawnSync(process.execPath, [script, work, path], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

function whenWe(before: string, at: RegExp, work: Parameters<typeof runOther>[0], skip = 0): void {
  Object.assign(other, { before, path: at, skip, act: () => runOther(work) })
}

async function leaveLock(content: Partial<LockHolder> = {}, secondsAgo = 0): Promise<void> {
  await writeFile(path, JSON.stringify({ id, ...self, ...content }), { mode: 0o600 })
  // Whole seconds, which another process can set again exactly.
  const time = Math.floor(Date.now() / 1000) - secondsAgo
  await utimes(path, time, time)
}

const ours = async () => parseHolder(await readFile(path, 'utf8').catch(() => ''))?.pid === process.pid
const LOCK = /\.lock$/

it('a lock whose holder beats just before it is moved away comes back to its holder', async () => {
  await leaveLock({ place: 'elsewhere' }, 61)
  const before = await readFile(path, 'utf8')
  whenWe('rename', LOCK, 'beat')
  expect(await tryLock(path)).toBeUndefined()
  expect([other.act, await readFile(path, 'utf8')]).toEqual([undefined, before])
  expect(await readdir(folder)).toEqual([`${KEY}.lock`])
})

it('a lock that replaced an abandoned one just before that is moved away comes back, too', async () => {
  await leaveLock(ended)
  whenWe('rename', LOCK, 'replace')
  expect(await tryLock(path)).toBeUndefined()
  expect([other.act, await readFile(path, 'utf8')]).toEqual([undefined, expect.stringContaining('"id":"eeeeeeeeeeeeeeee"')])
  expect(await readdir(folder)).toEqual([`${KEY}.lock`])
})

it('a lock that its holder confirms before the claim of ours is not removed', async () => {
  await leaveLock({ place: 'elsewhere' }, 61)
  whenWe('open', new RegExp(`\\.lock\\.${id}$`), 'beat')
  expect(await tryLock(path)).toBeUndefined()
  expect([other.act, await ours()]).toEqual([undefined, true])
  expect(await readdir(folder)).toEqual([`${KEY}.lock`])
})

it('a lock that another process takes before the claim of ours is not removed', async () => {
  await leaveLock(ended)
  whenWe('open', new RegExp(`\\.lock\\.${id}$`), 'replace')
  expect(await tryLock(path)).toBeUndefined()
  expect(await readFile(path, 'utf8')).toContain('eeeeeeeeeeeeeeee')
})

it('a lock that is released before the claim of ours is taken, and not reported as taken over', async () => {
  await leaveLock(ended)
  whenWe('open', new RegExp(`\\.lock\\.${id}$`), 'remove')
  const lease = await tryLock(path, { signal: forever })
  expect([await ours(), lease?.isTakenOver]).toEqual([true, false])
  await lease?.release()
})

it('a lock that is released between two looks of ours is taken', async () => {
  await leaveLock()
  // The first call is the attempt to make it.
  whenWe('open', LOCK, 'remove', 1)
  const lease = await tryLock(path)
  expect([await ours(), lease?.isTakenOver]).toEqual([true, false])
  await lease?.release()
})

it('a heartbeat that another process overtakes finds the lock lost', async () => {
  const lease = await takeLock(path, forever)
  onTestFinished(() => lease.release())
  whenWe('lstat', LOCK, 'replace')
  expect([await lease.confirm(), lease.isFresh, other.act]).toEqual([false, false, undefined])
  await lease.release()
  expect(await readFile(path, 'utf8')).toContain('eeeeeeeeeeeeeeee')
})
