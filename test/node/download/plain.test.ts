import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { createEngine } from '../../../src/auth/create-engine.ts'
import { apiKey as keyCredential } from '../../../src/auth/credential.ts'
import { singleStep } from '../../../src/auth/strategy.ts'
import type { DownloadEvent } from '../../../src/node/download/download.ts'
import { download } from '../../../src/node/download/download.ts'
import { apiKey } from '../../../src/strategies/api-key.ts'
import { temporaryFolder } from '../../cli/folder.ts'
import { startProtectedFiles } from '../../servers/protected-files.ts'

const server = await startProtectedFiles({ '/a.dat': { content: 'aaaa' }, '/b.dat': { content: 'bb' } })
afterAll(() => server.close())

describe('download', () => {
  it('writes every asset and reports of it', async () => {
    const folder = await temporaryFolder()
    const auth = createAuth({ credentials: [], typed: [server.origin] })
    const assets = { a: { href: 'a.dat' }, b: { href: 'b.dat' } }
    const document = { type: 'Feature', id: 'one', properties: {}, assets }
    const events: DownloadEvent[] = []
    for await (const event of download([{ document, url: `${server.origin}/item.json` }], { folder, auth })) events.push(event)
    expect(events.at(-1)).toMatchObject({ kind: 'summary', files: 2, written: 2, failed: 0, bytes: 6 })
    expect(await readdir(join(folder, 'one'))).toEqual(['a.dat', 'b.dat'])
    expect(await readFile(join(folder, 'one/a.dat'), 'utf8')).toBe('aaaa')
  })

  it("reports a fault in the caller's code as such, not as one of the network", async () => {
    const folder = await temporaryFolder()
    const strategy = { ...apiKey, authorize: singleStep(() => Promise.reject(new TypeError('A-17 is undefined'))), peek: undefined }
    const key = { in: 'header', name: 'x-key' } as const
    const auth = createEngine({ credentials: keyCredential('A-17', key, `${server.origin}/`), strategies: [strategy as never] })
    const properties = { 'auth:schemes': { desk: { type: 'apiKey', ...key } } }
    const document = { type: 'Feature', id: 'one', properties, assets: { a: { href: 'a.dat', 'auth:refs': ['desk'] } } }
    const events: DownloadEvent[] = []
    for await (const event of download([{ document, url: `${server.origin}/item.json` }], { folder, auth })) events.push(event)
    const error = { code: 'INTERNAL', message: 'internal error: unexpected TypeError' }
    expect(events.find(({ kind }) => kind === 'failed')).toMatchObject({ error })
  })
})
