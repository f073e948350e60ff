import { afterEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../cli/folder.ts'
import { type FileServer, noise, startFileServer } from '../../servers/file-server.ts'
import { codesOf, filesIn, itemOf, ofKind, run } from './fixture.ts'

const servers: FileServer[] = []
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())))

/** Gives every file, but nothing for so many requests. */
async function serve(failures = 0): Promise<FileServer> {
  const server = await startFileServer(
    (path) => ({ bytes: noise(3000, path) }),
    (_, n) => (n < failures ? { status: 404 } : undefined),
  )
  servers.push(server)
  return server
}

const twice = { a: { href: 'data.bin' }, b: { href: 'data.bin' } }

describe('a file that is wanted twice', () => {
  it.each(['keep', 'refuse', 'replace'] as const)('a file that is wanted twice is fetched once (%s)', async (existing) => {
    const server = await serve()
    const folder = await temporaryFolder()
    const result = await run([itemOf(server, twice), itemOf(server, twice)], { folder, server, existing })
    expect(result.summary).toMatchObject({ files: 4, written: 1, kept: 3, failed: 0 })
    expect([server.asked.length, Object.keys(await filesIn(folder))]).toEqual([1, ['data.bin']])
  })

  it('a file that is wanted twice is tried again when the first of them did not succeed', async () => {
    const server = await serve(1)
    const folder = await temporaryFolder()
    const result = await run([itemOf(server, { ...twice, c: twice.a })], { folder, server })
    expect(codesOf(result)).toEqual(['HTTP_404'])
    expect(result.summary).toMatchObject({ files: 3, written: 1, kept: 1 })
    expect(server.asked).toHaveLength(2)
  })

  it('a file that is wanted twice has no name of its own, as other files have', async () => {
    const server = await serve()
    const folder = await temporaryFolder()
    const others = { c: { href: 'other/data.bin' }, d: { href: 'data.bin?v=2' }, e: { href: 'other/data.bin' } }
    const renamed = await run([itemOf(server, { ...twice, ...others })], { folder, server, collisions: 'rename' })
    expect(renamed.summary).toMatchObject({ files: 5, written: 3, kept: 2 })
    const files = await filesIn(folder)
    expect(Object.keys(files).sort()).toEqual(['data.bin', 'data~2.bin', 'data~3.bin'])
    expect(files['data~2.bin']?.equals(noise(3000, '/other/data.bin'))).toBe(true)
    const refused = await run([itemOf(server, { ...twice, ...others })], { folder: await temporaryFolder(), server })
    expect(codesOf(refused)).toEqual(['PATH_COLLISION', 'PATH_COLLISION', 'PATH_COLLISION'])
  })

  it('a file that is wanted twice is refused where the second promise is not kept', async () => {
    const server = await serve()
    const assets = { a: { href: 'data.bin' }, b: { href: 'data.bin', 'file:size': 5 } }
    expect(codesOf(await run([itemOf(server, assets)], { folder: await temporaryFolder(), server }))).toEqual(['PATH_EXISTS'])
  })

  it('a file that is requested twice has one copy of its document, which others of that name do not have', async () => {
    const server = await serve()
    const options = { server, documents: true, template: '{id}/{name}' }
    const same = await run([itemOf(server, twice), itemOf(server, twice)], { ...options, folder: await temporaryFolder() })
    expect(ofKind(same, 'document').map(({ error }) => error)).toEqual([undefined])
    const links = [{ rel: 'self', href: 'another.json' }]
    const other = itemOf(server, { a: { href: 'other.bin' } }, { links })
    const result = await run([itemOf(server, twice), other], { ...options, folder: await temporaryFolder() })
    expect(
      ofKind(result, 'document')
        .map(({ error }) => error?.code ?? 'written')
        .sort(),
    ).toEqual(['PATH_COLLISION', 'written'])
  })
})
