import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { lint } from '../../src/lint/index.ts'
import { declarationsOf, EXTENSION, kindOf } from '../../src/stac/document.ts'
import { damage, documents, randomFrom } from './damaged.ts'
import { allViolations } from './violations.ts'

const schema = JSON.parse(readFileSync(new URL('../../schemas/document.json', import.meta.url), 'utf8'))
const ajv = new Ajv({ strict: false })
addFormats.default(ajv)
const validate = ajv.compile(schema)

describe('the schema for editors', () => {
  it('reports of a document with one declared version what the linter says', () => {
    const random = randomFrom(20261122)
    const counts = { valid: 0, invalid: 0 }
    for (let round = 0; round < 4000; round++) {
      let document: unknown = documents[round % documents.length]
      for (let times = random(3); times > 0; times--) document = damage(document, random)
      document = JSON.parse(JSON.stringify(document) ?? 'null')
      const [declaration, other] = declarationsOf(document)
      const kind = kindOf(document)
      if (
        !declaration?.version ||
        !declaration.url.startsWith(EXTENSION) ||
        other ||
        kind === 'unknown' ||
        (kind === 'wrapper' && (document as { type?: unknown }).type !== 'FeatureCollection')
      )
        continue
      // Inside of a parameter's schema the linter looks with a rule.
      const inner = lint(document, { preset: 'schema' }).some(({ code }) => code === 'parameter-schema')
      const valid = !inner && allViolations(document, kind, declaration.version).length === 0
      counts[valid ? 'valid' : 'invalid']++
      expect(validate(document), JSON.stringify(document)).toBe(valid)
    }
    expect(Math.min(counts.valid, counts.invalid)).toBeGreaterThan(300)
  })

  it('reports nothing of documents without the extension', () => {
    for (const document of [{}, { type: 'Feature' }, { type: 'Catalog', stac_extensions: [] }]) expect(validate(document)).toBe(true)
  })
})
