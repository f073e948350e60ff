import { spawn, spawnSync } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  type LockHolder,
  newHolder,
  type ProcessIdentity,
  parseHolder,
  startOf,
  stateOf,
  takeLock,
  tryLock,
} from '../../src/node/tokens/process-lock.ts'
import { temporaryFolder } from '../cli/folder.ts'
import { failureOf } from '../harness/failure.ts'
import { doorkeeper, KEY } from '../harness/stores.ts'

const folder = await temporaryFolder()
const path = join(folder, `${KEY}.lock`)
await chmod(folder, 0o700)
const forever = new AbortController().signal
const { id, ...self } = await newHolder()

/** A process that has ended and was asked for its exit code: its number is free. */
const ended: Partial<LockHolder> = { pid: spawnSync('true').pid, started: '1' }

afterEach(async () => {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true })
})

/** A lock of somebody else. */
async function leaveLock(content: Partial<LockHolder> | string, name = path, secondsAgo = 0) {
  const holder = typeof content === 'string' ? content : JSON.stringify({ id, ...self, ...content })
  await writeFile(name, holder, { mode: 0o600 })
  const time = Date.now() / 1000 - secondsAgo
  await utimes(name, time, time)
}

/** True when the lock at that path is not given away. */
async function isKept(): Promise<boolean> {
  const controller = new AbortController()
  const waiting = takeLock(path, controller.signal)
  const before = await readFile(path, 'utf8')
  // Some ten looks at the lock.
  await pause(300)
  controller.abort('enough')
  const error = await failureOf(waiting)
  return (await readFile(path, 'utf8')) === before && 'cause' in error && error.cause === 'enough'
}

describe('a lock', () => {
  it('reports who holds it, and is gone when it is released', async () => {
    const { release } = await takeLock(path, forever)
    expect(parseHolder(await readFile(path, 'utf8'))).toEqual({ ...self, id: expect.stringMatching(/^[0-9a-f]{16}$/) })
    expect(await isKept()).toBe(true)
    await release()
    expect(await readdir(folder)).toEqual([])
  })

  it.each<[string, Partial<LockHolder> | string, number]>([
    ['of a process that has ended', ended, 0],
    ['of a process whose number another one has now', { started: '1' }, 0],
    ['60 s old, though its process lives', {}, 61],
    ['60 s old, of another machine', { ...ended, place: 'elsewhere' }, 61],
    ['from the future, which nobody has written to for longer than two heartbeats', { place: 'elsewhere' }, -3600],
    ['that its maker had no time to write, 60 s old', '', 61],
    ['with something else in it, 60 s old', '{"id":"../../x","pid":-1,"place":"x"}', 61],
  ])('%s is stolen, and nothing is left behind', async (_name, content, secondsAgo) => {
    await leaveLock(content, path, secondsAgo)
    const { release } = await takeLock(path, forever, { beat: 100 })
    expect(await readFile(path, 'utf8')).toContain(`"pid":${process.pid}`)
    await release()
    expect(await readdir(folder)).toEqual([])
  })

  it.each<[string, Partial<LockHolder> | string, number]>([
    ['of a process that lives', {}, 50],
    ['of a process on another machine', { ...ended, place: 'elsewhere' }, 50],
    ['that is being written', '', 0],
  ])('%s is kept', async (_name, content, secondsAgo) => {
    await leaveLock(content, path, secondsAgo)
    expect(await isKept()).toBe(true)
  })

  it('a lock is stolen even when the one who began to steal it was killed, and the one who began to steal from that one', async () => {
    await leaveLock({ ...ended, id: '1'.repeat(16) })
    await leaveLock({ ...ended, id: '2'.repeat(16) }, `${path}.${'1'.repeat(16)}`)
    await leaveLock({ ...ended, id: '3'.repeat(16) }, `${path}.${'1'.repeat(16)}.${'2'.repeat(16)}`)
    const { release } = await takeLock(path, forever)
    await release()
    expect(await readdir(folder)).toEqual([])
  })

  it('a lock is not stolen while another one that lives is about to', async () => {
    await leaveLock(ended)
    await leaveLock({}, `${path}.${id}`)
    expect(await isKept()).toBe(true)
    await rm(`${path}.${id}`)
    await (await takeLock(path, forever)).release()
  })

  it('a lock that was stolen is not removed by the one who held it', async () => {
    const { release } = await takeLock(path, forever)
    const long = Date.now() / 1000 - 61
    await utimes(path, long, long)
    const { release: releaseStolen } = await takeLock(path, forever)
    const stolen = await readFile(path, 'utf8')
    await release()
    expect(await readFile(path, 'utf8')).toBe(stolen)
    await releaseStolen()
    expect(await readdir(folder)).toEqual([])
  })

  it('a lock has one holder at a time, however many find it abandoned at once', async () => {
    for (let round = 0; round < 40; round++) {
      await leaveLock({ ...ended, id: round.toString(16).padStart(16, '0') })
      const { visit, counts } = doorkeeper()
      const take = async () => {
        const { release } = await takeLock(path, forever)
        await visit().finally(release)
      }
      await Promise.all([take(), take(), take(), take()])
      expect(counts()).toEqual({ most: 1, entered: 4 })
      expect(await readdir(folder)).toEqual([])
    }
  })

  it('a lock cannot be where something else stands, or nothing can be written', async () => {
    await mkdir(path)
    expect(await failureOf(takeLock(path, forever))).toMatchObject({ code: 'CACHE_UNSAFE' })
    expect(await failureOf(takeLock(join(folder, 'absent', 'x.lock'), forever))).toMatchObject({ code: 'FILE_ACCESS' })
  })
})

/** As if this process were on another host, where nobody can ask whether the holder lives. */
const elsewhere: ProcessIdentity = { pid: 1, started: '1', place: 'another host' }
/** Long enough for a busy machine to send a heartbeat in time. */
const SHORT = { lease: 3000, beat: 100 }

describe('a lease', () => {
  it('a lease is not taken from a holder that sends heartbeats, however long it is held', async () => {
    const lease = await takeLock(path, forever, SHORT)
    const before = (await stat(path)).mtimeMs
    expect(await tryLock(path, { ...SHORT, self: elsewhere, signal: forever })).toBeUndefined()
    await expect.poll(async () => (await stat(path)).mtimeMs).toBeGreaterThan(before + SHORT.lease)
    expect(await tryLock(path, { ...SHORT, self: elsewhere, signal: forever })).toBeUndefined()
    expect([lease.isFresh, lease.isTakenOver, await lease.confirm()]).toEqual([true, false, true])
    await lease.release()
    expect(await readdir(folder)).toEqual([])
  })

  it('a lease of a process on another host is taken over when no heartbeat comes any more', async () => {
    await leaveLock({ ...ended, place: 'elsewhere' })
    const waits: number[] = []
    const lease = await tryLock(path, { ...SHORT, signal: forever, onWait: (longest) => waits.push(longest) })
    expect([waits, lease?.isTakenOver]).toEqual([[SHORT.lease], true])
    await lease?.release()
    expect(await readdir(folder)).toEqual([])
  })

  it('a lease of a process on another host is not waited for by those who must not', async () => {
    await leaveLock({ ...ended, place: 'elsewhere' })
    expect(await tryLock(path, SHORT)).toBeUndefined()
    const controller = new AbortController()
    const waiting = failureOf(tryLock(path, { signal: controller.signal }))
    controller.abort('enough')
    expect(await waiting).toMatchObject({ code: 'ABORTED' })
  })

  it('a lease is known to be lost by a holder that was stopped, which then removes nothing', async () => {
    const lease = await takeLock(path, forever)
    const long = Date.now() / 1000 - 61
    await utimes(path, long, long)
    const next = await tryLock(path, { self: elsewhere, signal: forever })
    const taken = await readFile(path, 'utf8')
    expect([next?.isTakenOver, await lease.confirm(), lease.isFresh]).toEqual([true, false, false])
    await lease.release()
    expect(await readFile(path, 'utf8')).toBe(taken)
    await next?.release()
  })

  it('a lease is not fresh when no heartbeat could be sent for half of it', async () => {
    const lease = await takeLock(path, forever)
    expect(lease.isFresh).toBe(true)
    const now = Date.now.bind(Date)
    vi.spyOn(Date, 'now').mockImplementation(() => now() + 31_000)
    onTestFinished(() => void vi.restoreAllMocks())
    expect(lease.isFresh).toBe(false)
    expect([await lease.confirm(), lease.isFresh]).toEqual([true, true])
    await lease.release()
  })

  it.each([120_000, -120_000])('a lease is not taken from a live holder where our clock is wrong by %d ms', async (wrong) => {
    const lease = await takeLock(path, forever, { beat: 100 })
    const now = Date.now.bind(Date)
    vi.spyOn(Date, 'now').mockImplementation(() => now() + wrong)
    onTestFinished(() => void vi.restoreAllMocks())
    expect(await tryLock(path, { beat: 100, self: elsewhere, signal: forever })).toBeUndefined()
    expect(await lease.confirm()).toBe(true)
    await lease.release()
    expect(await readdir(folder)).toEqual([])
  })
})

describe('stateOf', () => {
  it('knows a process that has ended but was not asked for its exit code', async () => {
    const parent = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 30'], { stdio: ['ignore', 'pipe', 'ignore'] })
    try {
      const [line] = await parent.stdout.take(1).toArray()
      const pid = Number(line)
      const { started = '' } = await newHolder()
      await expect.poll(() => stateOf({ id, pid, started, place: self.place })).toBe('gone')
      await expect.poll(() => startOf(pid, 'darwin'), { interval: 2100 }).toBe('ended')
    } finally {
      parent.kill()
    }
  })

  it('does not go by the number alone where the start is not known, nor by anything of another host', async () => {
    const { started: _, ...unknown } = { id, ...self }
    expect(await stateOf({ id, ...self })).toBe('alive')
    expect([await stateOf(unknown), await stateOf({ ...unknown, pid: ended.pid ?? 0 })]).toEqual(['unknown', 'gone'])
    expect(await stateOf({ id, ...self, ...ended, place: 'elsewhere' })).toBe('unknown')
  })

  it('asks ps when a process began where there is no /proc', async () => {
    const [one, other] = [await startOf(process.pid, 'darwin'), await startOf(process.ppid, 'darwin')]
    expect(one).toMatch(/^\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4}$/)
    expect(other).toMatch(/\d{4}$/)
    expect([await startOf(ended.pid ?? 0, 'darwin'), await startOf(process.pid, 'win32')]).toEqual([undefined, undefined])
  })
})
