import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { lintText } from '../../../src/lint/index.ts'
import { json } from '../../../src/lint/reporters/json.ts'
import { pretty } from '../../../src/lint/reporters/pretty.ts'
import { reportOf } from '../../../src/lint/reporters/report.ts'

const schema = JSON.parse(readFileSync(new URL('../../../schemas/report.json', import.meta.url), 'utf8'))

const TEXT = `{
  "type": "Catalog", "id": "root\\u001b[2J",
  "stac_extensions": ["https://stac-extensions.github.io/authentication/v1.1.0/schema.json"],
  "auth:schemes": {
    "key\\n::error": { "type": "apiKey", "name": "x-api-key", "in": "headers" },
    "basic": { "type": "http", "scheme": "basic",
      "password": "correct horse" }
  },
  "links": [{ "rel": "item", "href": "https://data.example/", "auth:refs": ["basic", "key\\n::error"] }]
}`

const report = reportOf(lintText(TEXT, { document: 'a\nb.json' }), 1, [{ url: 'https://data.example/c', code: 'TIMEOUT_CONNECT' }])

describe('json', () => {
  it('json is the report as its schema describes it', () => {
    const validate = new Ajv({ strict: true }).compile(schema)
    const parsed = JSON.parse(json(report))
    expect(validate(parsed), JSON.stringify(validate.errors)).toBe(true)
    expect(parsed).toEqual(JSON.parse(JSON.stringify(report)))
    expect(validate({ ...parsed, version: 2 })).toBe(false)
    expect(validate({ ...parsed, problems: [{ rule: 'x' }] })).toBe(false)
  })

  it('counts by severity', () => {
    expect(report.summary).toMatchObject({ documents: 1, errors: 2, warnings: 2, infos: 0 })
  })
})

describe('pretty', () => {
  const texts = new Map([['a\nb.json', TEXT]])

  it('shows the line that is meant, with marks below the value', () => {
    const lines = pretty(report, { texts }).split('\n')
    const at = lines.findIndex((line) => line.includes('apikey-in'))
    expect(lines[at]).toBe(
      '  5:68 error  "in" of an API key must be query, header or cookie, not "headers" (did you mean "header"?)  apikey-in /auth:schemes/key\\u{a}::error/in',
    )
    const marks = lines[at + 2] ?? ''
    expect(lines[at + 1]?.slice(marks.indexOf('^'), marks.lastIndexOf('^') + 1)).toBe('"headers"')
    expect(lines.at(-2)).toBe('1 document: 2 errors, 2 warnings, 0 infos, 1 not read, 1 fixable with --fix')
  })

  it('shows tabs as spaces', () => {
    const text = '{\n\t"type": "Feature",\n\t"assets": {\n\t\t"a": {\t"auth:refs": "k" } } }'
    const shown = pretty(reportOf(lintText(text, { document: 'a.json' }), 1), { texts: new Map([['a.json', text]]) })
    expect(shown).toContain(`    4 |   "a": { "auth:refs": "k" } } }\n      | ${' '.repeat(22)}^^^\n`)
  })

  it('shows no secret and no control characters', () => {
    const text = pretty(report, { texts })
    expect(text).toContain('"password" looks like a secret')
    expect(text).not.toContain('correct horse')
    expect(text).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f]/)
    expect(text).not.toMatch(/^::error/m)
  })

  it('colours only on request', () => {
    expect(pretty(report, { texts, color: true })).toContain('\u001b[31merror\u001b[0m')
  })

  it('shows as many findings as it may and reports how many it omitted', () => {
    expect(pretty(report, { limit: 1 })).toContain('… and 3 more')
  })
})
