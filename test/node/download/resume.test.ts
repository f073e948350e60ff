import { createHash } from 'node:crypto'
import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../cli/folder.ts'
import { type Asking, type Fault, type FileServer, noise, type ServedContent, startFileServer } from '../../servers/file-server.ts'
import { codesOf, filesIn, itemOf, ofKind, run } from './fixture.ts'

const MiB = 2 ** 20
const bytes = noise(5 * MiB + 17)
const asset = {
  data: { href: 'data.bin', 'file:size': bytes.length, 'file:checksum': `1220${createHash('sha256').update(bytes).digest('hex')}` },
}

const servers: FileServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function serve(
  faultOf: (asking: Asking, n: number) => Fault | undefined,
  content: ServedContent | (() => ServedContent) = { bytes },
) {
  const server = await startFileServer(() => (typeof content === 'function' ? content() : content), faultOf)
  servers.push(server)
  return server
}

describe('a download that is interrupted', () => {
  it('continues where it was cut, in one run', async () => {
    const server = await serve((_, n) => (n < 3 ? { resetAfter: 1.5 * MiB } : undefined))
    const folder = await temporaryFolder()
    const result = await run([itemOf(server, asset)], { folder, server })
    expect(result.summary).toMatchObject({ written: 1, failed: 0, bytes: bytes.length, retries: 3 })
    expect(Object.keys(await filesIn(folder))).toEqual(['data.bin'])
    expect((await filesIn(folder))['data.bin']?.equals(bytes)).toBe(true)
    expect(server.violations).toEqual([])
    expect(server.asked.map(({ range }) => range === undefined)).toEqual([true, false, false, false])
    expect(result.summary.received).toBe(bytes.length)
    expect(ofKind(result, 'written')[0]?.verified).toEqual(['size', 'checksum'])
  })

  it('continues in the next run', async () => {
    let isDown = false
    const server = await serve((_, n) => (n === 0 ? { endAfter: 3 * MiB } : isDown ? { status: 404, body: '' } : undefined))
    const folder = await temporaryFolder()
    isDown = true
    const first = await run([itemOf(server, asset)], { folder, server, retries: 0 })
    expect(codesOf(first)).toEqual(['FILE_INCOMPLETE'])
    expect(ofKind(first, 'failed')[0]?.resumable).toBeGreaterThanOrEqual(2 * MiB)
    expect(Object.keys(await filesIn(folder)).sort()).toEqual(['data.bin.part', 'data.bin.part.json'])
    isDown = false
    const second = await run([itemOf(server, asset)], { folder, server })
    expect(ofKind(second, 'started')[0]?.resumed).toBe(ofKind(first, 'failed')[0]?.resumable)
    expect(second.summary).toMatchObject({ written: 1, failed: 0 })
    expect(Object.keys(await filesIn(folder))).toEqual(['data.bin'])
    expect((await filesIn(folder))['data.bin']?.equals(bytes)).toBe(true)
    expect(server.violations).toEqual([])
  })

  it('notes the entity tag of a file that only lacked its name', async () => {
    const server = await serve((_, n) => (n === 0 ? { endAfter: 3 * MiB } : undefined), { bytes, etag: '"v1"' })
    const folder = await temporaryFolder()
    await run([itemOf(server, asset)], { folder, server, retries: 0 })
    const part = join(folder, 'data.bin.part')
    await writeFile(part, bytes)
    await appendFile(`${part}.json`, `\n[0,${bytes.length}]`)
    expect((await run([itemOf(server, asset)], { folder, server })).summary).toMatchObject({ written: 1, received: 0 })
    const lines = (await readFile(join(folder, '.stac-auth-manifest'), 'utf8')).trim().split('\n')
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ path: 'data.bin', etag: '"v1"' })
    expect(server.asked.length).toBe(1)
  })

  it.each([
    ['a page of a login', { 'content-type': 'text/html' }, '<html>log in</html>'],
    ['a body that never ends', { 'transfer-encoding': 'identity', connection: 'close' }, 'x'],
  ])('loses nothing to %s that comes instead of the rest', async (_, headers, body) => {
    let isAway = false
    const server = await serve((_asking, n) => (n === 0 ? { endAfter: 3 * MiB } : isAway ? { status: 200, headers, body } : undefined))
    const folder = await temporaryFolder()
    isAway = true
    const typed = { data: { ...asset.data, type: 'image/tiff' } }
    const first = await run([itemOf(server, typed)], { folder, server, strict: true })
    expect(ofKind(first, 'failed')[0]?.resumable).toBeGreaterThanOrEqual(2 * MiB)
    isAway = false
    const second = await run([itemOf(server, typed)], { folder, server })
    expect(second.summary.received).toBe(bytes.length - (ofKind(first, 'failed')[0]?.resumable ?? 0))
    expect((await filesIn(folder))['data.bin']?.equals(bytes)).toBe(true)
  })
})
