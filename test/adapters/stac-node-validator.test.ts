import { describe, expect, it } from 'vitest'
import { AuthValidator } from '../../src/adapters/stac-node-validator.ts'
import { EXTENSION } from '../harness/documents.ts'

function catalogWith(...refs: string[]): Readonly<Record<string, unknown>> {
  const links = [{ rel: 'item', href: 'https://data.example/i.json', 'auth:refs': refs }]
  const schemes = { key: { type: 'apiKey', name: 'x-api-key', in: 'header' } }
  return {
    type: 'Catalog',
    stac_version: '1.1.0',
    stac_extensions: [EXTENSION],
    id: 'root',
    description: '',
    links,
    'auth:schemes': schemes,
  }
}

/** Calls the hooks in the order of the validator, which hands a wrapped document to the last one. */
async function validate(document: Readonly<Record<string, unknown>>, validator: AuthValidator) {
  const report = {
    valid: true as boolean | null,
    id: 'root',
    source: 'a.json',
    messages: [] as string[],
    results: { custom: [] as Error[] },
  }
  const ajv = {}
  expect(await validator.createAjv(ajv)).toBe(ajv)
  expect(await validator.afterLoading(document, report)).toBe(document)
  expect(await validator.bypassValidation()).toBe(null)
  await validator.testFn(report, (given, test) => validator.afterValidation({ wrapped: document }, test, given))
  return report
}

describe('the linter in stac-node-validator', () => {
  it('leaves a sound document valid', async () => {
    expect(await validate(catalogWith('key'), new AuthValidator())).toMatchObject({ valid: true, messages: [], results: { custom: [] } })
  })

  it('makes errors errors, and the rest messages', async () => {
    const report = await validate(catalogWith('key', 'key', 'gone'), new AuthValidator())
    expect(report.valid).toBe(false)
    expect(report.results.custom).toMatchObject([
      {
        message:
          'auth:refs names "gone", which auth:schemes does not define: define it, or correct the name [dangling-ref] at /links/0/auth:refs/2',
        rule: 'dangling-ref',
        code: 'dangling-ref',
        instancePath: '/links/0/auth:refs/2',
      },
    ])
    expect(report.messages).toEqual(['warn: auth:refs lists "key" twice: remove one [duplicate-ref] at /links/0/auth:refs/1'])
  })

  it('takes the options of the linter', async () => {
    const validator = new AuthValidator({ preset: 'schema', rules: { 'duplicate-ref': 'error' } })
    expect((await validate(catalogWith('gone'), validator)).valid).toBe(true)
    expect((await validate(catalogWith('key', 'key'), validator)).valid).toBe(false)
  })

  it('reports nothing that a terminal obeys', async () => {
    const { results } = await validate(catalogWith('\u001b[2J\n::error::'), new AuthValidator())
    expect(results.custom[0]?.message).toContain('\\u{1b}[2J\\u{a}::error::')
  })
})
