import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { FORMATS } from '../../src/lint/reporters/report.ts'
import { catalog, clean, dangling, json, link } from './crawl/catalogs.ts'
import { put, temporaryFolder } from './folder.ts'
import { itemWith } from './items.ts'
import { lastError, run } from './run.ts'
import { serve } from './server.ts'

const folder = await temporaryFolder()
const file = (name: string) => join(folder, name)

const links = Array.from({ length: 12 }, (_, index) => link('item', `i${index}`))
const items = links.map(({ href }: { href?: string }, index) => [`/${href}`, json({ ...(index % 3 ? clean : dangling), id: `i${index}` })])
const server = await serve({ '/': json(catalog(...links, link('item', 'gone'))), ...Object.fromEntries(items) })
const crawl = (...argv: string[]) => run(['lint', '--crawl', server.origin, ...argv])

/** A Collection that lends a scheme to some of its Items, of which others define one name in two ways. */
const different = (() => {
  const names = Array.from({ length: 24 }, (_, index) => `d${index}`)
  const schemeIn = (place: string) => ({ datetime: null, 'auth:schemes': { key: { type: 'apiKey', name: 'k', in: place } } })
  const kinds = [
    { ...clean, properties: schemeIn('header') },
    { ...dangling, properties: schemeIn('query') },
    itemWith({ data: { href: 'https://data.example/f', 'auth:refs': ['lent', 'lent'] } }),
    { ...itemWith({ data: { href: 'https://data.example/f', 'auth:refs': ['lent'] } }), properties: { datetime: null } },
  ]
  const collection = {
    ...catalog(...names.map((name) => link('item', name))),
    type: 'Collection',
    'auth:schemes': { lent: { type: 'http', scheme: 'basic' } },
  }
  const documents = names.map((name, index) => [
    `/${name}`,
    json({ ...kinds[index % 4], id: name, ...(index % 4 > 1 && { properties: { datetime: null } }) }),
  ])
  return serve({ '/': json(collection), ...Object.fromEntries(documents) })
})()

const isReport = new Ajv({ strictTypes: false }).compile(JSON.parse(await readFile('schemas/report.json', 'utf8')))

/** A report with these findings. */
const report = (problems: readonly object[], summary: object = {}) => ({
  version: 1,
  problems,
  summary: { documents: 1, errors: problems.length, warnings: 0, infos: 0, incomplete: [], ...summary },
})
const problem = (document: string, more: object = {}) => ({
  rule: 'dangling-ref',
  code: 'dangling-ref',
  severity: 'error',
  message: 'm',
  document,
  pointer: '',
  ...more,
})

describe('merge', () => {
  it('makes of the parts what one run gives, with its exit code and its failures', async () => {
    const whole = await crawl('--format', 'json')
    const parts = [1, 2, 3].map((index) => file(`part-${index}`))
    for (const [index, part] of parts.entries()) await crawl('--shard', `${index + 1}/3`, '--format', `ndjson=${part}`)
    const merged = await run(['merge', ...parts.toReversed(), '--format', 'json'])
    expect([merged.stdout, merged.code]).toEqual([whole.stdout, whole.code])
    expect(JSON.parse(merged.stdout).summary).toMatchObject({ documents: 13, errors: 5, incomplete: [{ code: 'HTTP_404' }] })
    expect(lastError(merged)).toMatchObject({ code: 'HTTP_404' })
  })

  it.each(FORMATS)('returns the bytes of one run as %s, whatever the order of the parts', async (format) => {
    const start = (await different).origin
    const whole = await run(['lint', '--crawl', start, '--format', format])
    const parts = [1, 2, 3].map((index) => file(`bytes-${format}-${index}`))
    for (const [index, part] of parts.entries())
      await run(['lint', '--crawl', start, '--shard', `${index + 1}/3`, '--format', `${index === 1 ? 'json' : 'ndjson'}=${part}`])
    const [one = '', two = '', three = ''] = parts
    for (const order of [parts, [three, one, two]]) {
      const merged = await run(['merge', ...order, '--format', format])
      expect([merged.stdout, merged.code]).toEqual([whole.stdout, whole.code])
    }
  })

  it('reports once which schemes of the parts differ, and adds up what they borrow from one Collection', async () => {
    const start = (await different).origin
    const parts = ['1/3', '2/3', '3/3'].map((shard) => ({ shard, name: file(`once-${shard[0]}`) }))
    for (const { shard, name } of parts) await run(['lint', '--crawl', start, '--shard', shard, '--format', `json=${name}`])
    const { problems } = JSON.parse((await run(['merge', ...parts.map(({ name }) => name), '--format', 'json'])).stdout)
    const of = (rule: string) => problems.filter((each: { rule: string }) => each.rule === rule)
    expect(of('conflicting-scheme')).toHaveLength(1)
    expect(of('scheme-outside-document')).toMatchObject([{ pointer: '/auth:schemes/lent', count: 18 }])
    for (const { name } of parts) expect(isReport(JSON.parse(await readFile(name, 'utf8'))), JSON.stringify(isReport.errors)).toBe(true)
  })

  it('takes the report of a part that no document fell to', async () => {
    const one = await put(folder, 'alone.json', clean)
    const parts = ['1/2', '2/2'].map((shard) => ['lint', '--crawl', one, '--shard', shard, '--format', `json=${file(`alone-${shard[0]}`)}`])
    for (const argv of parts) expect((await run(argv)).code).toBe(0)
    const merged = JSON.parse((await run(['merge', file('alone-1'), file('alone-2'), '--format', 'json'])).stdout)
    expect(merged.summary).toMatchObject({ documents: 1, errors: 0 })
  })

  it('takes one of the reports from standard input', async () => {
    const part = await put(folder, 'part.json', report([problem('a')]))
    const merged = await run(['merge', part, '-', '--format', 'json'], { stdin: JSON.stringify(report([problem('b')])) })
    expect([merged.code, merged.stderr]).toEqual([1, ''])
    expect(JSON.parse(merged.stdout)).toMatchObject({ problems: [{ document: 'a' }, { document: 'b' }], summary: { documents: 2 } })
    expect(lastError(await run(['merge', '-', '-', '--format', 'json']))).toMatchObject({ code: 'USAGE' })
    expect(lastError(await run(['merge', '-', '--format', 'json'], { stdin: '{' }))).toMatchObject({ code: 'CONFIG_INVALID' })
  })

  it('keeps the exit code of a limit that the user set', async () => {
    await crawl('--max-depth', '0', '--same-origin', '--format', `json=${file('limited')}`)
    const merged = await run(['merge', file('limited'), '--format', 'json'])
    expect(merged.code).toBe(0)
    expect(isReport(JSON.parse(merged.stdout))).toBe(true)
    expect(JSON.parse(merged.stdout).summary.incomplete).toMatchObject([{ code: 'CRAWL_LIMIT', exit: 0 }])
  })

  it('keeps a failure that is only a limit in another part', async () => {
    const left = { url: 'u', code: 'CRAWL_LIMIT' }
    const one = await put(folder, 'failed', report([], { incomplete: [left] }))
    const two = await put(folder, 'stopped', report([], { incomplete: [{ ...left, exit: 0 }] }))
    for (const parts of [
      [one, two],
      [two, one],
    ]) {
      const { stdout, code } = await run(['merge', ...parts, '--format', 'json'])
      expect([code, JSON.parse(stdout).summary.incomplete]).toEqual([5, [left]])
    }
  })

  it('reports once what two parts have found, and counts it once', async () => {
    const one = await put(folder, 'one', report([problem('b'), problem('b')]))
    const two = await put(folder, 'two', report([problem('a'), problem('b', { fingerprint: 'x' })], { baselined: 2 }))
    const { problems, summary } = JSON.parse((await run(['merge', one, two, '--format', 'json'])).stdout)
    expect(problems.map(({ document }: { document: string }) => document)).toEqual(['a', 'b', 'b'])
    expect(summary).toMatchObject({ documents: 2, errors: 3, baselined: 2 })
  })

  it('adds up what the parts do not list', async () => {
    const one = await put(folder, 'unlisted-1', report([problem('a')], { errors: 5, unlisted: 4 }))
    const two = await put(folder, 'unlisted-2', report([problem('b')], { errors: 4, unlisted: 3 }))
    const { stdout, stderr } = await run(['merge', one, two, '--format', 'json'])
    expect(JSON.parse(stdout).summary).toMatchObject({ errors: 9, unlisted: 7 })
    expect(stderr).toContain('FINDINGS_UNLISTED')
    expect((await run(['merge', one, two])).stdout).toMatch(/… and 7 more\n(?:.*\n)*.*9 errors, .*, 7 findings not listed/)
  })

  it('writes every format, and counts what a quiet report does not list', async () => {
    const quiet = await put(folder, 'quiet', report([], { errors: 0, warnings: 2 }))
    expect((await run(['merge', quiet])).code).toBe(0)
    expect((await run(['merge', quiet, '--max-warnings', '1'])).code).toBe(1)
    expect((await run(['merge', quiet, '--fail-severity', 'warn'])).code).toBe(1)
    const one = await put(folder, 'formats', report([problem('a.json', { line: 3, column: 5, endLine: 3, endColumn: 9 })]))
    const formats = ['concise', 'sarif', 'junit', 'github', 'gitlab', 'markdown', 'rdjson', 'ndjson', 'json']
    const { stdout, code } = await run([
      'merge',
      one,
      '--format',
      'pretty',
      ...formats.flatMap((name) => ['--format', `${name}=${file(name)}`]),
    ])
    expect([stdout, code]).toEqual([expect.stringContaining('a.json\n  3:5 error  m  dangling-ref'), 1])
    for (const name of formats) expect(await readFile(file(name), 'utf8')).toContain('a.json')
  })

  it.each([
    ['no JSON', '{', 'line 1 is not JSON'],
    ['nothing', '', 'does not end with a summary'],
    ['lines that were cut', `${JSON.stringify(problem('a'))}\n`, 'does not end with a summary'],
    [
      'several reports in one file',
      `${JSON.stringify(report([]))}\n`.repeat(2).replaceAll('"problems":[],', ''),
      'it contains several reports',
    ],
    ['another version', { ...report([]), version: 2 }, 'not a report of version 1'],
    ['problems that are none', { ...report([]), problems: {} }, 'its problems are not a list'],
    ['a problem without a rule', report([{ severity: 'error', message: '', pointer: '' }]), 'problem 1 is malformed'],
    ['a severity that there is not', report([problem('a'), problem('a', { severity: 'fatal' })]), 'problem 2 is malformed'],
    ['a line that is no number', report([problem('a', { line: 'x' })]), 'problem 1 is malformed'],
    ['fewer errors than it lists', report([problem('a')], { errors: 0 }), 'its summary counts fewer errors than it lists'],
    ['fewer warnings than it lists', report([problem('a', { severity: 'warn' })]), 'counts fewer warnings than it lists'],
    ['fewer infos than it lists', report([problem('a', { severity: 'info' })]), 'counts fewer infos than it lists'],
    ['a negative count', report([], { errors: -1 }), 'its summary is malformed'],
    ['an exit code that is none', report([], { incomplete: [{ url: 'u', code: 'HTTP_404', exit: 'no' }] }), 'its summary is malformed'],
    ['a code that is none', report([], { incomplete: [{ url: 'u', code: '\u001b[2J' }] }), 'its summary is malformed'],
  ])('refuses %s', async (_, content, message) => {
    const bad = await put(folder, 'bad', content)
    const outcome = await run(['merge', '--format', 'json', bad])
    expect([outcome.code, outcome.stdout]).toEqual([2, ''])
    expect(lastError(outcome)).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(message) })
  })

  it('refuses no report, one that is not there, and one that is given twice', async () => {
    const one = await put(folder, 'twice', report([]))
    expect((await run(['merge'])).code).toBe(2)
    expect((await run(['merge', file('missing')])).code).toBe(6)
    expect((await run(['merge', one, one])).stderr).toContain('is given twice')
  })

  it.each([
    ['the report of a shard that is missing', ['1/3', '3/3'], 'the report of shard 2/3 is missing'],
    ['a single report of several shards', ['1/2'], 'the report of shard 2/2 is missing'],
    ['the same shard in two files', ['1/2', '1/2'], 'the report of shard 1/2 is given twice'],
    ['shards of different runs', ['1/2', '2/3'], 'one has 2 shards, another has 3'],
  ])('refuses %s, because findings would be missing or counted twice', async (_, shards, message) => {
    const shardOf = (text: string) => ({ index: Number(text[0]), of: Number(text[2]), names: [], definitions: [] })
    const files = await Promise.all(shards.map((one, at) => put(folder, `shard-${at}`, { ...report([]), shard: shardOf(one) })))
    const outcome = await run(['merge', '--format', 'json', ...files])
    expect([outcome.code, outcome.stdout]).toEqual([2, ''])
    expect(lastError(outcome)).toMatchObject({ code: 'USAGE', message: expect.stringContaining(message) })
  })

  it('prints no members that a report does not have, and no control characters', async () => {
    const hostile = await put(folder, 'hostile', report([problem('a\u001b[2J', { __proto__: null, extra: 'secret' })]))
    const { stdout } = await run(['merge', hostile, '--format', 'json'])
    expect(stdout).not.toMatch(/secret|\u001b/)
    expect((await run(['merge', hostile])).stdout).not.toContain('\u001b')
  })
})
