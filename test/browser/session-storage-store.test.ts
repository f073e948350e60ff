import { afterEach, describe, expect, it, vi } from 'vitest'
import { sessionStorageStore } from '../../src/browser/stores.ts'
import { failureOf } from '../harness/failure.ts'
import { doorkeeper, gate, KEY, OTHER_KEY } from '../harness/stores.ts'

afterEach(() => void vi.unstubAllGlobals())

/** As `sessionStorage`, with room for so many characters. */
function pageStorage(room = 5_000_000) {
  const texts = new Map<string, string>()
  return {
    texts,
    getItem: (name: string) => texts.get(name) ?? null,
    setItem: (name: string, text: string) => {
      if (text.length > room) throw new DOMException('the quota has been exceeded', 'QuotaExceededError')
      texts.set(name, text)
    },
    removeItem: (name: string) => void texts.delete(name),
  }
}

/** As `navigator.locks` of one origin: exclusive locks, which wait in order and can be given up. */
function webLocks() {
  const held = new Map<string, Promise<unknown>>()
  const names: string[] = []
  const request = async (name: string, { signal }: { signal?: AbortSignal }, run: () => Promise<unknown>) => {
    names.push(name)
    const before = held.get(name) ?? Promise.resolve()
    const given = new Promise<void>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason))
      void before.then(() => resolve())
    })
    const done = given.then(run)
    held.set(
      name,
      before.then(() => done.catch(() => undefined)),
    )
    return done
  }
  return { locks: { request }, names }
}

describe('sessionStorageStore', () => {
  it('keeps texts under names of its own', async () => {
    const storage = pageStorage()
    storage.setItem(KEY, 'of the page')
    const store = sessionStorageStore({ storage })
    expect(await store.read(KEY)).toBeUndefined()
    await store.write(KEY, 'one')
    expect(await sessionStorageStore({ storage }).read(KEY)).toBe('one')
    expect([...storage.texts.keys()]).toEqual([KEY, `stac-auth:${KEY}`])
    await store.remove(KEY)
    expect([...storage.texts]).toEqual([[KEY, 'of the page']])
  })

  it("sessionStorageStore uses the page's own storage by default, looked up when it is used", async () => {
    const store = sessionStorageStore()
    const storage = pageStorage()
    vi.stubGlobal('sessionStorage', storage)
    await store.write(KEY, 'one')
    expect(storage.texts.get(`stac-auth:${KEY}`)).toBe('one')
  })

  it('sessionStorageStore is memory where the page has no storage or the storage is full', async () => {
    const warn = vi.fn()
    const full = sessionStorageStore({ storage: pageStorage(3), onWarning: warn })
    await full.write(KEY, 'long')
    await full.write(OTHER_KEY, 'long')
    expect([await full.read(KEY), await full.read(OTHER_KEY)]).toEqual(['long', 'long'])
    expect(warn.mock.calls).toEqual([[expect.objectContaining({ code: 'CACHE_MEMORY_ONLY' })]])
    vi.stubGlobal('sessionStorage', undefined)
    const none = sessionStorageStore()
    await none.write(KEY, 'text')
    expect(await none.read(KEY)).toBe('text')
  })

  it('takes turns with other tabs by Web Locks, and in the page without them', async () => {
    const { locks, names } = webLocks()
    for (const navigator of [{ locks }, {}]) {
      vi.stubGlobal('navigator', navigator)
      const { visit, counts } = doorkeeper()
      const one = sessionStorageStore({ storage: pageStorage() })
      const tabs = 'locks' in navigator ? [one, sessionStorageStore({ storage: pageStorage() })] : [one]
      await Promise.all(tabs.flatMap((store) => Array.from({ length: 5 }, () => store.exclusively(KEY, visit))))
      expect(counts()).toEqual({ most: 1, entered: tabs.length * 5 })
    }
    expect(new Set(names)).toEqual(new Set([`stac-auth:${KEY}`]))
  })

  it('locks within the page where the browser refuses locks; errors of the work are passed on', async () => {
    const request = async () => {
      throw new DOMException('The request was denied.', 'SecurityError')
    }
    vi.stubGlobal('navigator', { locks: { request } })
    const { visit, counts } = doorkeeper()
    const store = sessionStorageStore({ storage: pageStorage() })
    await Promise.all(Array.from({ length: 5 }, () => store.exclusively(KEY, visit)))
    expect(counts()).toEqual({ most: 1, entered: 5 })
    let runs = 0
    const failing = async () => {
      runs += 1
      throw new TypeError('of the work')
    }
    expect(await failureOf(store.exclusively(KEY, failing))).toMatchObject({ message: 'of the work' })
    vi.stubGlobal('navigator', webLocks())
    expect(await failureOf(store.exclusively(KEY, failing))).toMatchObject({ message: 'of the work' })
    expect(runs).toBe(2)
  })

  it('sessionStorageStore can be aborted while another tab has the lock', async () => {
    vi.stubGlobal('navigator', webLocks())
    const [held, controller] = [gate(), new AbortController()]
    const other = sessionStorageStore({ storage: pageStorage() }).exclusively(KEY, held.run)
    const waiting = failureOf(sessionStorageStore({ storage: pageStorage() }).exclusively(KEY, async () => {}, controller.signal))
    controller.abort('enough')
    expect(await waiting).toMatchObject({ code: 'ABORTED', cause: 'enough' })
    held.open()
    await other
  })
})
