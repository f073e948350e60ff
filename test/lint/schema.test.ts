/** The validators compiled ahead of time, held against ajv itself with the schemas as they are published. */
import { readFileSync } from 'node:fs'
import { Ajv, type ErrorObject } from 'ajv'
import addFormats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { KINDS, SCHEMA_VERSIONS, type SchemaKind } from '../../src/lint/schema/violation.ts'
import type { ExtensionVersion } from '../../src/stac/document.ts'
import { damage, documents, randomFrom } from './damaged.ts'
import { allViolations } from './violations.ts'

const FOLDER = new URL('../../schemas/authentication/', import.meta.url)
const load = (path: string) => JSON.parse(readFileSync(new URL(path, FOLDER), 'utf8'))

const ajv = new Ajv({ allErrors: true, strict: false, meta: false, validateSchema: false })
addFormats.default(ajv)
// A rule looks into the schemas of parameters.
ajv.addSchema({ $id: 'http://json-schema.org/draft-07/schema', type: ['object', 'boolean'] })
ajv.addSchema(load('common.json'))
for (const version of SCHEMA_VERSIONS) ajv.addSchema(load(`v${version}/schemes.json`))
const validators = SCHEMA_VERSIONS.flatMap((version) =>
  KINDS.map((kind) => ({ kind, version, validate: ajv.compile(load(`v${version}/${kind}.json`)) })),
)

function ours(document: unknown, kind: SchemaKind, version: ExtensionVersion): readonly string[] {
  return allViolations(document, kind, version)
    .map(({ pointer, keyword, missing, expected }) => `${pointer} ${keyword} ${missing ?? expected ?? ''}`)
    .sort()
}

/** An `if` that failed says what failed inside, and each `const` is an element that is not the one that a list must contain. */
const ECHOES = ['if', 'const']

function theirs(errors: readonly ErrorObject[]): readonly string[] {
  return errors
    .filter(({ keyword }) => !ECHOES.includes(keyword))
    .map(({ instancePath, keyword, params }) => `${instancePath} ${keyword} ${detailOf(keyword, params)}`)
    .sort()
}

function detailOf(keyword: string, { missingProperty, type }: ErrorObject['params']): string {
  return keyword === 'required' ? missingProperty : typeof type === 'string' ? type : ''
}

describe('the compiled validators', () => {
  const code = readFileSync(new URL('../../src/lint/schema/validators.ts', import.meta.url), 'utf8')

  it('the compiled validators need nothing at run time', () => {
    expect(code).not.toMatch(/\brequire\(|\bimport\b|new Function|\beval\(/)
  })
})

describe('violationsOf', () => {
  it('finds in damaged documents of every kind what ajv finds, with all versions', () => {
    const random = randomFrom(20261123)
    const counts = { valid: 0, invalid: 0 }
    for (let round = 0; round < 4000; round++) {
      let document: unknown = documents[round % documents.length]
      for (let times = random(4); times > 0; times--) document = damage(document, random)
      document = JSON.parse(JSON.stringify(document) ?? 'null')
      for (const { kind, version, validate } of validators) {
        const expected = validate(document) ? [] : theirs(validate.errors ?? [])
        counts[expected.length === 0 ? 'valid' : 'invalid']++
        const found = ours(document, kind, version)
        if (found.join('\n') !== expected.join('\n')) expect(found, JSON.stringify(document)).toEqual(expected)
      }
    }
    expect(Math.min(counts.valid, counts.invalid)).toBeGreaterThan(1000)
  })
})
