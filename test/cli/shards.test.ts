/** Parts of inputs that are files, without a crawl: `--shard` of lint, download and authorize. */

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Problem } from '../../src/lint/index.ts'
import { EXTENSION } from '../harness/documents.ts'
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
    stac_extensions: [EXTENSION],
    'auth:schemes': { lent: { type: 'http', scheme: 'basic' }, unused: { type: 'http', scheme: 'basic' } },
  })
  await put(root, 'uses.json', {
    ...itemWith({ data: { href: 'https://d.example/f', 'auth:refs': ['lent'] } }),
    properties: { datetime: null },
  })
  await put(root, 'broken.json', '{"type": "Feature", "stac_version": "1.1.0",')
  return root
}

function withoutFingerprints(report: string): unknown {
  return JSON.parse(report, (name, value) => (name === 'fingerprint' ? undefined : value))
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

  it('merged reports of any number of parts equal the report of one run byte for byte', async () => {
    const whole = (await run(['lint', await library(), '--preset', 'strict', '--format', 'json'])).stdout
    const { problems, summary } = JSON.parse(whole)
    const found = problems.map(({ code, pointer }: Problem) => `${code} ${pointer}`)
    expect(found.filter((one: string) => one.startsWith('conflicting-scheme')).length).toBe(2)
    expect(found).toContain('unused-scheme /auth:schemes/unused')
    expect(found).not.toContain('unused-scheme /auth:schemes/lent')
    for (const of of [1, 2, 3, 7]) {
      const parts = await merged(of)
      expect(parts.text).toBe(whole)
      if (of > 1) expect(Math.max(...parts.sizes)).toBeLessThan(summary.documents)
    }
  })

  it('the order of the inputs decides which definition of a scheme is the first one', async () => {
    const root = await library()
    const inputs = ['i5.json', 'i0.json', 'list.ndjson', 'i2.json', 'features.json'].map((name) => join(root, name))
    for (const given of [inputs, [...inputs].reverse()]) {
      const whole = (await run(['lint', ...given, '--preset', 'strict', '--format', 'json'])).stdout
      const reports = await Promise.all(
        ['1/2', '2/2'].map(async (part) => {
          const report = join(folder, `ordered-${part[0]}.ndjson`)
          await run(['lint', ...given, '--preset', 'strict', '--shard', part, '--format', `ndjson=${report}`])
          return report
        }),
      )
      expect((await run(['merge', ...reports, '--format', 'json'])).stdout).toBe(whole)
      expect(whole).toContain('conflicting-scheme')
    }
  })

  it('findings that the baseline holds are not in the merged report, also those between files', async () => {
    const root = await library()
    const baseline = join(folder, 'baseline.json')
    await run(['lint', root, '--preset', 'strict', '--baseline', baseline, '--update-baseline'])
    await put(root, 'new.json', { ...dangling, id: 'new', properties: schemeIn('cookie') })
    const whole = (await run(['lint', root, '--preset', 'strict', '--baseline', baseline, '--format', 'json'])).stdout
    expect(JSON.parse(whole).problems.map(({ code }: Problem) => code)).toContain('conflicting-scheme')
    const reports: string[] = []
    for (const part of ['1/3', '2/3', '3/3']) {
      const report = join(folder, `known-${part[0]}.json`)
      await run(['lint', root, '--preset', 'strict', '--baseline', baseline, '--shard', part, '--format', `json=${report}`])
      reports.push(report)
    }
    const parts = (await run(['merge', ...reports, '--format', 'json'])).stdout
    expect(withoutFingerprints(parts)).toEqual(withoutFingerprints(whole))
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
