import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { temporaryFolder } from '../../cli/folder.ts'
import { differenceOf, digestOf } from '../../servers/chaos/depot-content.ts'
import { contentName, startFileDepot } from '../../servers/chaos/file-depot.ts'
import { codesOf, itemOf, ofKind, run, THREAD_AT_ONCE } from './fixture.ts'

const end = vi.hoisted(() => ({ after: 0 }))

/** A thread that the system ends after so many messages, and that never answers. */
vi.mock('node:worker_threads', () => ({
  Worker: class extends EventEmitter {
    #messages = 0
    #isOver = false
    constructor() {
      super()
      if (end.after === 0) this.#end()
    }
    postMessage(): void {
      if (++this.#messages === end.after) this.#end()
    }
    #end(): void {
      setImmediate(() => {
        if (!this.#isOver) this.emit('error', Object.assign(new Error(), { code: 'ERR_WORKER_INIT_FAILED' }))
        this.#isOver = true
      })
    }
    ref(): void {}
    unref(): void {}
    async terminate(): Promise<void> {}
  },
}))

const SIZE = 5 * 2 ** 20
const NAMES = ['a.bin', 'b.bin', 'c.bin']

async function fetched(revision: number) {
  const depot = await startFileDepot({ files: () => ({ size: SIZE }) })
  onTestFinished(() => depot.close())
  const checksum = (name: string) => `1220${digestOf(contentName(`/${name}`, revision), SIZE)}`
  const assets = Object.fromEntries(NAMES.map((name) => [name, { href: name, 'file:checksum': checksum(name) }]))
  const folder = await temporaryFolder()
  return { folder, result: await run([itemOf(depot, assets)], { folder, server: depot, ...THREAD_AT_ONCE }) }
}

describe('a thread that ends', () => {
  // At once, in the middle, and when it is asked for the first digest.
  it.each([0, 3, 8])('costs no file: after %d messages', async (after) => {
    end.after = after
    const { folder, result } = await fetched(0)
    expect(ofKind(result, 'written').map(({ verified }) => verified)).toEqual(NAMES.map(() => ['length', 'checksum']))
    for (const name of NAMES) expect(await differenceOf(join(folder, name), contentName(`/${name}`, 0), SIZE)).toBeUndefined()
  })

  it('lets no wrong file pass', async () => {
    end.after = 0
    expect(codesOf((await fetched(1)).result)).toEqual(['FILE_INTEGRITY', 'FILE_INTEGRITY', 'FILE_INTEGRITY'])
  })
})
