import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../cli/folder.ts'
import { noise, startFileServer } from '../../servers/file-server.ts'
import { codesOf, filesIn, itemOf, ofKind, run } from './fixture.ts'

const bytes = noise(3000)
const large = noise(3 * 2 ** 20)
const checksum = `1220${createHash('sha256').update(bytes).digest('hex')}`
const server = await startFileServer((path) => ({ bytes: path.includes('large') ? large : bytes }))
afterAll(() => server.close())

const one = { data: { href: 'data.bin' } }

describe('what is there already', () => {
  it('what is there already is kept where nothing speaks against it', async () => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'data.bin'), bytes)
    const count = server.asked.length
    const assets = { data: { href: 'data.bin', 'file:size': bytes.length, 'file:checksum': checksum } }
    const result = await run([itemOf(server, assets)], { folder, server })
    expect(ofKind(result, 'kept')).toMatchObject([{ bytes: bytes.length, verified: ['size', 'checksum'] }])
    expect(server.asked).toHaveLength(count)
  })

  it.each<[string, object, object]>([
    ['of another size', { 'file:size': 2999 }, {}],
    ['with another checksum', { 'file:checksum': `1220${'00'.repeat(32)}` }, {}],
    ['where that was wanted', {}, { existing: 'refuse' }],
  ])('what is there already is refused %s', async (_, promised, options) => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'data.bin'), bytes)
    const result = await run([itemOf(server, { data: { href: 'data.bin', ...promised } })], { folder, server, ...options })
    expect(codesOf(result)).toEqual(['PATH_EXISTS'])
    expect(await filesIn(folder)).toEqual({ 'data.bin': bytes })
  })

  it.each(['data.bin', 'large.bin'])('what is there already is replaced where that was wanted (%s)', async (name) => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, name), 'old')
    const result = await run([itemOf(server, { data: { href: name } })], { folder, server, existing: 'replace' })
    expect(result.summary).toMatchObject({ written: 1 })
    expect((await filesIn(folder))[name]?.equals(name === 'data.bin' ? bytes : large)).toBe(true)
  })

  it('what is there already is something else under the name of a journal, which is not written into', async () => {
    const folder = await temporaryFolder()
    const taken = join(folder, 'large.bin.part.json')
    await writeFile(taken, '{"theirs":1}')
    const result = await run([itemOf(server, { data: { href: 'large.bin' } })], { folder, server })
    expect(ofKind(result, 'failed')).toMatchObject([{ error: { code: 'PATH_BUSY', hint: expect.stringContaining(taken) } }])
    expect(await filesIn(folder)).toEqual({ 'large.bin.part.json': Buffer.from('{"theirs":1}') })
  })

  it('what is there already is not a journal that no one came to write into', async () => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'large.bin.part.json'), '')
    const result = await run([itemOf(server, { data: { href: 'large.bin' } })], { folder, server })
    expect(result.summary).toMatchObject({ written: 1 })
    const files = await filesIn(folder)
    expect([Object.keys(files), files['large.bin']?.equals(large)]).toEqual([['large.bin'], true])
  })
})

describe('a folder', () => {
  it('a folder must be there and be one', async () => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'file'), '')
    await expect(run([], { folder: join(folder, 'missing') })).rejects.toMatchObject({
      code: 'FILE_ACCESS',
      message: expect.stringMatching(/missing" does not exist$/),
      hint: 'create it first',
    })
    await expect(run([], { folder: join(folder, 'file') })).rejects.toMatchObject({ code: 'PATH_UNSAFE' })
  })

  it('a folder may get more files than anybody listens to at a time', async () => {
    const assets = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`a${index}`, { href: `${index}.bin` }]))
    const result = await run([itemOf(server, assets)], { folder: await temporaryFolder(), server, dryRun: true })
    expect(result.summary).toMatchObject({ files: 3000 })
  })

  it('a folder is not touched by a dry run', async () => {
    const folder = await temporaryFolder()
    const count = server.asked.length
    const result = await run([itemOf(server, one)], { folder, server, dryRun: true, template: '{id}/{name}', documents: true })
    expect(ofKind(result, 'planned')).toMatchObject([{ file: { name: 'one/data.bin', key: 'data' } }])
    expect(server.asked).toHaveLength(count)
    expect(await filesIn(folder)).toEqual({})
  })
})

describe('a copy of a document', () => {
  const alternate = { s3: { href: 'alt.bin' } }
  const more = {
    links: [
      { rel: 'self', href: 'item.json' },
      { rel: 'parent', href: '../catalog.json' },
    ],
  }

  it('leads to the files that were downloaded, and reports where it comes from', async () => {
    const folder = await temporaryFolder()
    const assets = { data: { href: 'a b.bin', alternate }, page: { href: 'page.html', roles: ['overview'] } }
    const source = itemOf(server, assets, more)
    const options = { folder, server, documents: true, assets: { keys: ['data'] } }
    const result = await run([source], options)
    expect(ofKind(result, 'document')).toMatchObject([{ path: join(folder, 'one.json'), id: 'one' }])
    const copy = JSON.parse(await readFile(join(folder, 'one.json'), 'utf8'))
    expect(copy.assets.data).toEqual({ href: './a%20b.bin', alternate: { s3: { href: `${server.origin}/alt.bin` } } })
    expect(copy.assets.page.href).toBe(`${server.origin}/page.html`)
    expect(copy.links).toEqual([
      { rel: 'canonical', href: `${server.origin}/item.json`, type: 'application/json' },
      { rel: 'parent', href: `${server.origin}/catalog.json` },
    ])
    expect(source.document).toMatchObject(more)
    expect((await run([source], options)).summary).toMatchObject({ kept: 1, documents: 1 })
  })

  it('a copy of a document holds nothing of the query of an address that someone typed', async () => {
    const folder = await temporaryFolder()
    const assets = { data: { href: 'data.bin' }, same: { href: '', roles: ['metadata'] } }
    const { document } = itemOf(server, assets)
    const typed = `${server.origin}/search?token=secret-key&limit=1`
    const echoed = { ...document, id: 'two', links: [{ rel: 'self', href: '/items/two?token=secret-key' }] }
    const options = { folder, server, documents: true, assets: { keys: ['data'] }, template: '{id}/{name}' }
    await run(
      [
        { document, url: typed },
        { document: echoed, url: typed },
      ],
      options,
    )
    const files = await filesIn(folder)
    expect(Object.keys(files).sort()).toEqual(['one/data.bin', 'one/one.json', 'two/data.bin', 'two/two.json'])
    const copies = [String(files['one/one.json']), String(files['two/two.json'])]
    expect(copies.join('')).not.toContain('secret-key')
    const canonical = copies.map((text) => JSON.parse(text).links[0].href)
    expect(canonical).toEqual([`${server.origin}/search`, `${server.origin}/items/two`])
  })

  it('the copy of a document without a source URL stays unchanged, and is omitted without its files', async () => {
    const folder = await temporaryFolder()
    const assets = { data: { href: `${server.origin}/data.bin` } }
    const source = { document: { type: 'Feature', id: 'one', assets } }
    const options = { folder, server, documents: true }
    expect(ofKind(await run([source], options), 'document')).toHaveLength(1)
    expect(ofKind(await run([source], options), 'document').map(({ error }) => error)).toEqual([undefined])
    const gone = { document: { ...source.document, id: 'two', assets: { data: { href: 'ftp://files.example/gone' } } } }
    expect(ofKind(await run([gone], options), 'document')).toEqual([])
  })

  it('replaces no other file', async () => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'one.json'), '{"id":"one"}')
    const result = await run([itemOf(server, one, more)], { folder, server, documents: true })
    expect(ofKind(result, 'document').map(({ error }) => error?.code)).toEqual(['PATH_EXISTS'])
    expect(await readFile(join(folder, 'one.json'), 'utf8')).toBe('{"id":"one"}')
  })
})
