import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { put, temporaryFolder } from '../folder.ts'
import { lastError, run } from '../run.ts'
import { contentOf, downloaded, eventsIn, itemOf, promised, startArchive, TOKEN } from './fixture.ts'

const server = await startArchive()
const at = (path: string) => server.origin + path
const folder = await temporaryFolder()
const item = await put(
  folder,
  'item.json',
  itemOf('one', {
    data: promised(at('/private/data-50000.tif'), { roles: ['data'], type: 'image/tiff; application=geotiff' }),
    mask: promised(at('/private/mask-700.tif'), { roles: ['data', 'mask'], type: 'image/tiff' }),
    thumbnail: { href: at('/open/thumb-30.png'), roles: ['thumbnail'], type: 'image/png' },
  }),
)

beforeEach(() => vi.stubEnv('STAC_AUTH_TEST_TOKEN', TOKEN))
afterEach(() => vi.unstubAllEnvs())

describe('download', () => {
  it('writes every asset, and says what it compared', async () => {
    const { code, files, stdout, stderr, folder } = await downloaded(server, [item])
    expect([code, stderr, Object.keys(files)]).toEqual([0, '', ['one/data-50000.tif', 'one/mask-700.tif', 'one/thumb-30.png']])
    expect(files['one/data-50000.tif']?.equals(contentOf('data-50000.tif'))).toBe(true)
    expect(stdout.split('\n')[0]).toBe('written       3     50.7 kB  2 by checksum, 1 by length')
    expect(stdout).toMatch(new RegExp(`\n50.7 kB received in [\\d.]+ s \\(\\S+ \\w+/s\\), in ${folder}\n$`))
  })

  it('keeps what is there, and asks for nothing', async () => {
    const { folder: into } = await downloaded(server, [item])
    const before = server.asked.length
    const { code, stdout } = await downloaded(server, [item], { into })
    expect([code, server.asked.length - before]).toEqual([0, 0])
    expect(stdout).toMatch(/^kept {10}3 {5}50.7 kB {2}2 by checksum, 1 unchecked\n0 bytes received/)
  })

  it.each([
    [['--asset', 'mask'], ['one/mask-700.tif']],
    [
      ['--asset', 'mask', '--asset', 'thumbnail'],
      ['one/mask-700.tif', 'one/thumb-30.png'],
    ],
    [
      ['--role', 'mask', '--role', 'thumbnail'],
      ['one/mask-700.tif', 'one/thumb-30.png'],
    ],
    [['--type', 'image/tiff', '--asset', 'data'], ['one/data-50000.tif']],
    [['--type', 'image/png', '--template', '{key}{ext}'], ['thumbnail.png']],
  ])('takes with %j what was chosen', async (argv, names) => {
    const { code, files } = await downloaded(server, [item, ...argv])
    expect([code, Object.keys(files)]).toEqual([0, names])
  })

  it('reads standard input, lines, lists and gzip', async () => {
    const line = (id: string) => JSON.stringify(itemOf(id, { thumbnail: { href: at('/open/thumb-30.png') } }))
    const piped = await downloaded(server, ['-'], { stdin: `${line('a')}\n${line('b')}\n` })
    expect(Object.keys(piped.files)).toEqual(['a/thumb-30.png', 'b/thumb-30.png'])
    const packed = await put(folder, 'list.json.gz', gzipSync(`[${line('c')}, ${line('d')}]`))
    expect(Object.keys((await downloaded(server, [packed])).files)).toEqual(['c/thumb-30.png', 'd/thumb-30.png'])
  })

  it('resolves relative addresses of a list in a file against the self link of each item', async () => {
    const assets = { thumbnail: { href: './thumb-30.png' } }
    const features = [itemOf('a', assets, [{ rel: 'self', href: at('/open/a.json') }])]
    const list = await put(folder, 'features.json', { type: 'FeatureCollection', features })
    expect(Object.keys((await downloaded(server, [list])).files)).toEqual(['a/thumb-30.png'])
  })

  it('prints events for programs, the summary last', async () => {
    const outcome = await downloaded(server, [item, '--asset', 'mask', '--json'])
    const events = eventsIn(outcome)
    expect([outcome.code, outcome.stderr]).toEqual([0, ''])
    expect(events.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['planned', 'started', 'written', 'summary']))
    expect(events[0]).toMatchObject({ kind: 'planned', file: { name: 'one/mask-700.tif', document: 'one', key: 'mask', size: 700 } })
    expect(events.at(-1)).toMatchObject({ kind: 'summary', files: 1, written: 1, failed: 0, bytes: 700 })
  })

  it('makes the folder, and says so when it cannot', async () => {
    const into = join(await temporaryFolder(), 'a/b')
    expect(Object.keys((await downloaded(server, [item, '--asset', 'mask'], { into })).files)).toEqual(['one/mask-700.tif'])
    const file = await put(folder, 'file', 'x')
    const { code, stderr } = await run(['download', item, '-d', join(file, 'below')])
    expect([code, stderr]).toEqual([6, expect.stringMatching(/^error FILE_ACCESS: .*file\/below/)])
  })

  it('ends quietly when nobody reads its events any more', async () => {
    const stdout = new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error(), { code: 'EPIPE' })) })
    expect(await downloaded(server, [item, '--json'], { stdout })).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('what goes wrong', () => {
  it('is told once for many files of one cause, with the way out', async () => {
    const assets = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((key) => [key, { href: at(`/private/${key}-10.tif`) }]))
    const open = await put(folder, 'forgetful.json', itemOf('x', { ...assets, good: { href: at('/open/good-10.tif') } }))
    const { code, stdout, stderr } = await downloaded(server, [open])
    expect(code).toBe(3)
    expect(stderr).toBe(
      `error AUTH_REJECTED: ${server.origin} asks for authentication (Bearer) and the document names no scheme for it (auth:refs): ${at('/private/a-10.tif')}\n` +
        `  stac-auth fetch ${at('/private/a-10.tif')} uses the entry whose sendTo covers that address\n` +
        '  5 files: x/a-10.tif, x/b-10.tif, x/c-10.tif and 2 more files\n',
    )
    expect(stdout).toMatch(/^written {7}1 {4}10 bytes {2}by length\nfailed {8}5\n/)
  })

  it('with a wrong token ends in 3, and leaves nothing', async () => {
    vi.stubEnv('STAC_AUTH_TEST_TOKEN', 'wrong-wrong-wrong')
    const outcome = await downloaded(server, [item, '--json'])
    expect([outcome.code, Object.keys(outcome.files)]).toEqual([3, ['one/thumb-30.png']])
    expect(lastError(outcome)).toMatchObject({ code: 'AUTH_REJECTED', credential: 'archive' })
    expect(outcome.stdout + outcome.stderr).not.toContain('wrong-wrong')
  })

  it('with bytes that are not the promised ones ends in 6', async () => {
    const lying = itemOf('x', { data: { ...promised(at('/private/data-500.tif')), 'file:checksum': `1220${'0'.repeat(64)}` } })
    const { code, stderr, files } = await downloaded(server, ['-'], { stdin: JSON.stringify(lying) })
    expect([code, Object.keys(files)]).toEqual([6, []])
    expect(stderr).toMatch(/^error FILE_INTEGRITY.*\n {2}file: x\/data-500.tif\n$/)
  })

  it('warns of a web page, and with --strict refuses it', async () => {
    const page = JSON.stringify(itemOf('x', { data: { href: at('/open/page.html'), type: 'image/tiff' } }))
    const mild = await downloaded(server, ['-'], { stdin: page })
    expect([mild.code, mild.stderr]).toEqual([
      0,
      expect.stringMatching(
        /^warning CONTENT_TYPE_UNEXPECTED \/assets\/data: x\/page.html: .*text\/html.*\n {2}what came is there: --strict refuses it/,
      ),
    ])
    const strict = await downloaded(server, ['-', '--strict'], { stdin: page })
    expect([strict.code, Object.keys(strict.files), strict.stderr]).toEqual([
      6,
      [],
      expect.stringMatching(/^error CONTENT_TYPE_UNEXPECTED.*\n {2}file: x\/page.html\n$/),
    ])
  })

  it('goes on with other inputs, and names those that are none', async () => {
    const broken = await put(folder, 'broken.ndjson', `{"type":"Feature"}\n{"type":\n`)
    const { code, stderr, files } = await downloaded(server, [broken, join(folder, 'missing.json'), item, '--asset', 'mask'])
    expect([code, Object.keys(files)]).toEqual([6, ['one/mask-700.tif']])
    expect(stderr).toMatch(/error DOC_NOT_JSON: ".*broken.ndjson", line 2: /)
    expect(stderr).toMatch(/error FILE_ACCESS: .*missing.json/)
  })

  it('refuses a second file of one name unless it may be renamed', async () => {
    const twice = JSON.stringify(itemOf('x', { a: { href: at('/open/a-1.tif') }, b: { href: at('/open/A-1.TIF') } }))
    const refused = await downloaded(server, ['-'], { stdin: twice })
    expect([refused.code, Object.keys(refused.files)]).toEqual([6, ['x/a-1.tif']])
    expect(refused.stderr).toMatch(/^error PATH_COLLISION .*\n.*--rename.*--template/)
    const renamed = await downloaded(server, ['-', '--rename'], { stdin: twice })
    expect([renamed.code, Object.keys(renamed.files)]).toEqual([0, ['x/A-1~2.TIF', 'x/a-1.tif']])
  })

  it.each([
    [[], 'USAGE', /nothing to download/],
    [['x.json', '--max-depth', '2'], 'USAGE', /--max-depth is for --crawl/],
    [['x.json', '--limit-rate', 'fast'], 'USAGE', /such as 500k or 10M/],
    [['x.json', '--template', '../{name}'], 'CONFIG_INVALID', /no file below the folder/],
    [['-', '--crawl'], 'USAGE', /leads nowhere/],
  ])('says what is wrong with %j', async (argv, code, message) => {
    const outcome = await run(['download', ...argv, '--json', '-d', await temporaryFolder()])
    expect([outcome.code, lastError(outcome)]).toEqual([2, expect.objectContaining({ code, message: expect.stringMatching(message) })])
  })

  it('says which assets there are when none is chosen', async () => {
    const outcome = await downloaded(server, [item, '--asset', 'B99'])
    expect([outcome.code, outcome.stdout, outcome.stderr]).toEqual([
      2,
      '',
      'error TARGET_NOT_FOUND: nothing to download: no asset is of the kind that was chosen\n  assets there are: data, mask, thumbnail\n',
    ])
  })

  it('touches no file that is there, unless told to replace it', async () => {
    const into = await temporaryFolder()
    await mkdir(join(into, 'one'))
    await writeFile(join(into, 'one/mask-700.tif'), 'mine')
    const refused = await downloaded(server, [item, '--asset', 'mask', '--existing', 'refuse'], { into })
    expect([refused.code, refused.stderr]).toEqual([6, expect.stringMatching(/^error PATH_EXISTS.*\n.*--existing replace/)])
    expect(await readFile(join(into, 'one/mask-700.tif'), 'utf8')).toBe('mine')
    const replaced = await downloaded(server, [item, '--asset', 'mask', '--existing', 'replace'], { into })
    expect(replaced.files['one/mask-700.tif']?.equals(contentOf('mask-700.tif'))).toBe(true)
  })
})
