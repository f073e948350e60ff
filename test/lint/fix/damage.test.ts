import { describe, expect, it } from 'vitest'
import { fixText } from '../../../src/lint/fix/fix-text.ts'
import { lint } from '../../../src/lint/index.ts'
import { damage, documents, randomFrom } from '../damaged.ts'

/** The names of all schemes, wherever they stand. */
function schemesIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(name === 'auth:schemes' && typeof inner === 'object' && inner !== null ? Object.keys(inner) : []),
    ...schemesIn(inner),
  ])
}

describe('fixes of damaged documents', () => {
  it('never throw, give JSON with no more errors than before, and leave nothing to do', () => {
    const random = randomFrom(20261121)
    const errors = (value: unknown) => lint(value).filter(({ severity }) => severity === 'error').length
    let fixedCount = 0
    for (let round = 0; round < 1500; round++) {
      let document: unknown = documents[random(documents.length)]
      for (let times = random(4); times > 0; times--) document = damage(document, random)
      const text = JSON.stringify(document, null, random(3)) ?? 'null'
      const fixed = fixText(text, { suggestions: true })
      fixedCount += fixed.fixed.length
      expect(errors(JSON.parse(fixed.text)), text).toBeLessThanOrEqual(errors(JSON.parse(text)))
      expect(fixText(fixed.text, { suggestions: true }), text).toEqual({ text: fixed.text, fixed: [] })
      if (fixed.fixed.length === 0) expect(fixed.text).toBe(text)
    }
    expect(fixedCount).toBeGreaterThan(300)
  })

  it('fixes of damaged documents that are safe take out no scheme', () => {
    const random = randomFrom(20261123)
    let fixedCount = 0
    for (let round = 0; round < 600; round++) {
      let document: unknown = documents[random(documents.length)]
      for (let times = random(3); times > 0; times--) document = damage(document, random)
      const text = JSON.stringify(document) ?? 'null'
      const fixed = fixText(text, { preset: 'strict' })
      fixedCount += fixed.fixed.length
      expect(schemesIn(JSON.parse(fixed.text)), text).toEqual(schemesIn(JSON.parse(text)))
    }
    expect(fixedCount).toBeGreaterThan(25)
  })
})
