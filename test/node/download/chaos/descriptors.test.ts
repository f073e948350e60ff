import { afterAll, describe, expect, it } from 'vitest'
import { digestOf } from '../../../servers/chaos/depot-content.ts'
import { contentName } from '../../../servers/chaos/file-depot.ts'
import { namesIn } from '../fixture.ts'
import { chaosRun } from './chaos-run.ts'
import type { Work } from './download-process.ts'
import { processStarter } from './started-process.ts'

const { start, remove } = await processStarter()
afterAll(remove)

describe('few descriptors', () => {
  it.each<[string, number, number, NonNullable<Work['options']>]>([
    ['as many as usual at a time', 120, 70_000, {}],
    ['small ones', 80, 300_000, { concurrency: 60, perHost: 60 }],
    ['large ones', 30, 2_000_000, { concurrency: 30, perHost: 30 }],
  ])('few descriptors make files wait for each other: %s', async (_, count, size, options) => {
    const files = Object.fromEntries(Array.from({ length: count }, (_none, at) => [`/${at}.bin`, { size }]))
    const { proxy, folder } = await chaosRun({ files })
    const checksums = Object.keys(files).map((path) => `1220${digestOf(contentName(path, 0), size)}`)
    const work = { folder, origin: proxy.origin, count, checksums, options }
    const { summary, codes, stderr } = await start(work, { before: 'ulimit -n 64' }).ended
    expect([codes, stderr]).toEqual([[], ''])
    expect(summary).toMatchObject({ written: count })
    expect((await namesIn(folder)).length).toBe(count)
  })
})
