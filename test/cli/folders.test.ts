/** Which files of a folder `lint` takes for documents. */
import { execFileSync } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { put, temporaryFolder } from './folder.ts'
import { itemWith } from './items.ts'
import { run } from './run.ts'

const base = await temporaryFolder()
const broken = JSON.stringify(itemWith({ data: { href: 'https://data.example/f', 'auth:refs': ['gone', 'key'] } }))
let folder: string
let round = 0

beforeEach(async () => {
  folder = join(base, `r${round++}`)
  await mkdir(folder)
})

/** Writes files and lints: what was found where, below the folder, and the totals. */
async function lint(files: Readonly<Record<string, string>>, ...argv: string[]) {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true })
    await put(folder, name, text)
  }
  const inputs = argv.some((one) => one.startsWith(base)) ? [] : [folder]
  const outcome = await run(['lint', '--format', 'json', ...argv, ...inputs])
  if (outcome.stdout === '') return { ...outcome, found: [], summary: undefined }
  const { problems, summary } = JSON.parse(outcome.stdout)
  const found = problems.map(({ document, code }: { document: string; code: string }) => `${document.slice(folder.length + 1)} ${code}`)
  return { ...outcome, found, summary }
}

const OTHERS = {
  'package.json': '{ "name": "x", "auth": { "type": "x" }, "type": "module" }',
  'tsconfig.json': '{\n  // Settings\n  "compilerOptions": { "paths": { "a/*": ["b//c"] }, }, /* the end */\n}\n',
  'auths.json': '{ "auths": { "host.example": { "auth": "x" } } }',
  'place.geojson': '{ "type": "Feature", "geometry": null, "properties": { "name": "x" } }',
  'places.json': '{ "type": "FeatureCollection", "features": [{ "type": "Feature", "geometry": null, "properties": {} }] }',
  'schema.json': '{ "$schema": "http://json-schema.org/draft-07/schema#", "properties": { "auth:schemes": {}, "stac_version": {} } }',
  'list.json': '[1, "two"]',
  'log.ndjson': '{ "level": "info" }\n{ "level": "warn" }\n',
  'activities.json': '{ "type": "Collection", "totalItems": 0 }',
}

describe('a folder', () => {
  it('reports how many files in it are not STAC documents, and nothing else about them', async () => {
    const { found, summary, code } = await lint({ ...OTHERS, 'item.json': broken })
    expect([found, code]).toEqual([['item.json dangling-ref'], 1])
    expect(summary).toMatchObject({ documents: 1, skipped: Object.keys(OTHERS).length })
    const pretty = await run(['lint', folder])
    expect(pretty.stdout).toContain('1 document: 1 error, 0 warnings, 0 infos; 9 files skipped as no STAC documents')
  })

  it('a folder is told about files that cannot be read as JSON, for they may have been documents', async () => {
    const { found } = await lint({ 'cut.json': broken.slice(0, 40), 'page.json': '<!doctype html>', 'empty.json': '' })
    expect(found).toEqual(['cut.json not-json', 'empty.json not-json', 'page.json not-json'])
  })

  it('a folder has findings in lists of documents, and none in old documents without authentication', async () => {
    const { found, summary } = await lint({
      'old.json': '{ "stac_version": "0.6.0", "id": "x" }',
      'list.json': `[${broken}]`,
      'page.json': `{ "type": "FeatureCollection", "features": [${broken}] }`,
      'items.ndjson': `{ "level": "info" }\n${broken}\n`,
    })
    expect(found.sort()).toEqual(['items.ndjson dangling-ref', 'list.json dangling-ref', 'page.json dangling-ref'])
    expect(summary.skipped).toBeUndefined()
  })

  it('a folder that holds no documents is a usage error which says so', async () => {
    const { code, stderr } = await lint(OTHERS)
    expect([code, stderr]).toEqual([2, expect.stringContaining('9 files skipped as not STAC')])
  })

  it('a folder is read without dot folders, node_modules and what .gitignore files omit', async () => {
    execFileSync('git', ['init', '-q', folder])
    const { found } = await lint({
      '.gitignore': '*.tmp.json\n/out/\n!kept.tmp.json\n',
      'a/.gitignore': 'b.json\n',
      ...Object.fromEntries(
        [
          '.cache/x.json',
          'a/node_modules/x.json',
          'out/x.json',
          'a/out/x.json',
          'a/b.json',
          'a/c.json',
          'b.json',
          'x.tmp.json',
          'kept.tmp.json',
          '.x.json',
        ].map((name) => [name, broken]),
      ),
    })
    expect(found).toEqual(['.x.json', 'a/c.json', 'a/out/x.json', 'b.json', 'kept.tmp.json'].map((name) => `${name} dangling-ref`))
  })

  it('obeys the .gitignore files above it, up to its repository', async () => {
    execFileSync('git', ['init', '-q', folder])
    const below = join(folder, 'a/b')
    const { found } = await lint(
      { '.gitignore': '/a/b/x.json\n/a/b/c/\n', 'a/b/x.json': broken, 'a/b/y.json': broken, 'a/b/c/z.json': broken },
      below,
    )
    expect(found).toEqual(['a/b/y.json dangling-ref'])
  })

  it('a folder is read with what .gitignore omits when --no-gitignore says so', async () => {
    const { found } = await lint({ '.gitignore': 'x.json\n', 'x.json': broken }, '--no-gitignore')
    expect(found).toEqual(['x.json dangling-ref'])
  })

  it('a folder is read without what --ignore omits, and with what it takes in again', async () => {
    const files = {
      '.gitignore': 'z.json\n',
      'x.json': broken,
      'z.json': broken,
      'a/x.json': broken,
      'a/y.json': broken,
      '.stac/x.json': broken,
    }
    const { found } = await lint(files, '--ignore', '/x.json', '--ignore', 'y.json', '--ignore', '!z.json', '--ignore', '!.stac/')
    expect(found).toEqual(['.stac/x.json', 'a/x.json', 'z.json'].map((name) => `${name} dangling-ref`))
  })

  it('reports where its documents may be when all of them are omitted', async () => {
    const { code, stderr } = await lint({ '.gitignore': '*\n', 'x.json': broken })
    expect([code, stderr]).toEqual([2, expect.stringContaining('--no-gitignore')])
  })
})

it('a glob omits the same, but for dot folders that it names', async () => {
  execFileSync('git', ['init', '-q', folder])
  const files = { '.gitignore': 'x.json\n', 'a/x.json': broken, 'a/y.json': broken, 'a/.b/z.json': broken, 'a/package.json': '{}' }
  const { found, summary } = await lint(files, join(folder, 'a/{*,.b/*}.json'))
  expect([found, summary]).toMatchObject([['a/.b/z.json dangling-ref', 'a/y.json dangling-ref'], { documents: 2, skipped: 1 }])
})

it('parses each file of a folder once: documents, lists of documents, and files that are not STAC', async () => {
  const list = `{ "type": "FeatureCollection", "features": [${broken}, ${broken}] }`
  const files: Record<string, string> = { 'item.json': broken, 'list.json': list, 'place.geojson': OTHERS['place.geojson'] }
  const parse = vi.spyOn(JSON, 'parse')
  const { summary } = await lint(files)
  const texts = parse.mock.calls.map(([text]) => text)
  parse.mockRestore()
  expect(Object.values(files).map((text) => texts.filter((one) => one === text).length)).toEqual([1, 1, 1])
  expect(summary).toMatchObject({ documents: 3, skipped: 1 })
})

it('a named file is always linted; without authentication it has findings only when named alone', async () => {
  await lint({ '.gitignore': '*\n', 'tsconfig.json': '{}', 'node_modules/item.json': broken })
  const { found } = await lint({}, join(folder, 'tsconfig.json'), join(folder, 'node_modules/item.json'), '--ignore', '*')
  expect(found).toEqual(['node_modules/item.json dangling-ref'])
  expect((await lint({}, join(folder, 'tsconfig.json'))).found).toEqual(['tsconfig.json unknown-document'])
})

it('reads a text that is no JSON once, however many strings and comments in it do not end', async () => {
  const many = 300_000
  const files = { 'a.json': `{"id":"${'\\"'.repeat(many)}`, 'b.json': `{}${'/*'.repeat(many)}`, 'c.json': `{"id":"x" /* ,}` }
  expect((await lint(files)).found).toEqual(['a.json not-json', 'b.json not-json', 'c.json not-json'])
})
