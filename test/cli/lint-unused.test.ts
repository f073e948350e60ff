import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { EXTENSION } from '../harness/documents.ts'
import { catalog, HREF, json, link } from './crawl/catalogs.ts'
import { put, temporaryFolder } from './folder.ts'
import { itemWith, KEY_SCHEME } from './items.ts'
import { run } from './run.ts'
import { serve } from './server.ts'

const folder = await temporaryFolder()
const schemes = (...names: string[]) => Object.fromEntries(names.map((name) => [name, KEY_SCHEME]))
const collection = (id: string, names: readonly string[], ...links: object[]) => ({
  ...catalog(...links),
  type: 'Collection',
  id,
  license: 'MIT',
  extent: {},
  stac_extensions: [EXTENSION],
  'auth:schemes': schemes(...names),
})
/** An Item that refers to schemes which its Collection defines. */
const borrower = (id: string, ...refs: string[]) => ({
  ...itemWith({ data: { href: HREF, 'auth:refs': refs } }),
  id,
  properties: { datetime: null },
})

const STRICT = ['--preset', 'strict', '--rule', 'missing-schemes=off', '--rule', 'dangling-ref=off']
const unusedIn = (stdout: string) =>
  JSON.parse(stdout)
    .problems.filter(({ code }: { code: string }) => code === 'unused-scheme')
    .map(({ document, pointer }: { document: string; pointer: string }) => `${document.split('/').at(-1)} ${pointer}`)

it('lint takes a scheme of a Collection for used when an Item of the run refers to it, in any order', async () => {
  const one = await put(folder, 'collection.json', collection('c', ['key', 'spare']))
  const two = await put(folder, 'item.json', borrower('i', 'key'))
  for (const inputs of [
    [one, two],
    [two, one],
  ]) {
    const { stdout } = await run(['lint', ...inputs, '--format', 'json', ...STRICT])
    expect(unusedIn(stdout)).toEqual(['collection.json /auth:schemes/spare'])
    expect(JSON.parse(stdout).summary).toMatchObject({ documents: 2, warnings: 1, suggestions: 1 })
  }
  expect(unusedIn((await run(['lint', one, '--format', 'json', ...STRICT])).stdout)).toHaveLength(2)
})

it('lint sees the references of documents for which the rule is off', async () => {
  const config = await put(folder, 'config.json', {
    overrides: [{ files: ['**/quiet.json'], rules: { 'unused-scheme': 'off' }, reason: 'old' }],
  })
  const one = await put(folder, 'loud.json', collection('c', ['key']))
  const two = await put(folder, 'quiet.json', borrower('i', 'key'))
  const { stdout, code } = await run(['lint', one, two, '--config', config, '--format', 'json', ...STRICT])
  expect([unusedIn(stdout), code]).toEqual([[], 0])
})

it('lint keeps unused schemes at their places among the other findings of a document', async () => {
  const broken = collection('c', ['key', 'spare'])
  const text = JSON.stringify({ ...broken, 'auth:schemes': { bad: {}, ...broken['auth:schemes'], worse: {} } }, null, 2)
  const one = await put(folder, 'broken.json', text)
  const two = await put(folder, 'after.json', borrower('i', 'gone', 'gone'))
  const { stdout } = await run(['lint', one, two, '--format', 'json', ...STRICT])
  const found = JSON.parse(stdout).problems
  const inFirst = found.filter(({ document }: { document: string }) => document === one)
  expect(found.slice(0, inFirst.length)).toEqual(inFirst)
  expect(inFirst.map(({ line }: { line: number }) => line)).toEqual(
    inFirst.map(({ line }: { line: number }) => line).toSorted((left: number, right: number) => left - right),
  )
  expect(unusedIn(stdout).length).toBeGreaterThan(1)
})

it.each(['json', 'ndjson', 'pretty'])('lint lists the unused schemes of a file of lines, each at its line, as %s', async (format) => {
  const lines = [...['a', 'b', 'c'].map((id) => collection(id, ['key', 'spare'])), borrower('i', 'key')]
  const name = await put(folder, `lines-${format}.ndjson`, lines.map((line) => JSON.stringify(line)).join('\n'))
  const { stdout } = await run(['lint', name, '--format', format, ...STRICT])
  expect(stdout).toContain('spare')
  expect(stdout.match(/remove it/g)).toHaveLength(3)
  expect(stdout).not.toContain('\\"key\\"')
  if (format === 'json') expect(JSON.parse(stdout).problems.map(({ line }: { line: number }) => line)).toEqual([1, 2, 3])
})

it('a baseline holds what is unused in the whole run only', async () => {
  const one = await put(folder, 'with-baseline.json', collection('c', ['key', 'spare']))
  const two = await put(folder, 'with-baseline-item.json', borrower('i', 'key'))
  const baseline = join(folder, 'baseline.json')
  await run(['lint', one, two, '--baseline', baseline, '--update-baseline', ...STRICT])
  expect(Object.keys(JSON.parse(await readFile(baseline, 'utf8')).findings)).toHaveLength(1)
  const { stdout, stderr } = await run(['lint', two, one, '--baseline', baseline, '--format', 'json', ...STRICT])
  expect(JSON.parse(stdout)).toMatchObject({ problems: [], summary: { baselined: 1 } })
  expect(stderr).toBe('')
})

const tree = (async () => {
  const below = Array.from({ length: 6 }, (_, index) => `c${index}`)
  const documents = below.flatMap((id, index) => [
    // Every second Item refers to a scheme of its Collection; `never` is unused in all of them.
    [`/${id}`, json(collection(id, [`own${index}`, 'never', 'shared'], link('item', `${id}-item`)))] as const,
    [`/${id}-item`, json(borrower(`${id}-item`, ...(index % 2 ? [`own${index}`] : []), ...(index === 5 ? ['shared'] : [])))] as const,
  ])
  return serve({
    '/': json({ ...collection('root', ['root']), links: below.map((id) => link('child', id)) }),
    ...Object.fromEntries(documents),
  })
})()

it.each(['json', 'pretty', 'sarif'])('merge finds the schemes unused that one run finds unused, as %s', async (format) => {
  const start = (await tree).origin
  const crawl = ['lint', '--crawl', start, ...STRICT]
  const whole = await run([...crawl, '--format', format])
  for (const of of [2, 3]) {
    const parts = Array.from({ length: of }, (_, index) => join(folder, `${format}-${of}-${index}`))
    for (const [index, part] of parts.entries()) {
      const { stdout } = await run([...crawl, '--shard', `${index + 1}/${of}`, '--format', `json=${part}`, '--format', 'ndjson'])
      expect(stdout.split('\n').filter((line) => line.startsWith('{"rule":"unused-scheme"'))).toEqual([])
    }
    for (const order of [parts, parts.toReversed()]) {
      const merged = await run(['merge', ...order, '--format', format])
      expect([merged.stdout, merged.code]).toEqual([whole.stdout, whole.code])
    }
  }
  const unused = unusedIn((await run([...crawl, '--format', 'json'])).stdout)
  expect(unused.filter((line: string) => line.endsWith('/never'))).toHaveLength(6)
  expect(unused.filter((line: string) => /own/.test(line))).toEqual([
    'c0 /auth:schemes/own0',
    'c2 /auth:schemes/own2',
    'c4 /auth:schemes/own4',
  ])
  expect(unused.filter((line: string) => line.endsWith('/shared'))).toEqual([])
})
