import { describe, expect, it } from 'vitest'
import { memoryStore, type SessionStore, withMemoryFallback } from '../../src/auth/session.ts'
import type { Warning } from '../../src/auth/strategy.ts'
import { type ErrorCode, IntegrityError } from '../../src/errors.ts'
import { KEY } from '../harness/stores.ts'

/** A store that fails with a code until the test says otherwise. */
function failing(code: ErrorCode) {
  const below = memoryStore()
  const state = { failing: true }
  const unlessFailing = async <T>(work: () => Promise<T>) => {
    if (state.failing) throw new IntegrityError(code, `no: ${code}`)
    return work()
  }
  const store: SessionStore = {
    read: (key) => unlessFailing(() => below.read(key)),
    write: (key, text) => unlessFailing(() => below.write(key, text)),
    remove: (key) => unlessFailing(() => below.remove(key)),
    exclusively: (key, run, signal) => unlessFailing(() => below.exclusively(key, run, signal)),
  }
  const warnings: Warning[] = []
  return { state, below, warnings, store: withMemoryFallback(store, (warning) => warnings.push(warning)) }
}

describe('withMemoryFallback', () => {
  it.each(['FILE_ACCESS', 'DISK_FULL'] as const)('continues in memory after %s, and warns once', async (code) => {
    const { store, below, warnings } = failing(code)
    await below.write(KEY, 'old')
    expect(await store.read(KEY)).toBeUndefined()
    await store.write(KEY, 'new')
    expect(await store.exclusively(KEY, () => store.read(KEY))).toBe('new')
    expect(await below.read(KEY)).toBe('old')
    expect(warnings).toEqual([{ code: 'CACHE_MEMORY_ONLY', message: `tokens are kept in memory only: no: ${code}` }])
  })

  it('withMemoryFallback goes back to the store when it takes something again', async () => {
    const { store, state, below } = failing('DISK_FULL')
    await store.write(KEY, 'in memory')
    state.failing = false
    expect(await store.read(KEY)).toBe('in memory')
    await store.write(KEY, 'kept')
    await below.write(KEY, 'by another process')
    expect(await store.read(KEY)).toBe('by another process')
  })

  it('reports when something cannot be removed, and has then forgotten its own copy', async () => {
    const { store, state } = failing('FILE_ACCESS')
    await store.write(KEY, 'text')
    await expect(store.remove(KEY)).rejects.toMatchObject({ code: 'FILE_ACCESS' })
    state.failing = false
    expect(await store.read(KEY)).toBeUndefined()
  })

  it('hides nothing else', async () => {
    const { store, warnings } = failing('CACHE_UNSAFE')
    for (const work of [() => store.read(KEY), () => store.write(KEY, 'x'), () => store.exclusively(KEY, async () => {})])
      await expect(work()).rejects.toMatchObject({ code: 'CACHE_UNSAFE' })
    expect(warnings).toEqual([])
  })

  it('runs what failed by itself only once', async () => {
    const { store, state } = failing('FILE_ACCESS')
    state.failing = false
    let runs = 0
    const run = async () => {
      runs++
      throw new IntegrityError('FILE_ACCESS', 'its own')
    }
    await expect(store.exclusively(KEY, run)).rejects.toThrow('its own')
    expect(runs).toBe(1)
  })
})
