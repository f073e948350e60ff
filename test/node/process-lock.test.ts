import { spawn, spawnSync } from 'node:child_process'
import { utimesSync, writeFileSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, readlink, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type LockHolder, newHolder, type ProcessIdentity, parseHolder, startOf, stateOf } from '../../src/node/base/lock-holder.ts'
import { type Lease, type LeaseOptions, takeLock, tryLock } from '../../src/node/base/process-lock.ts'
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
async function isKept(options: LeaseOptions = {}): Promise<boolean> {
  const controller = new AbortController()
  const waiting = takeLock(path, controller.signal, options)
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

  it('a lock of another machine is kept however many heartbeats are missed, as long as its lease lasts', async () => {
    await leaveLock({ ...ended, place: 'elsewhere' })
    expect(await isKept({ beat: 20 })).toBe(true)
  })

  it('a lock from the future is kept while its age is unknown, and as long as it is written to', async () => {
    await leaveLock({ place: 'elsewhere' }, path, -3600)
    expect(await isKept()).toBe(true)
    let later = 3600
    const beating = setInterval(() => {
      const time = Date.now() / 1000 + ++later
      void utimes(path, time, time)
    }, 10)
    expect(await isKept({ beat: 60 })).toBe(true)
    clearInterval(beating)
  })

  it('a lock is not taken, and nothing is written, when its taker has given up already', async () => {
    const signal = AbortSignal.abort('enough')
    expect(await failureOf(takeLock(path, signal))).toMatchObject({ code: 'ABORTED' })
    expect(await failureOf(tryLock(path, { signal }))).toMatchObject({ code: 'ABORTED' })
    expect(await readdir(folder)).toEqual([])
  })

  it('a lock that another one took away and released is not reported as taken over', async () => {
    await leaveLock(ended)
    await leaveLock({}, `${path}.${id}`)
    const waiting = takeLock(path, forever)
    await pause(50)
    await rm(path)
    await rm(`${path}.${id}`)
    const lease = await waiting
    expect(lease.isTakenOver).toBe(false)
    await lease.release()
  })

  it.runIf(process.platform === 'linux')('a lock leaves no file open, taken, confirmed, taken over or released', async () => {
    const round = async () => {
      const lease = await takeLock(path, forever)
      await lease.confirm()
      await lease.release()
      await leaveLock({ ...ended, place: 'elsewhere' }, path, 61)
      await (await takeLock(path, forever)).release()
    }
    let collected = 0
    const onWarning = ({ message }: Error) => void (message.includes('on garbage collection') && collected++)
    process.on('warning', onWarning)
    onTestFinished(() => void process.off('warning', onWarning))
    await round()
    const before = (await readdir('/proc/self/fd')).length
    for (let count = 0; count < 10; count++) await round()
    await pause(10)
    expect((await readdir('/proc/self/fd')).length + collected).toBeLessThan(before + 5)
  })

  it('a lock is stolen even when the process that began to steal it was killed, and the one after it', async () => {
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
    const absent = join(folder, 'absent', 'x.lock')
    expect(await failureOf(takeLock(absent, forever))).toMatchObject({
      code: 'FILE_ACCESS',
      message: expect.stringContaining(`"${absent}"`),
    })
  })
})

describe('tryLock', () => {
  const hasWaited = () => {
    throw new Error('it waited')
  }

  it('takes the lock of a process that has ended at once, and reports that', async () => {
    for (const signal of [undefined, forever]) {
      await leaveLock(ended)
      const lease = await tryLock(path, { ...(signal && { signal }), onWait: hasWaited })
      expect(lease?.isTakenOver).toBe(true)
      await lease?.release()
      expect(await readdir(folder)).toEqual([])
    }
  })

  it('does not wait for a process that lives, whether it may or not', async () => {
    await leaveLock({})
    expect(await tryLock(path, { onWait: hasWaited })).toBeUndefined()
    expect(await tryLock(path, { signal: forever, onWait: hasWaited })).toBeUndefined()
  })

  it('waits for one who is taking an abandoned lock away, if it may', async () => {
    await leaveLock(ended)
    await leaveLock({}, `${path}.${id}`)
    expect(await tryLock(path)).toBeUndefined()
    const waiting = tryLock(path, { signal: forever })
    await pause(50)
    expect((await readdir(folder)).length).toBe(2)
    await rm(`${path}.${id}`)
    await (await waiting)?.release()
    expect(await readdir(folder)).toEqual([])
  })

  it('waits for a lock that is being written, and takes one that was not written for two seconds', async () => {
    for (const [content, expected] of [
      [{}, undefined],
      [ended, true],
    ] as const) {
      await leaveLock('')
      const waiting = tryLock(path, { onWait: hasWaited })
      await pause(50)
      await leaveLock(content)
      const lease = await waiting
      expect(lease?.isTakenOver).toBe(expected)
      await lease?.release()
      await rm(path, { force: true })
    }
    await leaveLock('', path, 3)
    await (await tryLock(path, { onWait: hasWaited }))?.release()
    expect(await readdir(folder)).toEqual([])
  })

  it('waits for the lease of another host also when its lock was still being written at first', async () => {
    await leaveLock('')
    const waits: number[] = []
    const waiting = tryLock(path, { lease: 1000, signal: forever, onWait: (longest) => waits.push(longest) })
    await pause(50)
    await leaveLock({ ...ended, place: 'elsewhere' })
    const lease = await waiting
    expect([waits, lease?.isTakenOver]).toEqual([[1000], true])
    await lease?.release()
  })

  it('stops waiting for another host when the lock has another holder there', async () => {
    await leaveLock({ ...ended, place: 'elsewhere' }, path, 5)
    const { mtime } = await stat(path)
    const other = { ...self, ...ended, id: 'f'.repeat(16), place: 'elsewhere' }
    const replace = () => {
      writeFileSync(path, JSON.stringify(other))
      utimesSync(path, mtime, mtime)
    }
    expect(await tryLock(path, { signal: forever, onWait: replace })).toBeUndefined()
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
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + 29_000)
    onTestFinished(() => void vi.restoreAllMocks())
    expect(lease.isFresh).toBe(true)
    clock.mockImplementation(() => now() + 31_000)
    expect(lease.isFresh).toBe(false)
    expect([await lease.confirm(), lease.isFresh]).toEqual([true, true])
    await lease.release()
  })

  it('a lease is neither fresh nor confirmed once it is released', async () => {
    const lease = await takeLock(path, forever)
    await lease.release()
    expect([lease.isFresh, await lease.confirm()]).toEqual([false, false])
  })

  it('a lease keeps no process running', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    const lease = await takeLock(path, forever)
    expect(timers()).toBe(before)
    await lease.release()
  })

  it('a lease is lost with a damaged lock, and kept while its lock cannot be read', async () => {
    const lease = await takeLock(path, forever)
    const content = await readFile(path, 'utf8')
    await rm(path)
    await mkdir(path)
    expect(await lease.confirm()).toBe(true)
    await rm(path, { recursive: true })
    await writeFile(path, content.slice(1), { mode: 0o600 })
    expect([await lease.confirm(), lease.isFresh]).toEqual([false, false])
    await lease.release()
    expect(await readFile(path, 'utf8')).toBe(content.slice(1))
    await rm(path)
    const other = await takeLock(path, forever)
    await rm(path)
    expect([await other.confirm(), other.isFresh]).toEqual([false, false])
  })

  it('a lease is released without another file while fresh, and otherwise not against a new holder', async () => {
    const lockId = async () => String(parseHolder(await readFile(path, 'utf8'))?.id)
    const fresh = await takeLock(path, forever)
    const inTheWay = `${path}.${await lockId()}`
    await mkdir(inTheWay)
    await fresh.release()
    expect(await readdir(folder)).toEqual([inTheWay.slice(folder.length + 1)])

    const now = Date.now.bind(Date)
    const releaseLate = async (lease: Lease) => {
      vi.spyOn(Date, 'now').mockImplementation(() => now() + 31_000)
      await lease.release()
      vi.restoreAllMocks()
    }
    onTestFinished(() => void vi.restoreAllMocks())
    const left = await takeLock(path, forever)
    await leaveLock({}, `${path}.${await lockId()}`)
    await releaseLate(left)
    expect(parseHolder(await readFile(path, 'utf8'))?.pid).toBe(process.pid)
    await rm(path)
    await releaseLate(await takeLock(path, forever))
    expect(await readdir(folder)).not.toContain(`${KEY}.lock`)
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

describe('parseHolder', () => {
  const holder = { id: '0123456789abcdef', pid: 7, started: '1', place: 'here' }

  it('reads what was written, with or without a start', () => {
    const { started: _, ...unstarted } = holder
    for (const written of [holder, unstarted, { ...holder, pid: 1 }]) expect(parseHolder(JSON.stringify(written))).toEqual(written)
  })

  it.each([
    { id: '0123456789abcdef0' },
    { id: 'x0123456789abcdef' },
    { id: '0123456789ABCDEF' },
    { id: undefined },
    { pid: 0 },
    { pid: -1 },
    { pid: 1.5 },
    { pid: '7' },
    { started: 1 },
    { started: null },
    { place: 1 },
    { place: undefined },
  ])('reads no holder with %j', (change) => {
    expect(parseHolder(JSON.stringify({ ...holder, ...change }))).toBeUndefined()
  })

  it.each(['', '{', 'null', '[]', '7'])('reads no holder in %j', (text) => {
    expect(parseHolder(text)).toBeUndefined()
  })
})

describe.runIf(process.platform === 'linux')('a process on Linux', () => {
  it('is known with any name', async () => {
    const program = join(folder, 'a) Z b')
    await symlink('/bin/sleep', program)
    const child = spawn(program, ['30'], { argv0: 'sleep' })
    try {
      await expect.poll(() => readFile(`/proc/${child.pid}/comm`, 'utf8')).toBe('a) Z b\n')
      expect(await startOf(child.pid ?? 0)).toMatch(/^\d+$/)
    } finally {
      child.kill()
    }
  })

  it('has the start of its machine and its own space of process numbers in its place', async () => {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8')
    expect(self.place.split(' ').slice(-2)).toEqual([boot.trim(), await readlink('/proc/self/ns/pid')])
  })
})

describe('stateOf', () => {
  it('knows processes apart by when they began', async () => {
    const child = spawn('sleep', ['30'])
    try {
      await expect.poll(() => startOf(child.pid ?? 0)).toEqual(expect.any(String))
      const [begun, own] = [await startOf(child.pid ?? 0), await startOf(process.pid)]
      expect(begun).not.toBe(own)
      expect(await stateOf({ id, ...self, pid: child.pid ?? 0, started: String(begun) })).toBe('alive')
      expect(await stateOf({ id, ...self, pid: child.pid ?? 0 })).toBe('gone')
    } finally {
      child.kill()
    }
    expect(await startOf(ended.pid ?? 0)).toBeUndefined()
  })

  it('knows a process that has ended but was not asked for its exit code', async () => {
    // With a lower priority, so that ps says `ZN`: other letters may follow the first.
    const parent = spawn('sh', ['-c', 'nice -n 1 sleep 0.5 & echo $!; exec sleep 30'], { stdio: ['ignore', 'pipe', 'ignore'] })
    try {
      const [line] = await parent.stdout.take(1).toArray()
      const pid = Number(line)
      const started = String(await startOf(pid))
      expect(await stateOf({ id, pid, started, place: self.place })).toBe('alive')
      expect(await startOf(pid, 'darwin')).toMatch(/\d{4}$/)
      await expect.poll(() => stateOf({ id, pid, started, place: self.place })).toBe('gone')
      expect(await stateOf({ id, pid, place: self.place })).toBe('gone')
      expect(await startOf(pid, 'darwin')).toBe('ended')
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
    expect(await startOf(process.ppid, 'darwin')).toBe(other)
    expect(one).toMatch(/^\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4}$/)
    expect(other).toMatch(/\d{4}$/)
    expect([await startOf(ended.pid ?? 0, 'darwin'), await startOf(process.pid, 'win32')]).toEqual([undefined, undefined])
  })
})
