import { createHash } from 'node:crypto'
import { appendFile, link, mkdir, readdir, readFile, rm, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { type VerifyEvent, type VerifyOptions, verifyFolder } from '../../../src/node/download/index.ts'
import { MANIFEST_NAME } from '../../../src/node/download/manifest.ts'
import { temporaryFolder } from '../../cli/folder.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { noise } from '../../servers/file-server.ts'
import { codesOf, filesIn, itemOf, ofKind, run, serveBy } from './fixture.ts'

/** Files that may change, with a log of what was asked; the token is wanted below `/private/`. */
async function archive(files: Record<string, { bytes: Buffer; etag?: string; modified?: string }>) {
  const asked: string[] = []
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const { range, authorization } = request.headers
    const path = (request.url ?? '').replace(/\?.*/, '')
    asked.push(`${request.method} ${path}${range === undefined ? '' : ` ${range}`}`)
    const file = files[path]
    if (path.startsWith('/private/') && authorization !== 'Bearer right')
      return response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
    if (!file) return response.writeHead(404).end()
    const { bytes, etag, modified } = file
    const more = { ...(etag && { etag }), ...(modified && { 'last-modified': modified }) }
    if (range === undefined) return response.writeHead(200, { 'content-length': bytes.length, ...more }).end(bytes)
    if (bytes.length === 0) return response.writeHead(416, { 'content-range': 'bytes */0' }).end()
    response.writeHead(206, { 'content-range': `bytes 0-0/${bytes.length}`, 'content-length': 1, ...more }).end(bytes.subarray(0, 1))
  }
  return { origin: await serveBy(answer), asked, files }
}

const small = noise(5000)
const large = noise(3 * 2 ** 20, 'l')
const assets = { data: { href: 'data.bin?sig=hunter2' }, large: { href: 'large.bin' } }
const both = () => archive({ '/data.bin': { bytes: small, etag: '"one"' }, '/large.bin': { bytes: large, etag: 'W/"two"' } })
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const linesOf = async (path: string) =>
  (await readFile(path, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('a second run', () => {
  it.each<[string, (path: string) => Promise<unknown>, RegExp]>([
    ['truncated', (path) => truncate(path, 100), /differs from what was downloaded: it has 100 bytes and had 5000/],
    ['corrupt', (path) => writeFile(path, noise(5000, 'x')), /differs from what was downloaded: its content has changed/],
    ['longer', (path) => appendFile(path, 'x'), /it has 5001 bytes/],
  ])('notices a file that is %s since', async (_, change, message) => {
    const server = await both()
    const folder = await temporaryFolder()
    expect((await run([itemOf(server, assets)], { folder, server })).summary).toMatchObject({ written: 2 })
    await change(join(folder, 'data.bin'))
    await utimes(join(folder, 'data.bin'), 1, 1)
    const again = await run([itemOf(server, assets)], { folder, server })
    expect(ofKind(again, 'failed').map(({ error }) => [error.code, error.message])).toEqual([
      ['PATH_EXISTS', expect.stringMatching(message)],
    ])
    expect(ofKind(again, 'kept').map(({ verified: checks }) => checks)).toEqual([['manifest']])
    expect((await run([itemOf(server, assets)], { folder, server, existing: 'replace' })).summary).toMatchObject({ written: 2 })
    expect((await run([itemOf(server, assets)], { folder, server })).summary).toMatchObject({ kept: 2, failed: 0 })
  })

  it('keeps a file that was only touched or copied back', async () => {
    const server = await both()
    const folder = await temporaryFolder()
    await run([itemOf(server, assets)], { folder, server })
    await utimes(join(folder, 'data.bin'), 1, 1)
    expect((await run([itemOf(server, assets)], { folder, server })).summary).toMatchObject({ kept: 2 })
  })

  it('asks no server and adds no line for files that stay', async () => {
    const server = await both()
    const folder = await temporaryFolder()
    await run([itemOf(server, assets)], { folder, server })
    const [{ size }, asked] = [await stat(join(folder, MANIFEST_NAME)), server.asked.length]
    await run([itemOf(server, assets)], { folder, server })
    expect([(await stat(join(folder, MANIFEST_NAME))).size, server.asked.length]).toEqual([size, asked])
  })

  it('does not take what was noted about another URL', async () => {
    const server = await archive({ '/a/data.bin': { bytes: small }, '/b/data.bin': { bytes: small } })
    const folder = await temporaryFolder()
    await run([itemOf(server, { data: { href: 'a/data.bin' } })], { folder, server })
    await truncate(join(folder, 'data.bin'), 10)
    const other = await run([itemOf(server, { data: { href: 'b/data.bin' } })], { folder, server })
    expect(ofKind(other, 'kept').map(({ verified: checks }) => checks)).toEqual([[]])
  })
})

describe('the manifest of a folder', () => {
  it('the manifest of a folder has what was downloaded, with validators and without any query', async () => {
    const server = await both()
    const folder = await temporaryFolder()
    await run([itemOf(server, assets)], { folder, server })
    const text = await readFile(join(folder, MANIFEST_NAME), 'utf8')
    expect(text).not.toContain('hunter2')
    const [header, ...entries] = await linesOf(join(folder, MANIFEST_NAME))
    expect(header).toEqual({ format: 'stac-auth/manifest', version: 1 })
    const common = { time: expect.stringMatching(/^20/), modified: expect.any(Number) }
    expect(entries.sort((one, other) => one.size - other.size)).toEqual([
      { path: 'data.bin', url: `${server.origin}/data.bin`, hadQuery: true, size: 5000, sha256: sha256(small), etag: '"one"', ...common },
      { path: 'large.bin', url: `${server.origin}/large.bin`, size: large.length, sha256: sha256(large), etag: 'W/"two"', ...common },
    ])
  })

  it('continues after a line that a kill has cut, and takes the last line of a file', async () => {
    const server = await both()
    const folder = await temporaryFolder()
    await run([itemOf(server, assets)], { folder, server })
    await appendFile(join(folder, MANIFEST_NAME), '{"path":"data.bin","url":"htt')
    await run([itemOf(server, assets)], { folder, server, existing: 'replace' })
    expect((await run([itemOf(server, assets)], { folder, server })).summary).toMatchObject({ kept: 2 })
    await truncate(join(folder, 'large.bin'), 10)
    expect(codesOf(await run([itemOf(server, assets)], { folder, server }))).toEqual(['PATH_EXISTS'])
  })

  it('the manifest of a folder is never written through a link, and its loss stops no download', async () => {
    const server = await both()
    const [folder, elsewhere] = [await temporaryFolder(), join(await temporaryFolder(), 'elsewhere')]
    await writeFile(elsewhere, '')
    await symlink(elsewhere, join(folder, MANIFEST_NAME))
    const result = await run([itemOf(server, assets)], { folder, server })
    expect(result.summary).toMatchObject({ written: 2, failed: 0 })
    expect(ofKind(result, 'warning').map(({ code }) => code)).toEqual(['PATH_UNSAFE'])
    expect(await readFile(elsewhere, 'utf8')).toBe('')
  })

  it.each(['', 'alias ls=ls\n'])(
    'the manifest of a folder is not added to another file with a hard link of its name (%j)',
    async (text) => {
      const server = await both()
      const [folder, elsewhere] = [await temporaryFolder(), join(await temporaryFolder(), 'elsewhere')]
      await writeFile(elsewhere, text)
      await link(elsewhere, join(folder, MANIFEST_NAME))
      const result = await run([itemOf(server, assets)], { folder, server })
      expect(result.summary).toMatchObject({ written: 2, failed: 0 })
      expect(ofKind(result, 'warning').map(({ code }) => code)).toEqual(['PATH_EXISTS'])
      expect(await readFile(elsewhere, 'utf8')).toBe(text)
    },
  )

  it('the manifest of a folder is not made by a dry run', async () => {
    const folder = await temporaryFolder()
    await run([itemOf(await both(), assets)], { folder, dryRun: true, manifest: join(folder, 'm.ndjson') })
    expect(await readdir(folder)).toEqual([])
  })
})

describe('verify', () => {
  it('keeps what its server still has, by one byte of each', async () => {
    const server = await both()
    const folder = await temporaryFolder()
    await run([itemOf(server, assets)], { folder, server })
    server.asked.length = 0
    const again = await run([itemOf(server, assets)], { folder, server, verify: true })
    expect(ofKind(again, 'kept').map(({ verified: checks }) => checks)).toEqual([
      ['manifest', 'server'],
      ['manifest', 'server'],
    ])
    expect(server.asked.sort()).toEqual(['GET /data.bin bytes=0-0', 'GET /large.bin bytes=0-0'])
  })

  it.each<[string, { bytes: Buffer; etag?: string; modified?: string }, { bytes: Buffer; etag?: string; modified?: string }]>([
    ['another length', { bytes: small }, { bytes: noise(6000) }],
    ['another entity tag', { bytes: small, etag: '"a"' }, { bytes: small, etag: '"b"' }],
    [
      'another date',
      { bytes: small, modified: 'Mon, 01 Jan 2024 00:00:00 GMT' },
      { bytes: small, modified: 'Tue, 02 Jan 2024 00:00:00 GMT' },
    ],
  ])('refuses what its server has with %s by now', async (_, before, after) => {
    const server = await archive({ '/data.bin': before })
    const folder = await temporaryFolder()
    const item = itemOf(server, { data: { href: 'data.bin' } })
    await run([item], { folder, server })
    server.files['/data.bin'] = after
    const again = await run([item], { folder, server, verify: true })
    expect(ofKind(again, 'failed').map(({ error }) => [error.code, error.message])).toEqual([
      ['PATH_EXISTS', expect.stringContaining('differs from the file on its server')],
    ])
    expect((await filesIn(folder))['data.bin']?.equals(small)).toBe(true)
  })

  it('finds a truncated file of which nothing was noted', async () => {
    const server = await both()
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'data.bin'), small.subarray(0, 10))
    const item = itemOf(server, { data: { href: 'data.bin' } })
    expect(ofKind(await run([item], { folder, server }), 'kept').map(({ verified: checks }) => checks)).toEqual([[]])
    expect(codesOf(await run([item], { folder, server, verify: true }))).toEqual(['PATH_EXISTS'])
  })

  it('reports why a server cannot be asked', async () => {
    const server = await archive({ '/data.bin': { bytes: small } })
    const folder = await temporaryFolder()
    const item = itemOf(server, { data: { href: 'data.bin' } })
    await run([item], { folder, server })
    delete server.files['/data.bin']
    expect(codesOf(await run([item], { folder, server, verify: true }))).toEqual(['HTTP_404'])
  })

  it('knows empty files', async () => {
    const server = await archive({ '/data.bin': { bytes: Buffer.alloc(0) } })
    const folder = await temporaryFolder()
    const item = itemOf(server, { data: { href: 'data.bin' } })
    await run([item], { folder, server })
    expect((await run([item], { folder, server, verify: true })).summary).toMatchObject({ kept: 1 })
  })
})

describe('a manifest of its own', () => {
  it('lists what was written and what was kept', async () => {
    const server = await both()
    const folder = await temporaryFolder()
    const manifest = join(await temporaryFolder(), 'm.ndjson')
    await run([itemOf(server, { data: assets.data })], { folder, server })
    await rm(join(folder, MANIFEST_NAME))
    await run([itemOf(server, assets)], { folder, server, manifest })
    const [header, ...entries] = await linesOf(manifest)
    expect(header).toEqual({ format: 'stac-auth/manifest', version: 1 })
    expect(entries.map(({ path, sha256: hash }) => [path, hash]).sort()).toEqual([
      ['data.bin', sha256(small)],
      ['large.bin', sha256(large)],
    ])
    await run([itemOf(server, assets)], { folder, server, manifest })
    expect(await linesOf(manifest)).toHaveLength(3)
  })

  it('replaces no other file', async () => {
    const folder = await temporaryFolder()
    const manifest = join(folder, 'thesis.txt')
    await writeFile(manifest, 'years of work')
    await expect(run([], { folder, manifest })).rejects.toMatchObject({ code: 'PATH_EXISTS' })
    expect(await readdir(folder)).toEqual(['thesis.txt'])
  })
})

async function verified(options: VerifyOptions): Promise<readonly VerifyEvent[]> {
  const events: VerifyEvent[] = []
  for await (const event of verifyFolder(options)) events.push(event)
  return events
}

const entryFor = (path: string, bytes: Buffer, more: object = {}) =>
  JSON.stringify({ path, url: 'https://data.example/x', size: bytes.length, sha256: sha256(bytes), time: '2026-01-01T00:00:00Z', ...more })

describe('verifyFolder', () => {
  it('finds what is missing, truncated or corrupt', async () => {
    const server = await archive(Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [`/${name}.bin`, { bytes: noise(500, name) }])))
    const folder = await temporaryFolder()
    const all = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, { href: `${name}.bin` }]))
    await run([itemOf(server, all)], { folder, server, template: '{id}/{name}' })
    expect((await verified({ folder })).at(-1)).toEqual({ kind: 'summary', files: 4, verified: 4, failed: 0, unasked: 0, unverified: 0 })
    await truncate(join(folder, 'one/a.bin'), 10)
    await writeFile(join(folder, 'one/b.bin'), noise(500, 'x'))
    await rm(join(folder, 'one/c.bin'))
    const events = await verified({ folder })
    const problems = events.flatMap((event) => (event.kind === 'failed' ? [`${event.error.code} ${event.error.message}`] : []))
    expect(problems.sort()).toEqual([
      'FILE_INTEGRITY "one/a.bin" has 10 bytes and had 500 when it was downloaded',
      'FILE_INTEGRITY "one/b.bin" has changed since it was downloaded',
      'FILE_INTEGRITY "one/c.bin" is missing',
    ])
    await rm(join(folder, 'one'), { recursive: true })
    expect((await verified({ folder })).at(-1)).toMatchObject({ verified: 0, failed: 4 })
  })

  it('asks servers with the credentials that cover their URLs, and no one else', async () => {
    const server = await archive({ '/private/a.bin': { bytes: small }, '/b.bin': { bytes: small } })
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'a.bin'), small)
    const lines = (urls: readonly string[]) => urls.map((url) => entryFor('a.bin', small, { url })).join('\n')
    const credentials = [{ id: 'x', type: 'http' as const, scheme: 'bearer', token: 'right', sendTo: [`${server.origin}/private/`] }]
    const auth = createAuth({ credentials: unchecked(credentials) })
    const outcome = async (url: string) => {
      await writeFile(join(folder, MANIFEST_NAME), lines([url]))
      const [event] = await verified({ folder, auth, retries: 0 })
      return event?.kind === 'verified' ? (event.unasked ?? event.verified.join()) : event?.kind === 'failed' ? event.error.code : ''
    }
    expect(await outcome(`${server.origin}/private/a.bin`)).toBe('manifest,server')
    expect(await outcome(`${server.origin}/private/a.bin?sig=x`)).toMatch(/query/)
    server.files['/private/a.bin'] = { bytes: large }
    expect(await outcome(`${server.origin}/private/a.bin`)).toBe('FILE_INTEGRITY')
    const asked = server.asked.length
    expect(await outcome('http://127.0.0.1:1/a.bin')).toBe('URL_ADDRESS_FORBIDDEN')
    expect(await outcome('https://169.254.169.254/latest')).toBe('URL_ADDRESS_FORBIDDEN')
    expect(await outcome('file:///etc/passwd')).toMatch(/^URL_/)
    expect(server.asked.length).toBe(asked)
  })

  it('reads nothing outside of the folder, whatever its manifest says', async () => {
    const folder = await temporaryFolder()
    const outside = await temporaryFolder()
    await writeFile(join(outside, 'secret'), small)
    await symlink(outside, join(folder, 'link'))
    await symlink(join(outside, 'secret'), join(folder, 'file'))
    await mkdir(join(folder, 'inside'))
    const paths = [
      `../${outside.split('/').at(-1)}/secret`,
      `${outside}/secret`,
      'link/secret',
      'file',
      'inside',
      'inside/../../x',
      '',
      'a\\..\\b',
    ]
    await writeFile(join(folder, MANIFEST_NAME), paths.map((path) => entryFor(path, small)).join('\n'))
    const events = await verified({ folder })
    expect(events.slice(0, -1).map((event) => (event.kind === 'failed' ? event.error.code : event.kind))).toEqual(
      paths.map(() => 'PATH_UNSAFE'),
    )
  })

  it('needs a folder', async () => {
    for (const options of [{ folder: undefined }, { folder: 5 }, undefined] as never[])
      await expect(verified(options)).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: 'folder is missing' })
  })

  it('needs a manifest of this version', async () => {
    const folder = await temporaryFolder()
    await expect(verified({ folder })).rejects.toMatchObject({ code: 'FILE_ACCESS', hint: expect.stringContaining('--manifest') })
    await writeFile(join(folder, MANIFEST_NAME), '{"format":"stac-auth/manifest","version":2}\n')
    await expect(verified({ folder })).rejects.toMatchObject({ code: 'FILE_ACCESS', message: expect.stringContaining('another version') })
  })
})

describe('a manifest that someone else has made', () => {
  it('a manifest that someone else has made is read to its end, whatever a line of it is', async () => {
    const folder = await temporaryFolder()
    const manifest = join(folder, MANIFEST_NAME)
    const entry = (path: string) => `${JSON.stringify({ path, url: 'https://a.example/x', size: 1, sha256: '0'.repeat(64), time: '' })}\n`
    await writeFile(manifest, `${entry('first')}null\n7\n[]\n"\n{"path":"__proto__"}\n${entry('__proto__')}`)
    // Longer than any string can be, which is a bit less than 512 MiB.
    await truncate(manifest, 514 * 2 ** 20)
    await appendFile(manifest, `\n\n${entry('../outside')}${entry('last').trimEnd()}`)
    const paths: unknown[] = []
    for await (const event of verifyFolder({ folder })) paths.push(event.kind === 'failed' && [event.path, event.error.code])
    expect(paths.slice(0, -1)).toEqual([
      ['first', 'FILE_INTEGRITY'],
      ['__proto__', 'FILE_INTEGRITY'],
      ['../outside', 'PATH_UNSAFE'],
      ['last', 'FILE_INTEGRITY'],
    ])
  })
})
