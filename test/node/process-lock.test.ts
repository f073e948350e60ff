import { spawn, spawnSync } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { setAside } from '../../src/node/credentials/own-file.ts'
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
import { TokenFolder } from '../../src/node/tokens/token-files.ts'
import { temporaryFolder } from '../cli/folder.ts'
import { failureOf } from '../harness/failure.ts'
import { doorkeeper, gate, KEY } from '../harness/stores.ts'

const folder = await temporaryFolder()
const path = join(folder, `${KEY}.lock`)
const file = join(folder, `${KEY}.json`)
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

describe('TokenFolder', () => {
  it('waits no longer than it may for processes', async () => {
    const files = new TokenFolder(folder, 100)
    await leaveLock({})
    const timeouts = await Promise.all([1, 2].map(() => failureOf(files.exclusively(KEY, async () => {}))))
    for (const error of timeouts) expect(error).toMatchObject({ name: 'IntegrityError', code: 'CACHE_LOCK_TIMEOUT', retryable: true })
    await rm(path)
  })

  it('waits no longer for its own, and what runs may take as long as it requires', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const files = new TokenFolder(folder, 100)
    const held = gate()
    const holding = files.exclusively(KEY, held.run)
    await expect.poll(() => vi.getTimerCount()).toBe(0)
    let isLate = false
    const late = failureOf(files.exclusively(KEY, async () => void (isLate = true)))
    vi.advanceTimersByTime(99)
    await pause(50)
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(1)
    expect(await late).toMatchObject({ code: 'CACHE_LOCK_TIMEOUT' })
    vi.advanceTimersByTime(200)
    held.open()
    await holding
    expect(isLate).toBe(false)
  })

  it('TokenFolder can be aborted while it waits', async () => {
    await leaveLock({})
    const controller = new AbortController()
    const waiting = failureOf(new TokenFolder(folder).exclusively(KEY, async () => {}, controller.signal))
    controller.abort('enough')
    expect(await waiting).toMatchObject({ code: 'ABORTED', cause: 'enough' })
    const late = new TokenFolder(folder).exclusively(KEY, async () => {}, controller.signal)
    expect(await failureOf(late)).toMatchObject({ code: 'ABORTED' })
  })

  it('lets fifty who wait make one request', async () => {
    const stores = [new TokenFolder(folder), new TokenFolder(folder)]
    let requests = 0
    const token = (files: TokenFolder) =>
      files.exclusively(KEY, async () => {
        const known = await files.load(KEY)
        if (known) return known.text
        const text = `token ${++requests}`
        await files.save(KEY, { text })
        return text
      })
    const tokens = await Promise.all(Array.from({ length: 25 }, () => stores.map(token)).flat())
    expect([tokens.length, new Set(tokens), requests]).toEqual([50, new Set(['token 1']), 1])
  })
})

describe('a token that a holder has, which was stopped for longer than its lease,', () => {
  /** Takes the key, is stopped, and goes on after another process had it. */
  async function stopped(meanwhile: (files: TokenFolder) => Promise<void>) {
    const [first, second] = [new TokenFolder(folder), new TokenFolder(folder)]
    await first.save(KEY, { text: 'old' })
    await first.exclusively(KEY, async () => {
      const long = Date.now() / 1000 - 61
      await utimes(path, long, long)
      await second.exclusively(KEY, () => meanwhile(second))
      await first.save(KEY, { text: 'late' })
    })
    expect((await readdir(folder)).filter((name) => name.includes('.lock'))).toEqual([])
    return (await first.load(KEY))?.text
  }

  it('does not replace a newer one', async () => {
    expect(await stopped((files) => files.save(KEY, { text: 'newer' }))).toBe('newer')
    expect(await stopped((files) => files.remove(KEY))).toBeUndefined()
  })

  it('a token that a holder has, which was stopped for longer than its lease, is not lost when no one has a newer one', async () => {
    expect(await stopped(async () => {})).toBe('late')
  })
})

describe('setAside', () => {
  it('leaves unchanged what has come in the place of the damaged file', async () => {
    await writeFile(file, 'new')
    const damaged = { ...(await import('node:fs').then(({ statSync }) => statSync(file))), ino: 1 }
    await setAside(file, damaged as Parameters<typeof setAside>[1])
    expect([await readdir(folder), await readFile(file, 'utf8')]).toEqual([[`${KEY}.json`], 'new'])
  })
})
