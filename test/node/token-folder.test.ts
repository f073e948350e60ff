import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { newHolder } from '../../src/node/base/lock-holder.ts'
import { setAside } from '../../src/node/base/own-file.ts'
import { TokenFolder } from '../../src/node/tokens/token-files.ts'
import { temporaryFolder } from '../cli/folder.ts'
import { failureOf } from '../harness/failure.ts'
import { gate, KEY, OTHER_KEY } from '../harness/stores.ts'

const base = await temporaryFolder()
let made = 0
let folder = ''
let path = ''
let file = ''
beforeEach(async () => {
  folder = join(base, `${++made}`)
  path = join(folder, `${KEY}.lock`)
  file = join(folder, `${KEY}.json`)
  await mkdir(folder, { mode: 0o700 })
})

/** A lock of this process that nobody here releases. */
const leaveLock = async () => writeFile(path, JSON.stringify(await newHolder()), { mode: 0o600 })

describe('TokenFolder', () => {
  it('waits no longer than it may for processes', async () => {
    const files = new TokenFolder(folder, 100)
    await leaveLock()
    const timeouts = await Promise.all([1, 2].map(() => failureOf(files.exclusively(KEY, async () => {}))))
    for (const error of timeouts) {
      expect(error).toMatchObject({ name: 'IntegrityError', code: 'CACHE_LOCK_TIMEOUT', retryable: true })
      expect(error.message).toContain('over 0.1 s')
    }
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
    await leaveLock()
    const controller = new AbortController()
    const waiting = failureOf(new TokenFolder(folder).exclusively(KEY, async () => {}, controller.signal))
    controller.abort('enough')
    expect(await waiting).toMatchObject({ code: 'ABORTED', cause: 'enough' })
    const late = new TokenFolder(folder).exclusively(KEY, async () => {}, controller.signal)
    expect(await failureOf(late)).toMatchObject({ code: 'ABORTED' })
  })

  it('looks into the store while it waits for another process, and not when the lock is free', async () => {
    const files = new TokenFolder(folder, 20_000)
    await leaveLock()
    const controller = new AbortController()
    let looked = 0
    const read = async () => {
      looked++
      return (await files.load(KEY))?.text
    }
    const waiting = files.exclusively(KEY, async () => 'the lock', undefined, read)
    const given = files.exclusively(OTHER_KEY, async () => 'free', controller.signal, read)
    expect(await given).toBe('free')
    await expect.poll(() => looked).toBeGreaterThan(2)
    await files.save(KEY, { text: 'the token' })
    expect(await waiting).toBe('the token')
    await rm(path)
    expect(await files.exclusively(KEY, async () => 'the lock', undefined, read)).toBe('the lock')
  })

  it('looks once more when its time is over, because the process may have been suspended', async () => {
    await leaveLock()
    const over = Date.now() + 40
    const read = async () => (Date.now() >= over - 1 ? 'the token' : undefined)
    expect(await new TokenFolder(folder, 40).exclusively(KEY, async () => 'the lock', undefined, read)).toBe('the token')
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
  async function stopped(
    meanwhile: (files: TokenFolder) => Promise<void>,
    late: (files: TokenFolder) => Promise<void> = (files) => files.save(KEY, { text: 'late' }),
    before: (files: TokenFolder) => Promise<void> = async () => {},
  ) {
    const [first, second] = [new TokenFolder(folder), new TokenFolder(folder)]
    await first.save(KEY, { text: 'old' })
    await first.exclusively(KEY, async () => {
      await before(first)
      const long = Date.now() / 1000 - 61
      await utimes(path, long, long)
      await second.exclusively(KEY, () => meanwhile(second))
      await late(first)
    })
    expect((await readdir(folder)).filter((name) => name.includes('.lock'))).toEqual([])
    return (await first.load(KEY))?.text
  }

  it('does not replace a newer one', async () => {
    expect(await stopped((files) => files.save(KEY, { text: 'newer' }))).toBe('newer')
    expect(await stopped((files) => files.remove(KEY))).toBeUndefined()
  })

  it('does not remove a newer one', async () => {
    const remove = (files: TokenFolder) => files.remove(KEY)
    expect(await stopped((files) => files.save(KEY, { text: 'newer' }), remove)).toBe('newer')
    expect(await stopped(async () => {}, remove)).toBeUndefined()
  })

  it('replaces what it wrote or removed itself before it was stopped', async () => {
    const save = (files: TokenFolder) => files.save(KEY, { text: 'last' })
    expect(
      await stopped(
        async () => {},
        save,
        (files) => files.save(KEY, { text: 'first' }),
      ),
    ).toBe('last')
    expect(
      await stopped(
        async () => {},
        save,
        (files) => files.remove(KEY),
      ),
    ).toBe('last')
  })

  it('waits no longer than it may for one who has the key now', async () => {
    const files = new TokenFolder(folder, 100)
    const work = files.exclusively(KEY, async () => {
      await rm(path)
      await leaveLock()
      await files.save(KEY, { text: 'late' })
    })
    expect(await failureOf(work)).toMatchObject({ code: 'CACHE_LOCK_TIMEOUT', message: expect.stringContaining('over 0.1 s') })
    expect(await readdir(folder)).toEqual([`${KEY}.lock`])
  })

  it('a token of a holder that was stopped beyond its lease is kept when no one has a newer one', async () => {
    expect(await stopped(async () => {})).toBe('late')
  })
})

describe('the space that a token may need', () => {
  it('is on the disk before it is needed, and is given back when it was not needed', async () => {
    const files = new TokenFolder(join(folder, 'new'))
    const names = async () => (await readdir(files.path)).filter((name) => name.endsWith('.tmp'))
    await files.reserve(KEY, 100)
    const [first = ''] = await names()
    expect((await stat(join(files.path, first))).size).toBe(100)
    await files.exclusively(KEY, async () => {
      await files.reserve(KEY, 5_000_000)
      const [second = '', ...more] = await names()
      expect([more, second === first, (await stat(join(files.path, second))).size]).toEqual([[], false, 1_048_576])
    })
    expect(await names()).toEqual([])
  })

  it('is given back when the token is removed, and what follows is written without it', async () => {
    const files = new TokenFolder(folder)
    await files.exclusively(KEY, async () => {
      await files.save(KEY, { text: 'old' })
      await files.reserve(KEY, 1000)
      await files.remove(KEY)
      expect(await readdir(folder)).toEqual([`${KEY}.lock`])
      await files.save(KEY, { text: 'new' })
    })
    expect((await files.load(KEY))?.text).toBe('new')
  })

  it('is used once: what follows is written as if nothing had been reserved', async () => {
    const files = new TokenFolder(folder)
    await files.exclusively(KEY, async () => {
      await files.reserve(KEY, 1000)
      await files.save(KEY, { text: 'one' })
      await files.save(KEY, { text: 'two' })
      await files.reserve(KEY, 1000)
    })
    await files.save(KEY, { text: 'three' })
    expect([(await files.load(KEY))?.text, await readdir(folder)]).toEqual(['three', [`${KEY}.json`]])
  })
})

describe('the files of a key', () => {
  it('are listed for each key that has some, damaged ones included, and nothing else that lies there', async () => {
    const files = new TokenFolder(folder)
    const third = 'c3'.repeat(32)
    const others = [`${third}.lock`, `${third}.json.bak`, `x${third}.json`, `${third}.0123.tmp.bak`, 'notes.txt']
    for (const name of [`${KEY}.json`, `${KEY}.0123.corrupt`, `${OTHER_KEY}.0123.tmp`, ...others]) await writeFile(join(folder, name), '')
    expect([...(await files.keys())].sort()).toEqual([KEY, OTHER_KEY])
    expect(await new TokenFolder(join(folder, 'absent')).keys()).toEqual([])
  })

  it('are removed without those of other keys, the lock, and foreign files of a similar name', async () => {
    const files = new TokenFolder(folder)
    const kept = [`${KEY}.corrupt.bak`, `${KEY}.lock`, `${OTHER_KEY}.0123.corrupt`, `${OTHER_KEY}.json`]
    for (const name of [`${KEY}.0123.tmp`, `${KEY}.json`, ...kept]) await writeFile(join(folder, name), '{}')
    await files.remove(KEY)
    expect((await readdir(folder)).sort()).toEqual(kept)
  })

  it('are written at once, whoever has the key, by one who has not taken it', async () => {
    const files = new TokenFolder(folder, 100)
    await files.exclusively(KEY, async () => {})
    await leaveLock()
    await files.save(KEY, { text: 'one' })
    expect((await files.load(KEY))?.text).toBe('one')
  })

  it.runIf(process.platform === 'linux')('cannot be where no folder can be made', async () => {
    const files = new TokenFolder('/proc/stac-auth/tokens')
    expect(await failureOf(files.save(KEY, { text: 'one' }))).toMatchObject({
      code: 'FILE_ACCESS',
      message: expect.stringContaining('"/proc/stac-auth/tokens"'),
    })
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
