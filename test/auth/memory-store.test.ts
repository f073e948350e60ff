import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/auth/session.ts'
import { canary, leaks, shown } from '../harness/canary.ts'
import { failureOf } from '../harness/failure.ts'
import { gate, KEY, OTHER_KEY } from '../harness/stores.ts'

describe('memoryStore', () => {
  it('returns what was written last, by key, until it is removed', async () => {
    const store = memoryStore()
    expect(await store.read(KEY)).toBeUndefined()
    await store.write(KEY, 'one')
    await store.write(KEY, 'two')
    await store.write(OTHER_KEY, 'other')
    expect([await store.read(KEY), await store.read(OTHER_KEY)]).toEqual(['two', 'other'])
    await store.remove(KEY)
    expect([await store.read(KEY), await store.read(OTHER_KEY)]).toEqual([undefined, 'other'])
    expect(await memoryStore().read(OTHER_KEY)).toBeUndefined()
  })

  it('shows nothing of what it holds', async () => {
    const secret = canary('memory')
    const store = memoryStore()
    await store.write(KEY, secret.value)
    expect(leaks([secret], { store: shown(store) })).toEqual([])
  })

  it('lets one at a time through for a key, in order, and other keys at once', async () => {
    const store = memoryStore()
    const first = gate()
    const seen: string[] = []
    const note = (name: string) => async () => void seen.push(name)
    const waiting = [store.exclusively(KEY, first.run), store.exclusively(KEY, note('second')), store.exclusively(KEY, note('third'))]
    await store.exclusively(OTHER_KEY, note('other'))
    expect(seen).toEqual(['other'])
    first.open()
    await Promise.all(waiting)
    expect(seen).toEqual(['other', 'second', 'third'])
  })

  it('returns results and failures of what ran, and continues after a failure', async () => {
    const store = memoryStore()
    const failed = store.exclusively(KEY, async () => {
      throw new Error('mine')
    })
    const next = store.exclusively(KEY, async () => 7)
    await expect(failed).rejects.toThrow('mine')
    expect(await next).toBe(7)
  })

  it('a waiter of memoryStore that aborts leaves with its reason as cause; the others keep their order', async () => {
    const store = memoryStore()
    const [first, controller] = [gate(), new AbortController()]
    let ran = false
    const held = store.exclusively(KEY, first.run)
    const aborted = failureOf(store.exclusively(KEY, async () => void (ran = true), controller.signal))
    const last = store.exclusively(KEY, async () => first.isOpen())
    controller.abort('enough')
    expect(await aborted).toMatchObject({ code: 'ABORTED', cause: 'enough' })
    // The one that left must not let the last one pass the first.
    await new Promise((resolve) => setTimeout(resolve))
    first.open()
    expect(await last).toBe(true)
    await held
    expect(ran).toBe(false)
    expect(await failureOf(store.exclusively(KEY, async () => {}, controller.signal))).toMatchObject({ code: 'ABORTED' })
  })
})
