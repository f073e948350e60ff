import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../cli/folder.ts'
import { type Fault, type FileServer, noise, tagOf } from '../../servers/file-server.ts'
import { codesOf, filesIn, itemOf, namesIn, ofKind, run, serveFiles } from './fixture.ts'

const MiB = 2 ** 20
/** Serves files whose names are their sizes in bytes: `/700.bin`. */
async function serve(fault?: Fault): Promise<FileServer> {
  const content = (path: string) => ({ bytes: noise(Number(/\d+/.exec(path)?.[0]), path) })
  const server = await serveFiles(content, () => fault)
  return server
}

const assetsOf = (sizes: readonly number[], promise = false) =>
  Object.fromEntries(sizes.map((size) => [`a${size}`, { href: `${size}.bin`, ...(promise && { 'file:size': size }) }]))

async function limited(server: FileServer, assets: object, limits: object, options = {}) {
  const folder = await temporaryFolder()
  const result = await run([itemOf(server, assets)], { folder, server, assets: limits, ...options })
  return { result, folder, names: (await namesIn(folder)).map((name) => name.replace('.bin', '')) }
}

describe('assets.minSize and assets.maxSize', () => {
  it('assets.minSize and assets.maxSize omit files by file:size without a request, both limits included', async () => {
    const server = await serve()
    const { result, names } = await limited(server, assetsOf([9, 10, 20, 21], true), { minSize: 10, maxSize: 20 })
    expect([names, server.asked.length]).toEqual([['10', '20'], 2])
    expect(result.summary).toMatchObject({ files: 2, written: 2, skipped: 0, failed: 0 })
  })

  it('assets.minSize and maxSize omit files by response length where file:size is missing', async () => {
    const server = await serve()
    const { result, names } = await limited(server, assetsOf([9, 10, 20, 21, 3 * MiB]), { minSize: 10, maxSize: 20 })
    expect(names).toEqual(['10', '20'])
    expect(ofKind(result, 'skipped').map(({ file, size }) => [file.key, size])).toEqual(
      expect.arrayContaining([
        ['a9', 9],
        ['a21', 21],
        [`a${3 * MiB}`, 3 * MiB],
      ]),
    )
    expect(result.summary).toMatchObject({ files: 5, written: 2, skipped: 3, failed: 0, bytes: 30, received: 30, retries: 0 })
    expect(ofKind(result, 'started')).toHaveLength(2)
  })

  it('download a file of unknown size', async () => {
    const server = await serve({ framing: 'chunked' })
    expect((await limited(server, assetsOf([500]), { maxSize: 20 })).names).toEqual(['500'])
  })

  it('assets.minSize and assets.maxSize ask no alternate for a file that is omitted', async () => {
    const server = await serve()
    const asset = { href: '500.bin', alternate: { mirror: { href: 'mirror/500.bin' } } }
    const { result } = await limited(server, { asset }, { maxSize: 20 })
    expect([result.summary.skipped, server.asked.map(({ path }) => path)]).toEqual([1, ['/500.bin']])
  })

  it('report a refused request as a failure, whatever its size', async () => {
    const server = await serve({ status: 404, body: 'x'.repeat(500) })
    const { result } = await limited(server, assetsOf([5]), { maxSize: 20 })
    expect([codesOf(result), result.summary.skipped]).toEqual([['HTTP_404'], 0])
  })

  it('report a length that is not file:size as a failure', async () => {
    const server = await serve()
    const { result } = await limited(server, { a: { href: '500.bin', 'file:size': 10 } }, { maxSize: 20 })
    expect([codesOf(result), result.summary.skipped]).toEqual([['FILE_INTEGRITY'], 0])
  })

  it.each([0, 1])('assets.minSize and assets.maxSize leave the part of an earlier run as it is: %i bytes missing', async (missing) => {
    const server = await serve()
    const size = 3 * MiB
    const bytes = noise(size, `/${size}.bin`)
    const folder = await temporaryFolder()
    const version = { format: 1, url: `${server.origin}/${size}.bin`, validator: tagOf(bytes), size }
    const there = size - missing
    await writeFile(join(folder, `${size}.bin.part`), bytes.subarray(0, there))
    await writeFile(join(folder, `${size}.bin.part.json`), `${JSON.stringify(version)}\n${JSON.stringify([0, there])}\n`)
    const options = { folder, server, assets: { maxSize: MiB } }
    const { summary } = await run([itemOf(server, assetsOf([size]))], options)
    expect(summary).toMatchObject({ skipped: 1, failed: 0 })
    expect((await filesIn(folder))[`${size}.bin.part`]?.length).toBe(there)
    const later = await run([itemOf(server, assetsOf([size]))], { folder, server })
    expect([later.summary.received, (await filesIn(folder))[`${size}.bin`]?.equals(bytes)]).toEqual([missing, true])
  })

  it('assets.minSize and assets.maxSize do not choose among single targets', async () => {
    const server = await serve()
    const { assetOf } = await import('../../../src/stac/target.ts')
    const { document, url } = itemOf(server, assetsOf([500]))
    const target = assetOf(document, 'a500', { url })
    const { summary } = await run(target ? [target] : [], { folder: await temporaryFolder(), server, assets: { maxSize: 20 } })
    expect(summary).toMatchObject({ written: 1, skipped: 0 })
  })

  it.each([{ minSize: 21, maxSize: 20 }, { maxSize: -1 }, { minSize: Number.NaN }])(
    'assets.minSize and assets.maxSize are refused as CONFIG_INVALID: %j',
    async (limits) => {
      const server = await serve()
      await expect(limited(server, assetsOf([5]), limits)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    },
  )
})
