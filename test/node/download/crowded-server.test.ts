import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../cli/folder.ts'
import { differenceOf } from '../../servers/chaos/depot-content.ts'
import { contentName, startFileDepot } from '../../servers/chaos/file-depot.ts'
import { itemOf, run } from './fixture.ts'

/** Enough for several requests at a time. */
const SIZE = 65 * 2 ** 20

describe('large files of a server that is asked little at a time', () => {
  it.each([
    [1, 1],
    [2, 2],
    [3, 2],
  ])('large files of a server that is asked little at a time come whole: %d files, %d requests', async (count, perHost) => {
    const depot = await startFileDepot({ files: () => ({ size: SIZE }) })
    onTestFinished(() => depot.close())
    const folder = await temporaryFolder()
    const names = Array.from({ length: count }, (_, index) => `${index}.bin`)
    const assets = Object.fromEntries(names.map((name) => [name, { href: name }]))
    const { summary } = await run([itemOf(depot, assets)], { folder, server: depot, perHost, ranges: 4 })
    expect(summary).toMatchObject({ written: count, failed: 0, retries: 0 })
    const differences = names.map((name) => differenceOf(join(folder, name), contentName(`/${name}`, 0), SIZE))
    expect(await Promise.all(differences)).toEqual(names.map(() => undefined))
  })
})
