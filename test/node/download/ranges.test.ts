import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../cli/folder.ts'
import { type Asking, type Fault, noise, type ServedContent } from '../../servers/file-server.ts'
import { codesOf, filesIn, itemOf, run, SMALL_RANGES, serveFiles } from './fixture.ts'

const MiB = 2 ** 20
/** What is a MiB of a file for {@link SMALL_RANGES}. */
const UNIT = MiB / 16
/** Just enough for several requests at a time. */
const bytes = noise(66 * UNIT)
const assetsOf = (content: Buffer) => ({
  data: { href: 'data.bin', 'file:checksum': `1220${createHash('sha256').update(content).digest('hex')}` },
})
const assets = assetsOf(bytes)

async function fetched(
  content: (asking: Asking) => ServedContent,
  faultOf?: (asking: Asking, n: number) => Fault | undefined,
  options = {},
) {
  const server = await serveFiles((_, asking) => content(asking), faultOf)
  const folder = await temporaryFolder()
  const result = await run([itemOf(server, assets)], { folder, server, ranges: 4, ...SMALL_RANGES, ...options })
  return { result, files: await filesIn(folder), server, folder }
}

describe('a large file', () => {
  it('a large file is requested by several requests at a time', async () => {
    const content = noise(66 * MiB)
    const server = await serveFiles(() => ({ bytes: content }))
    const folder = await temporaryFolder()
    const result = await run([itemOf(server, assetsOf(content))], { folder, server, ranges: 4 })
    expect(codesOf(result)).toEqual([])
    expect((await filesIn(folder))['data.bin']?.equals(content)).toBe(true)
    const ranges = server.asked.map(({ range }) => range)
    expect(ranges[0]).toBeUndefined()
    expect(ranges.length).toBeGreaterThan(1)
    expect(result.summary.received).toBe(content.length)
  })

  it('a large file is requested by several requests by default, while that saves time', async () => {
    // So slow that a thread which reads has nothing to do.
    const slow = (asking: Asking) => (asking.range === undefined ? { drip: 50, drop: UNIT } : undefined)
    const { result, files, server } = await fetched(() => ({ bytes }), slow, { ranges: undefined })
    expect(codesOf(result)).toEqual([])
    expect(files['data.bin']?.equals(bytes)).toBe(true)
    expect(server.asked.length).toBeGreaterThan(1)
  })

  it('a large file is requested once where its server offers no parts, and where that was wanted', async () => {
    const silent = await fetched(() => ({ bytes, headers: { 'accept-ranges': 'none' } }))
    expect(silent.server.asked).toHaveLength(1)
    const alone = await fetched(() => ({ bytes }), undefined, { ranges: 1 })
    expect(alone.server.asked).toHaveLength(1)
    expect(alone.files['data.bin']?.equals(bytes)).toBe(true)
  })

  it('a large file is complete from a server that cuts parts short', async () => {
    const cut = (asking: Asking, n: number) => (n < 6 ? { endAfter: asking.range ? 5 * UNIT : 20 * UNIT } : undefined)
    const { result, files } = await fetched(() => ({ bytes }), cut)
    expect(codesOf(result)).toEqual([])
    expect(files['data.bin']?.equals(bytes)).toBe(true)
    expect(result.summary.received).toBe(bytes.length)
  })

  it('continues in the next run with the gaps only', async () => {
    let n = 0
    const cut = () => (n++ < 4 ? { endAfter: 4 * UNIT } : { status: 404, body: '' })
    const server = await serveFiles(
      () => ({ bytes }),
      () => (n < 100 ? cut() : undefined),
    )
    const folder = await temporaryFolder()
    const first = await run([itemOf(server, assets)], { folder, server, retries: 0, ranges: 4, ...SMALL_RANGES })
    expect(codesOf(first)).toHaveLength(1)
    n = 100
    const second = await run([itemOf(server, assets)], { folder, server, ranges: 1, ...SMALL_RANGES })
    expect(codesOf(second)).toEqual([])
    expect((await filesIn(folder))['data.bin']?.equals(bytes)).toBe(true)
    expect(first.summary.received + second.summary.received).toBe(bytes.length)
  })

  it('a large file is begun anew when it changes under the requests', async () => {
    const next = noise(bytes.length, 'b')
    const hash = createHash('sha256').update(next).digest('hex')
    let hasChanged = false
    const content = ({ range }: Asking) => {
      if (range) hasChanged = true
      return { bytes: hasChanged ? next : bytes }
    }
    const server = await serveFiles((_, asking) => content(asking))
    const folder = await temporaryFolder()
    const result = await run([itemOf(server, { data: { href: 'data.bin', 'file:checksum': `1220${hash}` } })], {
      folder,
      server,
      ranges: 4,
      ...SMALL_RANGES,
    })
    expect(codesOf(result)).toEqual([])
    expect((await filesIn(folder))['data.bin']?.equals(next)).toBe(true)
  })

  it.each([
    ['without ETag', null],
    ['with a weak ETag', 'W/"a"'],
  ])('a large file is not put together from parts %s of a changed file', async (_, etag) => {
    const next = noise(bytes.length, 'b')
    const server = await serveFiles(
      (_path, { range }) => (range ? { bytes: next, etag } : { bytes: server.asked.length > 1 ? next : bytes, etag: '"a"' }),
      (asking) => ({ ignoreIfRange: true, ...(asking.range === undefined && { drip: 5, drop: UNIT }) }),
    )
    const folder = await temporaryFolder()
    const result = await run([itemOf(server, { data: { href: 'data.bin' } })], { folder, server, ranges: 4, ...SMALL_RANGES })
    expect(codesOf(result)).toEqual([])
    const file = (await filesIn(folder))['data.bin']
    expect([file?.equals(bytes), file?.equals(next)].filter(Boolean)).toHaveLength(1)
    expect(server.asked.some(({ range }) => range !== undefined)).toBe(true)
  })
})
