import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import type { DownloadEvent } from '../../../src/node/download/download.ts'
import { download } from '../../../src/node/download/download.ts'
import { temporaryFolder } from '../../cli/folder.ts'
import { startProtectedFiles } from '../../servers/protected-files.ts'

const server = await startProtectedFiles({ '/a.tif': { content: 'aaaa' }, '/b.tif': { content: 'bb' } })
afterAll(() => server.close())

describe('download', () => {
  it('writes every asset and reports of it', async () => {
    const folder = await temporaryFolder()
    const auth = createAuth({ credentials: [], typed: [server.origin] })
    const assets = { a: { href: 'a.tif' }, b: { href: 'b.tif' } }
    const document = { type: 'Feature', id: 'one', properties: {}, assets }
    const events: DownloadEvent[] = []
    for await (const event of download([{ document, url: `${server.origin}/item.json` }], { folder, auth })) events.push(event)
    expect(events.at(-1)).toMatchObject({ kind: 'summary', files: 2, written: 2, failed: 0, bytes: 6 })
    expect(await readdir(join(folder, 'one'))).toEqual(['a.tif', 'b.tif'])
    expect(await readFile(join(folder, 'one/a.tif'), 'utf8')).toBe('aaaa')
  })
})
