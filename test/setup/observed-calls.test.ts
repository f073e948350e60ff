import { mkdtempSync, rmSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { AuthError } from '../../src/errors.ts'
import { foreignErrors, isObserved, leftFiles, observed, observeMethods, whileWriting } from './observed-calls.ts'

/** An error whose stack begins in the library. */
function ofLibrary(error: Error): Error {
  error.stack = `${error.name}: ${error.message}\n    at work (/project/src/auth/work.ts:1:1)`
  return error
}

const notAFunction = () => ofLibrary(new TypeError('x.y is not a function'))

async function* failing(): AsyncGenerator<number> {
  yield 1
  throw notAFunction()
}

afterEach(() => {
  foreignErrors()
})

describe('an error that leaves the library', () => {
  it.each([
    [
      'is thrown',
      () => {
        throw notAFunction()
      },
    ],
    ['rejects a promise', () => Promise.reject(notAFunction())],
    [
      'ends a generator',
      async () => {
        for await (const _ of observed('failing', failing)());
      },
    ],
    [
      'comes from a method of what was returned',
      () =>
        observed('created', () => ({
          go: () => {
            throw notAFunction()
          },
        }))().go(),
    ],
    [
      'comes from a method of what was promised',
      async () =>
        (
          await observed('created', async () => ({
            go: () => {
              throw notAFunction()
            },
          }))()
        ).go(),
    ],
    [
      'is a system error',
      () => {
        throw ofLibrary(Object.assign(new Error('no such file'), { code: 'ENOENT' }))
      },
    ],
  ])('is noted when it %s', async (_, work) => {
    await expect((async () => observed('work', work as () => unknown)())()).rejects.toThrow()
    expect(foreignErrors().length).toBeGreaterThan(0)
    expect(foreignErrors()).toEqual([])
  })

  it.each([
    ['one of ours', () => new AuthError('NETWORK_FAILED', 'connection refused')],
    ['a refused argument', () => ofLibrary(new TypeError('pageSize must be a whole number from 1 to 1000'))],
    ['thrown by a function of the caller', () => new Error('a callback failed')],
  ])('is right when it is %s', (_, error) => {
    expect(() =>
      observed('work', () => {
        throw error()
      })(),
    ).toThrow()
    expect(foreignErrors()).toEqual([])
  })

  it('is noted when a method of a class throws it', () => {
    class Client {
      send() {
        throw notAFunction()
      }
    }
    observeMethods('Client', Client)
    expect(() => new Client().send()).toThrow('is not a function')
    expect(foreignErrors()).toEqual([expect.stringMatching(/^Client\.send: TypeError/)])
  })
})

describe('what work leaves', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stac-auth-left-'))
  const path = (name: string) => join(folder, name)
  afterAll(() => rmSync(folder, { recursive: true }))

  it.each([
    ['a partial file without a journal', ['a.part'], ['a.part']],
    ['a journal without its partial file', ['b.part.json'], ['b.part.json']],
    ['a partial file whose journal names no version', ['c.part', 'c.part.json'], ['c.part', 'c.part.json']],
    ['a lock', ['d.part.lock'], ['d.part.lock']],
    ['a file that has no name yet', ['e.tmp'], ['e.tmp']],
    ['what has its name', ['f.tif'], []],
  ])('is noted when it is %s', async (_, names, left) => {
    await whileWriting(async () => {
      for (const name of names) await writeFile(path(name), '{"format":1}\n')
    })
    expect(leftFiles()).toEqual(left.map(path))
    expect(leftFiles()).toEqual([])
  })

  it('is right when it can be resumed, was there before, or is gone', async () => {
    await writeFile(path('of-others.part'), '')
    await whileWriting(async () => {
      await writeFile(path('g.part'), '')
      await writeFile(path('g.part.json'), '{"format":1,"url":"https://data.example/g","validator":"\\"1\\""}\n[0,1]\n[1,')
      await writeFile(path('h.tmp'), '')
      await rename(path('h.tmp'), path('h.tif'))
    })
    expect(leftFiles()).toEqual([])
  })

  it('is looked at once nothing writes any more, also after a failure', async () => {
    let finish = () => {}
    const other = whileWriting(() => new Promise<void>((resolve) => (finish = resolve)))
    const failed = whileWriting(async () => {
      await writeFile(path('i.part'), '')
      throw new Error('the disk is full')
    })
    await expect(failed).rejects.toThrow('full')
    await rm(path('i.part'))
    await writeFile(path('j.part'), '')
    finish()
    await other
    expect(leftFiles()).toEqual([path('j.part')])
  })
})

describe('the public functions and classes', () => {
  it.each([
    ['stac-auth', import('../../src/index.ts')],
    ['lint', import('../../src/lint/index.ts')],
    ['crawl', import('../../src/crawl/index.ts')],
    ['objects', import('../../src/objects/index.ts')],
    ['node', import('../../src/node/index.ts')],
    ['clients', import('../../src/services/client/index.ts')],
    ['translation', import('../../src/services/translation/index.ts')],
    ['time-tracking', import('../../src/services/time-tracking/index.ts')],
    ['outputs', import('../../src/outputs/index.ts')],
    ['browser', import('../../src/browser/index.ts')],
    ['adapters/axios', import('../../src/adapters/axios.ts')],
  ])('of %s are observed in every test', async (_, entry) => {
    // Questions about a scheme fail for nothing; a secret gives what a function of the caller gives, failures included.
    const isExempt = (name: string) => name === 'Secret' || /^is\w+Scheme$/.test(name)
    const all = Object.entries(await entry).filter(([name, value]) => typeof value === 'function' && !isExempt(name))
    expect(all.length).toBeGreaterThan(0)
    expect(all.flatMap(([name, value]) => (isObserved(value) ? [] : [name]))).toEqual([])
  })
})
