import { describe, expect, it } from 'vitest'
import type { DatabaseOptions } from '../../src/browser/stores.ts'
import { dpopKeyStore, indexedDbStore } from '../../src/browser/stores.ts'
import { KEY } from '../harness/stores.ts'

/** As in windows that keep nothing: the database is there and cannot be opened. */
const closed: DatabaseOptions = {
  factory: {
    open: () => {
      throw new DOMException('switched off', 'SecurityError')
    },
  } as unknown as IDBFactory,
}

describe('where the browser has no database', () => {
  it('keys are for this page, not to be read out, and that is reported once', async () => {
    const warnings: string[] = []
    const keys = dpopKeyStore({ ...closed, onWarning: ({ code }) => warnings.push(code) })
    const [pair, same, other] = [await keys.pair('a')(), await keys.pair('a')(), await keys.pair('b')()]
    expect([pair === same, pair === other, pair.privateKey.extractable]).toEqual([true, false, false])
    await expect(crypto.subtle.exportKey('jwk', pair.privateKey)).rejects.toThrow('not extractable')
    expect(warnings).toEqual(['CACHE_MEMORY_ONLY'])
    await keys.forget('a')
    expect((await keys.pair('a')()) === pair).toBe(false)
  })

  it('tokens are kept in memory, and that is reported once', async () => {
    const warnings: string[] = []
    const store = indexedDbStore({ ...closed, onWarning: ({ code }) => warnings.push(code) })
    await store.write(KEY, 'one')
    expect(await store.exclusively(KEY, () => store.read(KEY))).toBe('one')
    expect(warnings).toEqual(['CACHE_MEMORY_ONLY'])
  })
})
