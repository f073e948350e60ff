/** What `lint` says of a mistake that is made many times. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { FORMATS } from '../../src/lint/reporters/report.ts'
import { EXTENSION } from '../harness/documents.ts'
import { put, temporaryFolder } from './folder.ts'
import { run } from './run.ts'

const folder = await temporaryFolder()

/** An Item that leaves its schemes to what is around it. */
const itemOf = (index: number, ...refs: readonly string[]) => ({
  type: 'Feature',
  stac_version: '1.1.0',
  stac_extensions: [EXTENSION],
  id: `item-${index}`,
  geometry: null,
  properties: { datetime: null },
  links: [],
  assets: { data: { href: `https://data.example/${index}`, 'auth:refs': refs } },
})
const itemsOf = (count: number, ...refs: readonly string[]) => Array.from({ length: count }, (_, index) => itemOf(index, ...refs))
const page = await put(folder, 'page.json', { type: 'FeatureCollection', features: itemsOf(250, 'gone'), links: [] })

describe('lint of a page of 250 Items that name a scheme which the page does not have', () => {
  it('a scheme that the page lacks and 250 of its Items name is one finding at the page', async () => {
    const { code, stdout } = await run(['lint', page, '--format', 'json'])
    const report = JSON.parse(stdout)
    expect(code).toBe(1)
    expect(report.problems).toMatchObject([{ rule: 'missing-schemes', pointer: '', line: 1, column: 1, count: 250 }])
    expect(report.problems[0].places.map(({ id }: { id: string }) => id)).toEqual(['item-0', 'item-1', 'item-2', 'item-3', 'item-4'])
    expect(report.summary).toEqual({ documents: 250, errors: 1, warnings: 0, infos: 0, places: 250, incomplete: [] })
    expect(new Ajv({ strictTypes: false }).compile(JSON.parse(await readFile('schemas/report.json', 'utf8')))(report)).toBe(true)
  })

  it('reports it to people in one line, with the first positions', async () => {
    const { stdout } = await run(['lint', page])
    expect(stdout).toMatch(
      /1:1 error {2}.*\(in 250 places, first 1:\d+ \(id "item-0"\), 1:\d+ \(id "item-1"\), 1:\d+ \(id "item-2"\)\) {2}missing-schemes\n/,
    )
    expect(stdout).toMatch(/\n250 documents: 1 error, 0 warnings, 0 infos in 250 places\n$/)
  })

  it.each(FORMATS)('lint of a page of 250 Items that name a scheme which the page does not have is reported once as %s', async (format) => {
    const { stdout } = await run(['lint', page, '--format', format])
    expect(
      stdout.split('the document declares the authentication extension or uses auth:refs, but has no auth:schemes: define the schemes'),
    ).toHaveLength(2)
    expect(stdout).toContain('250')
  })
})

describe('lint of documents with equal mistakes', () => {
  it('reports those of each file and of each line of a list by themselves', async () => {
    const lines = await put(
      folder,
      'lines.ndjson',
      `${itemsOf(3, 'gone')
        .map((item) => JSON.stringify(item))
        .join('\n')}\n`,
    )
    const { stdout } = await run(['lint', lines, '--format', 'json'])
    expect(JSON.parse(stdout).problems.map(({ line }: { line: number }) => line)).toEqual([1, 2, 3])
    expect(JSON.parse(stdout).summary).not.toHaveProperty('places')
  })

  it('reports them once where a FeatureCollection is too large to be read as one', async () => {
    const large = join(folder, 'large.json')
    const padding = 'x'.repeat(1024 * 1024)
    const features = itemsOf(52, 'gone').map((item) => ({ ...item, properties: { ...item.properties, padding } }))
    await writeFile(large, JSON.stringify({ type: 'FeatureCollection', features, 'auth:schemes': {} }))
    const { problems, summary } = JSON.parse((await run(['lint', large, '--format', 'json', '--rule', 'undeclared-extension=off'])).stdout)
    const missing = problems.filter(({ severity }: { severity: string }) => severity === 'error')
    expect(missing).toMatchObject([{ rule: 'dangling-ref', document: large, pointer: '/auth:schemes', count: 52 }])
    expect(missing[0].places[2]).toMatchObject({ id: 'item-2', pointer: '/features/2/assets/data/auth:refs/0', line: 1 })
    expect(missing[0]).not.toHaveProperty('line')
    expect(summary.documents).toBe(52)
  })

  it('lists errors first where people are shown a part', async () => {
    const infos = Array.from({ length: 9 }, (_, index) => [`k${index}`, { type: 'http', scheme: 'basic' }])
    const item = { ...itemOf(0, 'gone'), properties: { datetime: null, 'auth:schemes': Object.fromEntries(infos) } }
    const one = await put(folder, 'infos.json', item)
    for (const format of ['pretty', 'concise']) {
      const { stdout } = await run(['lint', one, '--format', format, '--max-problems', '1', '--rule', 'unused-scheme=info'])
      expect(stdout).toContain('auth:refs names "gone"')
      expect(stdout).toMatch(/… and \d more/)
    }
  })

  it('counts what can be fixed', async () => {
    const schemes = { key: { type: 'apiKey', name: 'k', in: 'header' } }
    const item = { ...itemOf(0, 'key', 'key'), properties: { datetime: null, 'auth:schemes': schemes } }
    const one = await put(folder, 'fixable.json', item)
    const { stdout } = await run(['lint', one, '--format', 'pretty', '--format', `json=${join(folder, 'fixable')}`])
    expect(stdout).toContain('0 errors, 1 warning, 0 infos, 1 fixable with --fix\n')
    expect(JSON.parse(await readFile(join(folder, 'fixable'), 'utf8')).summary).toMatchObject({ warnings: 1, fixable: 1 })
  })
})

describe('lint --baseline of repeated mistakes', () => {
  it('reports only what was added, and lists it while documents are read', async () => {
    const work = join(folder, 'work.json')
    const baseline = join(folder, 'baseline.json')
    const write = (count: number) => writeFile(work, JSON.stringify({ type: 'FeatureCollection', features: itemsOf(count, 'gone') }))
    await write(5)
    expect((await run(['lint', work, '--baseline', baseline, '--update-baseline'])).code).toBe(0)
    expect(Object.keys(JSON.parse(await readFile(baseline, 'utf8')).findings)).toHaveLength(5)
    await write(7)
    const outcome = await run(['lint', work, '--baseline', baseline, '--format', 'ndjson'])
    const [problem, { summary }] = outcome.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect([outcome.code, problem.count, summary.baselined]).toEqual([1, 2, 5])
    expect(problem.places.map(({ id }: { id: string }) => id)).toEqual(['item-5', 'item-6'])
  })

  it('lint --baseline holds for repeated mistakes of a crawl whose Items use a scheme of their Collection', async () => {
    const link = (rel: string, href: string) => ({ rel, href })
    const write = async (count: number) => {
      for (const item of itemsOf(count, 'lent')) await put(folder, `${item.id}.json`, item)
      const links = itemsOf(count).map(({ id }) => link('item', `./${id}.json`))
      const schemes = { 'auth:schemes': { lent: { type: 'http', scheme: 'basic' } } }
      await put(folder, 'collection.json', {
        type: 'Collection',
        stac_version: '1.1.0',
        stac_extensions: [EXTENSION],
        id: 'c',
        links,
        ...schemes,
      })
    }
    const baseline = join(folder, 'crawl-baseline.json')
    const lint = (...argv: string[]) => run(['lint', '--crawl', join(folder, 'collection.json'), '--format', 'json', ...argv])
    const borrowed = ({ stdout }: { stdout: string }) =>
      JSON.parse(stdout).problems.filter(({ code }: { code: string }) => code === 'scheme-outside-document')
    await write(4)
    expect(borrowed(await lint())).toMatchObject([{ pointer: '/auth:schemes/lent', count: 4 }])
    expect((await lint('--baseline', baseline, '--update-baseline')).code).toBe(0)
    await write(6)
    const [problem, ...others] = borrowed(await lint('--baseline', baseline))
    expect([problem.count, others]).toEqual([2, []])
    expect(problem.document).toMatch(/collection\.json$/)
    expect(problem.places.map(({ id }: { id: string }) => id)).toEqual(['item-4', 'item-5'])
  })

  it('leaves a baseline that is none unchanged when not everything could be read', async () => {
    const bad = await put(folder, 'bad.json', '{')
    const outcome = await run(['lint', page, join(folder, 'missing.json'), '--baseline', bad, '--update-baseline', '--format', 'json'])
    expect([outcome.code, await readFile(bad, 'utf8')]).toEqual([2, '{'])
    expect((await run(['lint', page, '--baseline', bad, '--update-baseline'])).code).toBe(0)
    expect((await run(['lint', page, '--baseline', bad])).code).toBe(0)
  })
})
