import { spawn, spawnSync } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { isGone, type LockHolder, newHolder, parseHolder } from '../../src/node/lock-holder.ts'
import { setAside } from '../../src/node/own-file.ts'
import { takeLock } from '../../src/node/process-lock.ts'
import { TokenFolder } from '../../src/node/token-folder.ts'
import { temporaryFolder } from '../cli/folder.ts'
import { failureOf } from '../harness/canary.ts'
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
  it('says who holds it, and is gone when it is released', async () => {
    const release = await takeLock(path, forever)
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
    ['from the future', { place: 'elsewhere' }, -3600],
    ['that its maker had no time to write, 60 s old', '', 61],
    ['with something else in it, 60 s old', '{"id":"../../x","pid":-1,"place":"x"}', 61],
  ])('%s is stolen, and nothing is left behind', async (_name, content, secondsAgo) => {
    await leaveLock(content, path, secondsAgo)
    const release = await takeLock(path, forever)
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

  it('is stolen even when the one who began to steal it was killed, and the one who began to steal from that one', async () => {
    await leaveLock({ ...ended, id: '1'.repeat(16) })
    await leaveLock({ ...ended, id: '2'.repeat(16) }, `${path}.${'1'.repeat(16)}`)
    await leaveLock({ ...ended, id: '3'.repeat(16) }, `${path}.${'1'.repeat(16)}.${'2'.repeat(16)}`)
    const release = await takeLock(path, forever)
    await release()
    expect(await readdir(folder)).toEqual([])
  })

  it('is not stolen while another one that lives is about to', async () => {
    await leaveLock(ended)
    await leaveLock({}, `${path}.${id}`)
    expect(await isKept()).toBe(true)
    await rm(`${path}.${id}`)
    await (await takeLock(path, forever))()
  })

  it('that was stolen is not removed by the one who held it', async () => {
    const release = await takeLock(path, forever)
    const long = Date.now() / 1000 - 61
    await utimes(path, long, long)
    const releaseStolen = await takeLock(path, forever)
    const stolen = await readFile(path, 'utf8')
    await release()
    expect(await readFile(path, 'utf8')).toBe(stolen)
    await releaseStolen()
    expect(await readdir(folder)).toEqual([])
  })

  it('has one holder at a time, however many find it abandoned at once', async () => {
    for (let round = 0; round < 40; round++) {
      await leaveLock({ ...ended, id: round.toString(16).padStart(16, '0') })
      const { visit, counts } = doorkeeper()
      const take = async () => {
        const release = await takeLock(path, forever)
        await visit().finally(release)
      }
      await Promise.all([take(), take(), take(), take()])
      expect(counts()).toEqual({ most: 1, entered: 4 })
      expect(await readdir(folder)).toEqual([])
    }
  })

  it('cannot be where something else stands, or nothing can be written', async () => {
    await mkdir(path)
    expect(await failureOf(takeLock(path, forever))).toMatchObject({ code: 'CACHE_UNSAFE' })
    expect(await failureOf(takeLock(join(folder, 'absent', 'x.lock'), forever))).toMatchObject({ code: 'FILE_ACCESS' })
  })
})

describe('isGone', () => {
  it('knows a process that has ended but was not asked for its exit code', async () => {
    const parent = spawn('sh', ['-c', 'true & echo $!; exec sleep 30'], { stdio: ['ignore', 'pipe', 'ignore'] })
    try {
      const [line] = await parent.stdout.take(1).toArray()
      const pid = Number(line)
      const { started = '' } = await newHolder()
      await expect.poll(() => isGone({ id, pid, started, place: self.place })).toBe(true)
    } finally {
      parent.kill()
    }
  })

  it('goes by the number alone where the start is not known', async () => {
    const { started: _, ...unknown } = { id, ...self }
    expect([await isGone(unknown), await isGone({ ...unknown, pid: ended.pid ?? 0 })]).toEqual([false, true])
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

  it('waits no longer for its own, and what runs may take as long as it wants', async () => {
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

  it('can be aborted while it waits', async () => {
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

describe('setAside', () => {
  it('leaves alone what has come in the place of the damaged file', async () => {
    await writeFile(file, 'new')
    const damaged = { ...(await import('node:fs').then(({ statSync }) => statSync(file))), ino: 1 }
    await setAside(file, damaged as Parameters<typeof setAside>[1])
    expect([await readdir(folder), await readFile(file, 'utf8')]).toEqual([[`${KEY}.json`], 'new'])
  })
})
