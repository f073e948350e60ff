/** Parts of inputs that are files, without a crawl: `--shard` of lint, download and authorize-all. */

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Problem } from '../../src/lint/index.ts'
import { catalog, clean, dangling } from './crawl/catalogs.ts'
import { put, temporaryFolder } from './folder.ts'
import { itemWith } from './items.ts'
import { run } from './run.ts'

const folder = await temporaryFolder()
const schemeIn = (place: string) => ({ datetime: null, 'auth:schemes': { key: { type: 'apiKey', name: 'k', in: place } } })

/** Files with findings of each kind: in one file, between files, in lists, and one that is not JSON. */
async function library(): Promise<string> {
  const root = join(folder, 'library')
  await mkdir(root, { recursive: true })
  const kinds = [{ ...clean, properties: schemeIn('header') }, dangling, { ...dangling, properties: schemeIn('query') }]
  for (let index = 0; index < 15; index++) await put(root, `i${index}.json`, { ...kinds[index % 3], id: `i${index}` })
  await put(root, 'list.ndjson', `${JSON.stringify({ ...dangling, id: 'l1' })}\n${JSON.stringify({ ...clean, id: 'l2' })}\n`)
  await put(root, 'features.json', {
    type: 'FeatureCollection',
    features: [
      { ...dangling, id: 'f1' },
      { ...clean, id: 'f2' },
    ],
  })
  await put(root, 'catalog.json', {
    ...catalog(),
    type: 'Collection',
    license: 'MIT',
    extent: {},
    stac_extensions: ['https://stac-extensions.github.io/authentication/v1.1.0/schema.json'],
    'auth:schemes': { lent: { type: 'http', scheme: 'basic' }, unused: { type: 'http', scheme: 'basic' } },
  })
  await put(root, 'uses.json', {
    ...itemWith({ data: { href: 'https://d.example/f', 'auth:refs': ['lent'] } }),
    properties: { datetime: null },
  })
  await put(root, 'broken.json', '{"type": "Feature", "stac_version": "1.1.0",')
  return root
}

describe('lint --shard of files', () => {
  async function merged(of: number): Promise<{ readonly text: string; readonly sizes: readonly number[] }> {
    const root = await library()
    const sizes: number[] = []
    const reports: string[] = []
    for (let index = 1; index <= of; index++) {
      const report = join(folder, `${of}-${index}.json`)
      await run(['lint', root, '--preset', 'strict', '--shard', `${index}/${of}`, '--format', `json=${report}`])
      sizes.push(JSON.parse(await readFile(report, 'utf8')).summary.documents)
      reports.push(report)
    }
    return { text: (await run(['merge', ...reports.reverse(), '--format', 'json'])).stdout, sizes }
  }

  it('the merged reports of any number of parts are equal byte for byte, and no part has all files', async () => {
    const whole = await merged(1)
    for (const of of [2, 3, 7]) {
      const parts = await merged(of)
      expect(parts.text).toBe(whole.text)
      expect(Math.max(...parts.sizes)).toBeLessThan(whole.sizes[0] ?? 0)
    }
  })

  it('the parts find together what a run over all files finds, also between files', async () => {
    const root = await library()
    const plain: { problems: Problem[]; summary: { documents: number } } = JSON.parse(
      (await run(['lint', root, '--preset', 'strict', '--format', 'json'])).stdout,
    )
    const parts: typeof plain = JSON.parse((await merged(3)).text)
    const among = new Set(['conflicting-scheme'])
    // Which of two definitions counts as the other one depends on the order of the documents.
    const facts = ({ problems }: typeof plain) =>
      problems.filter(({ code }) => !among.has(code)).map(({ document, pointer, code, line }) => `${document} ${pointer} ${code} ${line}`)
    expect(facts(parts).sort()).toEqual(facts(plain).sort())
    const conflicts = ({ problems }: typeof plain) => problems.filter(({ code }) => among.has(code)).length
    expect(conflicts(parts)).toBe(conflicts(plain))
    expect(conflicts(parts)).toBeGreaterThan(0)
    expect(parts.problems.filter(({ code }) => code === 'unused-scheme').map(({ pointer }) => pointer)).toEqual(
      expect.arrayContaining(['/auth:schemes/unused']),
    )
    expect(parts.problems.map(({ pointer }) => pointer)).not.toContain('/auth:schemes/lent')
    expect(parts.summary.documents).toBe(plain.summary.documents)
  })

  it('a part without files has an empty report, which is no mistake', async () => {
    const root = join(folder, 'single')
    await mkdir(root, { recursive: true })
    await put(root, 'one.json', { ...clean, id: 'one' })
    const codes = await Promise.all(['1/2', '2/2'].map(async (part) => (await run(['lint', root, '--shard', part])).code))
    expect(codes).toEqual([0, 0])
  })
})

describe('download --shard of files', () => {
  it('divides the items of all kinds of lists among the parts, and every file is in one of them', async () => {
    const items = Array.from({ length: 20 }, (_, index) => ({
      ...itemWith({ data: { href: `https://d.example/f${index}.bin` } }),
      id: `i${index}`,
    }))
    await writeFile(
      join(folder, 'items.ndjson'),
      items
        .slice(0, 10)
        .map((item) => `${JSON.stringify(item)}\n`)
        .join(''),
    )
    await put(folder, 'items.json', { type: 'FeatureCollection', features: items.slice(10) })
    const inputs = [join(folder, 'items.ndjson'), join(folder, 'items.json')]
    const written: string[] = []
    for (const part of ['1/3', '2/3', '3/3']) {
      const outcome = await run(['download', ...inputs, '-d', folder, '--shard', part, '--dry-run', '--json'])
      expect(outcome.code, outcome.stderr).toBe(0)
      const events = outcome.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      const paths = events.flatMap(({ file }) => file?.path ?? [])
      expect(paths.length).toBeGreaterThan(0)
      expect(paths.length).toBeLessThan(20)
      written.push(...paths)
    }
    expect(written.length).toBe(20)
    expect(new Set(written).size).toBe(20)
  })
})
