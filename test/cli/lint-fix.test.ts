import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { applyPatch } from 'diff'
import { describe, expect, it } from 'vitest'
import { put, temporaryFolder } from './folder.ts'
import { itemWith } from './items.ts'
import { lastError, run } from './run.ts'
import { body, serve } from './server.ts'

const folder = await temporaryFolder()
const href = 'https://data.example/f'
const textWith = (...refs: string[]) => `${JSON.stringify(itemWith({ data: { href, 'auth:refs': refs } }), null, '\t')}\n`
/** One safe fix (`key` twice), one suggestion (`kye`), one that needs a person. */
const BEFORE = textWith('key', 'key', 'kye', 'gone')

describe('lint --fix', () => {
  it('fixes what is safe, reports what remains, and finds nothing to do the second time', async () => {
    const file = await put(folder, 'safe.json', BEFORE)
    await chmod(file, 0o604)
    const outcome = await run(['lint', file, '--fix'])
    expect(await readFile(file, 'utf8')).toBe(textWith('key', 'kye', 'gone'))
    expect(outcome.code).toBe(1)
    expect(outcome.stdout).toContain('1 document: 2 errors, 0 warnings')
    expect(outcome.stderr).toBe('fixed 1 finding in 1 file\n')
    expect((await stat(file)).mode & 0o777).toBe(0o604)
    const { mtimeMs } = await stat(file)
    expect((await run(['lint', file, '--fix'])).stderr).toBe('fixed 0 findings in 0 files\n')
    expect((await stat(file)).mtimeMs).toBe(mtimeMs)
    expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([])
  })

  it('applies suggestions only when they are requested, and only of the rules that are named', async () => {
    const file = await put(folder, 'suggestions.json', BEFORE)
    await run(['lint', file, '--fix-suggestions', '--fix-type', 'dangling-ref,unused-scheme'])
    expect(await readFile(file, 'utf8')).toBe(textWith('key', 'key', 'key', 'gone'))
    await run(['lint', file, '--fix-suggestions'])
    expect(await readFile(file, 'utf8')).toBe(textWith('key', 'gone'))
  })

  it('follows the levels of the configuration: what is off is not fixed', async () => {
    const file = await put(folder, 'off.json', BEFORE)
    await run(['lint', file, '--fix', '--rule', 'duplicate-ref=off'])
    expect(await readFile(file, 'utf8')).toBe(BEFORE)
  })

  it('leaves links, lists of lines and URLs as they are', async () => {
    const target = await put(folder, 'target.json', BEFORE)
    const link = join(folder, 'link.json')
    await symlink(target, link)
    const lines = await put(folder, 'lines.ndjson', `${JSON.stringify(JSON.parse(BEFORE))}\n`.repeat(2))
    const server = await serve({ '/x.json': body(BEFORE) })
    const before = await readFile(lines, 'utf8')
    const outcome = await run(['lint', link, lines, `${server.origin}x.json`, '--fix'])
    expect(outcome.stderr).toContain('is not fixed: it is a symbolic link')
    expect(outcome.stderr).toContain('2 inputs not changed: URLs, NDJSON, compressed files')
    expect((await lstat(link)).isSymbolicLink()).toBe(true)
    expect(await readFile(target, 'utf8')).toBe(BEFORE)
    expect(await readFile(lines, 'utf8')).toBe(before)
  })

  it('does not touch a file that someone else is writing', async () => {
    const file = await put(folder, 'busy.json', BEFORE)
    await writeFile(`${file}.part`, '')
    const outcome = await run(['lint', file, '--fix', '--format', 'json'])
    expect([outcome.code, lastError(outcome).code]).toEqual([6, 'PATH_BUSY'])
    expect(await readFile(file, 'utf8')).toBe(BEFORE)
    expect(await readFile(`${file}.part`, 'utf8')).toBe('')
  })
})

describe('lint --fix-dry-run', () => {
  it('prints a patch that leads to what --fix writes, and writes nothing', async () => {
    const file = await put(folder, 'dry.json', BEFORE)
    const outcome = await run(['lint', file, '--fix-dry-run', '--fix-suggestions'])
    expect(await readFile(file, 'utf8')).toBe(BEFORE)
    expect(outcome.stdout).toMatch(/^--- a\/.*dry\.json\n\+\+\+ b\/.*dry\.json\n@@ /)
    expect(outcome.stderr).toContain('2 errors')
    await run(['lint', file, '--fix-suggestions'])
    expect(applyPatch(BEFORE, outcome.stdout)).toBe(await readFile(file, 'utf8'))
  })

  it('shows a terminal nothing that it would obey', async () => {
    const file = await put(folder, 'hostile.json', BEFORE.replace('"data"', '"\u009b2J\u202e"'))
    const { stdout } = await run(['lint', file, '--fix-dry-run'], { isTTY: true })
    expect(stdout).toContain('\\u{9b}2J\\u{202e}')
    expect(stdout).not.toMatch(/[^\P{Cc}\n\t]|\p{Bidi_Control}/u)
  })
})

describe('lint --fix of standard input', () => {
  it('prints the fixed text, and the report to people', async () => {
    const outcome = await run(['lint', '-', '--fix', '--stdin-filename', 'draft.json'], { stdin: `\ufeff${BEFORE}` })
    expect(outcome.stdout).toBe(`\ufeff${textWith('key', 'kye', 'gone')}`)
    expect(outcome.stderr).toContain('draft.json')
    expect(outcome.stderr).toContain('2 errors')
    expect(outcome.code).toBe(1)
  })

  it('returns what cannot be fixed', async () => {
    const stdin = Buffer.of(0x7b, 0xff, 0x7d)
    const outcome = await run(['lint', '-', '--fix', '--stdin-filename', 'draft.json'], { stdin })
    expect([...outcome.bytes]).toEqual([...stdin])
    expect(outcome.code).toBe(1)
  })

  it.each([
    [['-', '--fix'], 'only be fixed when it has a name'],
    [['-', '--fix', '--stdin-filename', 'x', '--format', 'json'], 'stdout is used for the fixed text'],
    [['x.json', '--fix-dry-run', '--format', 'sarif'], 'stdout is used for the patch'],
    [['x.json', '--fix-type', 'dangling-ref'], '--fix-type needs --fix'],
    [['x.json', '--fix', '--fix-type', 'no-such'], 'unknown rule "no-such"'],
  ])('%j is a mistake', async (argv, message) => {
    const outcome = await run(['lint', ...argv], { stdin: BEFORE })
    expect(outcome).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) })
  })
})

describe('lint --fix-suggestions and schemes that other documents use', () => {
  const KEY = { type: 'apiKey', name: 'x-api-key', in: 'header' }
  const extension = ['https://stac-extensions.github.io/authentication/v1.1.0/schema.json']
  const collectionWith = (schemes: object, links: readonly object[] = []) => ({
    type: 'Collection',
    stac_version: '1.1.0',
    stac_extensions: extension,
    id: 'c',
    description: 'd',
    license: 'other',
    extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[null, null]] } },
    'auth:schemes': schemes,
    links,
  })
  const itemUsing = (...refs: string[]) => ({
    type: 'Feature',
    stac_version: '1.1.0',
    stac_extensions: extension,
    id: 'i',
    geometry: null,
    collection: 'c',
    properties: { datetime: '2026-01-01T00:00:00Z' },
    links: [],
    assets: { data: { href, 'auth:refs': refs } },
  })
  const link = (rel: string, to: string) => ({ rel, href: to })
  let count = 0

  /** Names of the schemes that are left in the Collection. */
  async function left(files: Readonly<Record<string, object | string>>, inputs: readonly string[] = ['.'], stdin?: string) {
    const catalog = join(folder, `catalog-${count++}`)
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(catalog, name)), { recursive: true })
      await put(catalog, name, content)
    }
    const names = inputs.map((name) => (name === '-' ? name : join(catalog, name)))
    const outcome = await run(['lint', ...names, '--fix-suggestions', '--stdin-filename', 's.json'], { stdin })
    expect(outcome.code).not.toBe(2)
    const collection = JSON.parse(await readFile(join(catalog, 'collection.json'), 'utf8'))
    return { names: Object.keys(collection['auth:schemes'] ?? {}), outcome }
  }
  const both = collectionWith({ used: KEY, old: KEY }, [link('item', './items/i.json')])

  it.each([
    ['a folder', ['.']],
    ['files', ['collection.json', 'items/i.json']],
    ['files in another order', ['items/i.json', 'collection.json']],
  ])('removes only what nothing in %s uses', async (_name, inputs) => {
    expect((await left({ 'collection.json': both, 'items/i.json': itemUsing('used') }, inputs)).names).toEqual(['used'])
  })

  it('names what it removes, and removes nothing with --fix alone', async () => {
    const files = { 'collection.json': both, 'items/i.json': itemUsing('used') }
    const { outcome } = await left(files)
    expect(outcome.stderr).toMatch(/collection\.json: removed the unused scheme "old"\n/)
    const one = await put(folder, 'alone.json', {
      ...itemUsing('key'),
      properties: { datetime: null, 'auth:schemes': { key: KEY, old: KEY } },
    })
    expect((await run(['lint', one, '--fix', '--preset', 'strict'])).stderr).not.toContain('"old"')
    expect((await run(['lint', one, '--fix-suggestions', '--fix-dry-run', '--preset', 'strict'])).stderr).toContain(
      'would remove the unused scheme "old"',
    )
    expect(await readFile(one, 'utf8')).toContain('"old"')
  })

  it('keeps what an Item uses that nothing links to', async () => {
    const { names } = await left({ 'collection.json': collectionWith({ used: KEY, old: KEY }), 'i.json': itemUsing('used') })
    expect(names).toEqual(['used'])
  })

  it('keeps what an Item on standard input, in a list of lines or in a packed file uses', async () => {
    const files = { 'collection.json': collectionWith({ used: KEY, old: KEY }) }
    const item = itemUsing('used')
    expect((await left(files, ['collection.json', '-'], JSON.stringify(item))).names).toEqual(['used'])
    const lines = `${JSON.stringify(itemUsing())}\n${JSON.stringify(item)}\n`
    expect((await left({ ...files, 'items.ndjson': lines })).names).toEqual(['used'])
  })

  it('keeps everything while a child, or a child of it, is not among the inputs', async () => {
    const catalog = { ...collectionWith({}, [link('item', './items/gone.json')]), type: 'Catalog' }
    const files = { 'collection.json': collectionWith({ old: KEY }, [link('child', './sub/catalog.json')]), 'sub/catalog.json': catalog }
    expect((await left(files)).names).toEqual(['old'])
    expect((await left({ 'collection.json': both, 'items/i.json': itemUsing() }, ['collection.json'])).names).toEqual(['used', 'old'])
    expect((await left({ 'collection.json': collectionWith({ old: KEY }, [link('items', 'https://api.example/items')]) })).names).toEqual([
      'old',
    ])
    expect((await left({ 'collection.json': collectionWith({ old: KEY }, [{ rel: 'item' }]) })).names).toEqual(['old'])
  })

  it('keeps everything when an input cannot be read, and reports that', async () => {
    const { names, outcome } = await left({ 'collection.json': collectionWith({ old: KEY }), 'broken.json': '{' })
    expect(names).toEqual(['old'])
    expect(outcome.stderr).toMatch(/unused schemes are kept: .*broken\.json cannot be read/)
  })

  it('keeps a scheme that has an error, and all beside refs that cannot be read', async () => {
    const broken = { type: 'apiKey', name: 'x' }
    expect((await left({ 'collection.json': collectionWith({ broken, old: KEY }) })).names).toEqual(['broken'])
    const assets = { data: { href, 'auth:refs': [{}] } }
    expect((await left({ 'collection.json': { ...collectionWith({ old: KEY }), assets } })).names).toEqual(['old'])
  })
})
