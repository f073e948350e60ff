import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { put, temporaryFolder } from '../folder.ts'
import { lastError, run } from '../run.ts'
import { contentOf, downloaded, eventsIn, itemOf, promised, startArchive } from './fixture.ts'

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

describe('download', () => {
  it('writes every asset, and reports what it compared', async () => {
    const { code, files, stdout, stderr, folder: into } = await downloaded(server, [item])
    expect([code, stderr, Object.keys(files)]).toEqual([0, '', ['one/data-50000.tif', 'one/mask-700.tif', 'one/thumb-30.png']])
    expect(files['one/data-50000.tif']?.equals(contentOf('data-50000.tif'))).toBe(true)
    expect(stdout.split('\n')[0]).toBe('written       3     50.7 kB  2 by checksum, 1 by length')
    expect(stdout).toMatch(new RegExp(`\n50.7 kB received in [\\d.]+ s \\(\\S+ \\w+/s\\), in ${into}\n$`))
  })

  it('keeps existing files, and requests nothing', async () => {
    const { folder: into } = await downloaded(server, [item])
    const before = server.asked.length
    const { code, stdout } = await downloaded(server, [item], { into })
    expect([code, server.asked.length - before]).toEqual([0, 0])
    expect(stdout).toMatch(/^kept {10}3 {5}50.7 kB {2}2 by checksum, 1 by manifest\n0 bytes received/)
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
    [['--max-size', '0.7k', '--asset', 'data', '--asset', 'mask'], ['one/mask-700.tif']],
    [['--min-size', '701', '--max-size', '50k'], ['one/data-50000.tif']],
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

  it('reports a list without elements and elements that are no objects, with their line, and downloads the others', async () => {
    const line = JSON.stringify(itemOf('a', { thumbnail: { href: at('/open/thumb-30.png') } }))
    const { code, stderr, files } = await downloaded(server, ['-'], { stdin: `[]\n[5,${line}]\n{}\n` })
    expect([code, Object.keys(files)]).toEqual([2, ['a/thumb-30.png']])
    expect(stderr).toContain('error TARGET_NOT_FOUND: "-", line 1: the list is empty\n')
    expect(stderr).toContain('error TARGET_NOT_FOUND: "-", line 2: element /0 of the list is not an object\n')
    expect(stderr).not.toContain('line 3')
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

  it('creates the folder, and reports an error when it cannot', async () => {
    const into = join(await temporaryFolder(), 'a/b')
    expect(Object.keys((await downloaded(server, [item, '--asset', 'mask'], { into })).files)).toEqual(['one/mask-700.tif'])
    const file = await put(folder, 'file', 'x')
    const { code, stderr } = await run(['download', item, '-d', join(file, 'below')])
    expect([code, stderr]).toEqual([6, expect.stringMatching(/^error FILE_ACCESS: .*file\/below/)])
  })

  /** A reader that takes what `isTaken` allows, then goes. */
  const leaving = (isTaken: (text: string) => boolean) =>
    new Writable({
      write: (chunk, _encoding, done) => done(isTaken(String(chunk)) ? null : Object.assign(new Error(), { code: 'EPIPE' })),
    })

  it.each([
    ['at once', () => false],
    ['in the middle', (text: string) => text.includes('planned')],
  ])('ends quietly in 130 when its reader goes %s, for files are missing', async (_, isTaken) => {
    const outcome = await downloaded(server, [item, '--json', '--concurrency', '1'], { stdout: leaving(isTaken) })
    expect(outcome).toMatchObject({ code: 130, stderr: '' })
    expect(Object.keys(outcome.files).length).toBeLessThan(Object.keys((await downloaded(server, [item])).files).length)
  })

  it('succeeds when its reader goes at the end, for nothing is missing', async () => {
    const programs = await downloaded(server, [item, '--json'], { stdout: leaving((text) => !text.includes('summary')) })
    expect(programs).toMatchObject({ code: 0, stderr: '' })
    expect(await downloaded(server, [item], { stdout: leaving(() => false) })).toMatchObject({ code: 0, stderr: '' })
  })

  it('reports what failed also when no one reads its table', async () => {
    const lost = JSON.stringify(itemOf('x', { data: { href: at('/open/lost') } }))
    const outcome = await downloaded(server, ['-'], { stdin: lost, stdout: leaving(() => false) })
    expect(outcome).toMatchObject({ code: 5, stderr: expect.stringMatching(/^error HTTP_404/) })
  })
})

describe('what goes wrong', () => {
  it('what goes wrong is reported once for many files of one cause, with the way out', async () => {
    const assets = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((key) => [key, { href: at(`/private/${key}-10.tif`) }]))
    const open = await put(folder, 'forgetful.json', itemOf('x', { ...assets, good: { href: at('/open/good-10.tif') } }))
    const { code, stdout, stderr } = await downloaded(server, [open])
    expect(code).toBe(3)
    expect(stderr).toBe(
      `error AUTH_REJECTED: ${server.origin} requires authentication (Bearer) and the document does not name a scheme for it (auth:refs): ${at('/private/a-10.tif')}. The server says: who are you?\n` +
        `  --by-address sends the credential whose sendTo matches the URL: stac-auth fetch ${at('/private/a-10.tif')}\n` +
        '  5 files: x/a-10.tif, x/b-10.tif, x/c-10.tif and 2 more files\n',
    )
    expect(stdout).toMatch(/^written {7}1 {4}10 bytes {2}by length\nfailed {8}5\n/)
  })

  it('what goes wrong with a wrong token ends in 3, and leaves nothing', async () => {
    vi.stubEnv('STAC_AUTH_TEST_TOKEN', 'wrong-wrong-wrong')
    const outcome = await downloaded(server, [item, '--json'])
    expect([outcome.code, Object.keys(outcome.files)]).toEqual([3, ['one/thumb-30.png']])
    const hint = `check its value and whether it has expired; stac-auth setup ${item} asks for it again`
    expect(lastError(outcome)).toMatchObject({ code: 'AUTH_REJECTED', credential: 'archive', hint: expect.stringContaining(hint) })
    expect(outcome.stdout + outcome.stderr).not.toContain('wrong-wrong')
  })

  it('what goes wrong with bytes that are not the promised ones ends in 6', async () => {
    const lying = itemOf('x', { data: { ...promised(at('/private/data-500.tif')), 'file:checksum': `1220${'0'.repeat(64)}` } })
    const { code, stderr, files } = await downloaded(server, ['-'], { stdin: JSON.stringify(lying) })
    expect([code, Object.keys(files)]).toEqual([6, []])
    expect(stderr).toMatch(/^error FILE_INTEGRITY.*\n {2}if the document is wrong, --trust-server .*\n {2}file: x\/data-500.tif\n$/)
  })

  it('refuses a web page unless it is accepted', async () => {
    const page = JSON.stringify(itemOf('x', { data: { href: at('/open/page.html'), type: 'image/tiff' } }))
    const refused = await downloaded(server, ['-'], { stdin: page })
    expect([refused.code, Object.keys(refused.files), refused.stderr]).toEqual([
      6,
      [],
      expect.stringMatching(/^error FILE_INTEGRITY \/assets\/data: .*is a web page.*\n {2}.*--accept-html.*\n {2}file: x\/page.html\n$/),
    ])
    const accepted = await downloaded(server, ['-', '--accept-html'], { stdin: page })
    expect([accepted.code, accepted.stderr]).toEqual([
      0,
      expect.stringMatching(
        /^warning CONTENT_TYPE_UNEXPECTED \/assets\/data: x\/page.html: .*text\/html.*\n {2}the file is saved as received/,
      ),
    ])
  })

  it('continues with other inputs, and names those that are none', async () => {
    const broken = await put(folder, 'broken.ndjson', `{"type":"Feature"}\n{"type":\n`)
    const { code, stderr, files } = await downloaded(server, [broken, join(folder, 'missing.json'), item, '--asset', 'mask'])
    expect([code, Object.keys(files)]).toEqual([6, ['one/mask-700.tif']])
    expect(stderr).toMatch(/error DOC_NOT_JSON: ".*broken.ndjson", line 2: /)
    expect(stderr).toMatch(/error FILE_ACCESS: .*missing.json/)
  })

  it('says where names of files belong that are given on standard input', async () => {
    const { code, stderr } = await downloaded(server, ['-'], { stdin: `${item}\n` })
    expect([code, stderr]).toEqual([6, expect.stringMatching(/DOC_NOT_JSON: "-": .*\n {2}standard input must hold documents; .* xargs\n/)])
  })

  it('refuses a second file of one name unless it may be renamed', async () => {
    const twice = JSON.stringify(itemOf('x', { a: { href: at('/open/a-8.tif') }, b: { href: at('/open/A-8.TIF') } }))
    const refused = await downloaded(server, ['-'], { stdin: twice })
    expect([refused.code, Object.keys(refused.files)]).toEqual([6, ['x/a-8.tif']])
    expect(refused.stderr).toMatch(/^error PATH_COLLISION .*\n.*--rename.*--template/)
    expect(refused.stderr).toMatch(/^ {2}file: x\/A-8.TIF \(x \/assets\/b\)$/m)
    const renamed = await downloaded(server, ['-', '--rename'], { stdin: twice })
    expect([renamed.code, Object.keys(renamed.files)]).toEqual([0, ['x/A-8~2.TIF', 'x/a-8.tif']])
  })

  it.each([
    [[], 'USAGE', /nothing to download/],
    [['x.json', '--max-depth', '2'], 'USAGE', /--max-depth needs --crawl/],
    [['x.json', '--limit-rate', 'fast'], 'USAGE', /such as 500k or 10M/],
    [['x.json', '--max-size', '10x'], 'USAGE', /such as 500k or 10M/],
    [['x.json', '--min-size', '2k', '--max-size', '1k'], 'CONFIG_INVALID', /2000 bytes exceeds .* 1000 bytes/],
    [['x.json', '--template', '../{name}'], 'CONFIG_INVALID', /does not name a file below the folder/],
    [['-', '--crawl'], 'USAGE', /cannot start from stdin/],
  ])('reports what is wrong with %j', async (argv, code, message) => {
    const outcome = await run(['download', ...argv, '--json', '-d', await temporaryFolder()])
    expect([outcome.code, lastError(outcome)]).toEqual([2, expect.objectContaining({ code, message: expect.stringMatching(message) })])
  })

  it('counts files that the length of their response omits', async () => {
    const { code, stdout, stderr, files } = await downloaded(server, [item, '--min-size', '100'])
    expect([code, stderr, Object.keys(files)]).toEqual([0, '', ['one/data-50000.tif', 'one/mask-700.tif']])
    expect(stdout).toMatch(/^written {7}2 .*\nskipped {7}1\n/)
    const events = eventsIn(await downloaded(server, [item, '--min-size', '100', '--json']))
    expect(events).toContainEqual(expect.objectContaining({ kind: 'skipped', size: 30 }))
    expect(events.at(-1)).toMatchObject({ kind: 'summary', written: 2, skipped: 1, failed: 0 })
  })

  it('reports which assets there are when none is chosen', async () => {
    const outcome = await downloaded(server, [item, '--asset', 'B99'])
    expect([outcome.code, outcome.stdout, outcome.stderr]).toEqual([
      2,
      '',
      'error TARGET_NOT_FOUND: nothing to download: no asset matches the options\n  the assets are: data, mask, thumbnail; --include matches their file names, too\n',
    ])
  })

  it('touches no file that is there, unless configured to replace it', async () => {
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

it('lists options in the order of use, and shows examples that parse', async () => {
  const { code, stdout } = await run(['download', '--help'])
  const places = ['--output-dir', '--asset', '--dry-run', '--credentials', '--concurrency', '--crawl', 'Examples:'].map((word) =>
    stdout.indexOf(word),
  )
  expect([code, places]).toEqual([0, [...places].sort((one, other) => one - other)])
  expect(places).not.toContain(-1)
  const examples = stdout.match(/(?<=^ {2}stac-auth )download .*$/gm) ?? []
  expect(examples).toHaveLength(4)
  for (const example of examples)
    for (const option of example.match(/ -{1,2}[a-z][a-z-]*/g) ?? []) expect(stdout).toMatch(new RegExp(`^ {2}(?:-d,)?.*${option}\\b`, 'm'))
})
