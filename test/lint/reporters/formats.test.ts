import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import { SaxesParser } from 'saxes'
import { describe, expect, it } from 'vitest'
import { lintText } from '../../../src/lint/index.ts'
import { FORMATS, type Format, type Report, type ReportOptions, reporterOf, reportOf } from '../../../src/lint/reporters/report.ts'
import { sarif } from '../../../src/lint/reporters/sarif.ts'
import { problemWith } from './subjects.ts'

const require = createRequire(import.meta.url)
const warning = problemWith({
  rule: 'refs-list',
  code: 'duplicate-ref',
  severity: 'warn',
  message: '"k" is listed twice',
  document: 'items/b c.json',
  fingerprint: 'two',
})
const remote = problemWith({
  document: 'https://data.example/c.json',
  line: undefined,
  column: undefined,
  endLine: undefined,
  endColumn: undefined,
})
const report = reportOf([problemWith(), warning, remote], 4, [{ url: 'https://data.example/d', code: 'HTTP_404' }])
const as = async (format: Format, of: Report = report, options?: ReportOptions) => (await reporterOf(format))(of, options)
const many = (count: number) =>
  reportOf(
    Array.from({ length: count }, (_, index) => problemWith({ document: `${index}.json`, pointer: `/assets/${index}` })),
    count,
  )

describe('every format', () => {
  it.each(FORMATS)('%s of nothing is complete, and ends with a line feed', async (format) => {
    expect(await as(format, reportOf([], 0))).toMatch(/\n$/)
  })

  it.each(FORMATS)('%s names the id of a document from a URL or in a list, of each place', async (format) => {
    const url = 'https://api.example/search'
    const page = (id: string, pointer: string) => ({ ...remote, document: url, id, pointer: `${pointer}/assets/data/auth:refs/0` })
    const listed = problemWith({ document: 'list.json', id: 'item-c', pointer: '/features/7/assets/data/auth:refs/0' })
    const text = await as(format, reportOf([page('item-a', '/features/0'), page('item-b', '/features/1'), listed], 3))
    for (const id of ['item-a', 'item-b', 'item-c']) expect(text).toContain(id)
    expect(await as(format, reportOf([problemWith({ id: 'item-d' })], 1))).not.toMatch(/\(id .*item-d/)
  })

  it.each(FORMATS)('%s says the same twice', async (format) => {
    expect(await as(format)).toBe(await as(format))
  })
})

describe('concise', () => {
  it('concise has a line per finding and the totals', async () => {
    expect(await as('concise')).toBe(
      [
        'items/a.json:4:9: error: "gone" is not defined in auth:schemes [dangling-ref]',
        'items/b c.json:4:9: warn: "k" is listed twice [duplicate-ref]',
        'https://data.example/c.json#/assets/data/auth:refs/0: error: "gone" is not defined in auth:schemes (id "a") [dangling-ref]',
        '4 documents: 2 errors, 1 warning, 0 infos, 1 not read',
        '',
      ].join('\n'),
    )
  })

  it('shows as many as it may', async () => {
    expect(await as('concise', many(9), { limit: 2 })).toMatch(/^0\.json.*\n1\.json.*\n… and 7 more\n9 documents/)
  })
})

describe('pretty', () => {
  it('puts what it does not list into groups', async () => {
    expect(await as('pretty', many(9), { limit: 2 })).toMatch(/… and 7 more\n {2}7 × error {2}"gone" is not defined/)
  })
})

describe('ndjson', () => {
  it('ndjson has a finding on each line and the summary last', async () => {
    const lines = (await as('ndjson'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toHaveLength(4)
    expect(lines[0]).toMatchObject({ code: 'dangling-ref', line: 4 })
    expect(lines[3]).toEqual({ version: 1, summary: report.summary })
  })
})

describe('github', () => {
  it('names the file, the lines and the columns, and a URL only in the text', async () => {
    const [unread, first, second, third, last] = (await as('github')).split('\n')
    expect(unread).toBe('::error title=stac-auth HTTP_404::https://data.example/d: could not be read')
    expect(first).toBe(
      '::error file=items/a.json,line=4,endLine=4,col=9,endColumn=14,title=stac-auth dangling-ref::"gone" is not defined in auth:schemes (/assets/data/auth:refs/0)',
    )
    expect(second).toMatch(/^::error title=.*\(https:\/\/data\.example\/c\.json \//)
    expect(third).toMatch(/^::warning file=items\/b c\.json,/)
    expect(last).toBe('::notice title=stac-auth::4 documents: 2 errors, 1 warning, 0 infos, 1 not read')
  })

  it('annotates a file that could not be read with the reason, once beside a finding of a crawl', async () => {
    const message = 'cannot read "a,b.json": access is denied'
    const told = { rule: 'unreachable', code: 'unreachable', message: 'the document could not be read: gone (HTTP_404)' }
    const found = [{ ...warning, ...told, document: 'https://data.example/d' }]
    const incomplete = [
      { url: 'a,b.json', code: 'FILE_ACCESS', message },
      { url: 'https://data.example/d', code: 'HTTP_404', message: 'not found' },
      { url: 'https://data.example/e', code: 'CRAWL_LIMIT', exit: 0 },
    ]
    const lines = (await as('github', reportOf(found, 1, incomplete))).trimEnd().split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[0]).toBe(`::error file=a%2Cb.json,title=stac-auth FILE_ACCESS::${message}`)
    expect(lines[1]).toMatch(/^::warning title=stac-auth unreachable::/)
  })

  it('annotates no more than is shown, the worst first', async () => {
    const warnings = Array.from({ length: 30 }, (_, index) => ({ ...warning, message: `"${index}" is listed twice` }))
    const found = [...warnings, ...many(15).problems]
    const lines = (await as('github', reportOf(found, 45))).trimEnd().split('\n')
    expect(lines.filter((line) => line.startsWith('::error '))).toHaveLength(10)
    expect(lines.filter((line) => line.startsWith('::warning '))).toHaveLength(10)
    expect(lines.at(-1)).toContain('25 findings have no annotation')
  })
})

describe('gitlab', () => {
  it('gitlab has a fingerprint that is different for each finding', async () => {
    const issues = JSON.parse(await as('gitlab'))
    expect(issues[0]).toEqual({
      type: 'issue',
      check_name: 'dangling-ref',
      description: '"gone" is not defined in auth:schemes',
      fingerprint: 'dangling-ref a /x',
      severity: 'major',
      location: { path: 'items/a.json', lines: { begin: 4 } },
    })
    expect(issues.map(({ fingerprint }: { fingerprint: string }) => fingerprint)).toEqual([
      'dangling-ref a /x',
      'two',
      'dangling-ref a /x 2',
      'HTTP_404 https://data.example/d',
    ])
  })
})

describe('what could not be read', () => {
  const unread = { url: './items/d.json', code: 'FILE_ACCESS', message: 'cannot read "items/d.json": no such file or folder' } as const

  it('is an issue of gitlab, so that earlier findings do not look repaired', async () => {
    expect(JSON.parse(await as('gitlab', reportOf([], 0, [unread])))).toEqual([
      {
        type: 'issue',
        check_name: 'FILE_ACCESS',
        description: unread.message,
        fingerprint: 'FILE_ACCESS ./items/d.json',
        severity: 'blocker',
        location: { path: 'items/d.json', lines: { begin: 1 } },
      },
    ])
  })

  it('is in markdown and sarif with the reason', async () => {
    expect(await as('markdown', reportOf([], 0, [unread]))).toMatch(
      /not read\n\n### Not read\n\n- `\.\/items\/d\.json` `FILE_ACCESS`: `cannot read "items.*`\n$/,
    )
    const [{ invocations }] = JSON.parse(await as('sarif', reportOf([], 0, [unread]))).runs
    const text = `could not be read: ./items/d.json (FILE_ACCESS): ${unread.message}`
    expect(invocations[0].toolExecutionNotifications).toEqual([{ level: 'error', message: { text } }])
  })

  it('is a diagnostic of rdjson', async () => {
    const { diagnostics } = JSON.parse(await as('rdjson', reportOf([], 0, [unread])))
    expect(diagnostics).toEqual([
      { message: unread.message, location: { path: unread.url }, severity: 'ERROR', code: { value: 'FILE_ACCESS' } },
    ])
  })

  it.each(['gitlab', 'rdjson'] as const)(
    'is in %s neither for a limit that the user set, nor twice for a document of a crawl',
    async (format) => {
      const message = 'the document could not be read: it is missing (FILE_ACCESS)'
      const found = problemWith({ rule: 'unreachable', code: 'unreachable', document: unread.url, message })
      const text = await as(format, reportOf([found], 1, [unread, { url: 'c.json', code: 'CRAWL_LIMIT', exit: 0 }]))
      expect(text).not.toMatch(/no such file|CRAWL_LIMIT/)
    },
  )
})

describe('rdjson', () => {
  it('counts columns in bytes, and reports none of texts that it does not have', async () => {
    const texts = new Map([['items/a.json', '\n\n\n"ä€": "gone"\n']])
    const { diagnostics } = JSON.parse(await as('rdjson', report, { texts }))
    expect(diagnostics[0].location.range).toEqual({ start: { line: 4, column: 12 }, end: { line: 4, column: 16 } })
    expect(diagnostics[1]).toMatchObject({ severity: 'WARNING', location: { range: { start: { line: 4 } } } })
    expect(diagnostics[2].location).toEqual({ path: 'https://data.example/c.json' })
  })
})

describe('junit', () => {
  it('junit has a case per document; errors fail, the rest is output, what was not read is an error', async () => {
    const xml = await as('junit', report, { names: ['clean.json', 'items/a.json'] })
    const cases: string[] = []
    const parser = new SaxesParser()
    parser.on('opentag', ({ name, attributes }) => cases.push(`${name} ${attributes.name ?? attributes.type ?? ''}`.trim()))
    parser.write(xml).close()
    expect(xml).toContain('tests="5" failures="2" errors="1"')
    expect(cases).toEqual([
      'testsuites stac-auth',
      'testsuite stac-auth lint',
      'testcase clean.json',
      'testcase items/a.json',
      'failure dangling-ref',
      'testcase items/b c.json',
      'system-out',
      'testcase https://data.example/c.json',
      'failure dangling-ref',
      'testcase https://data.example/d',
      'error HTTP_404',
    ])
  })
})

describe('junit with --fail-severity', () => {
  it('fails the documents that make the command fail', async () => {
    const xml = await as('junit', report, { failSeverity: 'warn' })
    expect(xml).toContain('failures="3" errors="1"')
    expect(xml).toContain('<failure type="duplicate-ref" message="1 finding">')
    expect(xml).toContain('<failure type="dangling-ref" message="1 error">')
    expect(xml).not.toContain('<system-out>')
  })
})

describe('a limit that the user set', () => {
  const limited = reportOf([], 3, [{ url: 'https://data.example/c.json', code: 'CRAWL_LIMIT', exit: 0 }])

  it('is a skipped case of junit, not an error that fails a build with exit code 0', async () => {
    const xml = await as('junit', limited)
    expect(xml).toContain('tests="1" failures="0" errors="0"')
    expect(xml).toContain('<skipped message="a limit of this run"/>')
    expect(xml).not.toContain('<error')
  })

  it('is a note of sarif about a run that succeeded', async () => {
    const [{ invocations }] = JSON.parse(await as('sarif', limited)).runs
    expect(invocations).toEqual([
      {
        executionSuccessful: true,
        toolExecutionNotifications: [
          { level: 'note', message: { text: 'a limit of this run: https://data.example/c.json (CRAWL_LIMIT)' } },
        ],
      },
    ])
  })

  it('is not counted as not read', async () => {
    expect(await as('markdown', limited)).toBe('## stac-auth lint\n\n3 documents: 0 errors, 0 warnings, 0 infos, 1 limit applied\n')
  })
})

describe('markdown', () => {
  it('reports what is the same once, with the first places', async () => {
    expect(await as('markdown', many(5))).toMatch(
      /- 🔴 \*\*error\*\* `"gone" is not defined in auth:schemes` `dangling-ref` ×5\n(?: {2}- `\d\.json:4:9 \/assets\/\d`\n){3} {2}- … 2 more places\n$/,
    )
  })
})

describe('sarif', () => {
  const formats = { uri: /^[a-z][a-z\d+.-]*:\S+$/, 'uri-reference': /^[\x21-\x7e]*$/, 'date-time': true } as const
  /** The standard's own schema, one of whose patterns is none under the flag u; draft 04 calls its `$id` `id`. */
  const { id: _id, $schema: _draft, ...standard } = require('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json')
  const validate = new Ajv({ strict: false, formats, unicodeRegExp: false }).compile(standard)

  it('sarif is SARIF 2.1.0 by the schema of the standard, which knows every member', async () => {
    const hostileRule = lintText('{', { document: '/tmp/ä b.json' })
    for (const of of [report, reportOf([], 0), many(3), many(25_001), reportOf(hostileRule, 1)])
      expect(validate(JSON.parse(await as('sarif', of))), JSON.stringify(validate.errors)).toBe(true)
    const [run] = JSON.parse(await as('sarif')).runs
    const wrong = [{}, { ...run, results: [{ level: 'fatal', message: { text: 'x' } }] }, { ...run, columnKind: 'bytes' }, { ...run, x: 1 }]
    for (const one of wrong) expect(validate({ version: '2.1.0', runs: [one] })).toBe(false)
  })

  it('sarif has the codes of the terminal as rules, with help, and results that point to them', async () => {
    const [{ tool, results, columnKind, invocations }] = JSON.parse(await as('sarif', report, { version: '1.2.3' })).runs
    expect(tool.driver).toMatchObject({ name: 'stac-auth', version: '1.2.3' })
    expect(columnKind).toBe('utf16CodeUnits')
    expect(results[1]).toMatchObject({
      ruleId: 'duplicate-ref',
      properties: { rule: 'refs-list' },
      level: 'warning',
      partialFingerprints: { 'stacAuthFinding/v1': 'two' },
    })
    for (const { ruleId, ruleIndex } of results) expect(tool.driver.rules[ruleIndex].id).toBe(ruleId)
    expect(results[1].locations[0].physicalLocation).toEqual({
      artifactLocation: { uri: 'items/b%20c.json' },
      region: { startLine: 4, startColumn: 9, endLine: 4, endColumn: 15 },
    })
    expect(invocations[0].executionSuccessful).toBe(false)
  })

  it('links to the site of the documentation, and to the extension as long as there is none', () => {
    const driver = (site: string) => {
      const written = JSON.parse(sarif(report, {}, site))
      expect(validate(written), JSON.stringify(validate.errors)).toBe(true)
      return written.runs[0].tool.driver
    }
    const { informationUri, rules } = driver('https://docs.example/')
    expect(informationUri).toBe('https://docs.example/')
    expect(rules.map(({ helpUri }: { helpUri: string }) => helpUri)).toEqual([
      'https://docs.example/rules/refs-list.html#duplicate-ref',
      'https://docs.example/rules/dangling-ref.html',
    ])
    const without = driver('')
    expect(without.informationUri).toBeUndefined()
    for (const { helpUri } of without.rules) expect(helpUri).toBe('https://github.com/stac-extensions/authentication')
  })

  it('makes one result of what says the same when there is more than services take', async () => {
    const [{ results }] = JSON.parse(await as('sarif', many(25_001))).runs
    expect(results).toHaveLength(1)
    expect(results[0]).toMatchObject({ occurrenceCount: 25_001, message: { text: '"gone" is not defined in auth:schemes (25001 places)' } })
  })
})
