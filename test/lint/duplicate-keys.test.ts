import { describe, expect, it } from 'vitest'
import { hasDuplicateKeys } from '../../src/lint/lint.ts'
import { survey } from '../../src/lint/survey.ts'
import { duplicateKeys } from '../../src/stac/json-text.ts'
import { damage, documents, randomFrom } from './damaged.ts'

function found(text: string): boolean {
  const { members, strings } = survey(JSON.parse(text), { at: '', depth: 0 })
  return hasDuplicateKeys(text, members, strings)
}

describe('hasDuplicateKeys', () => {
  it('counts each quote of long texts, in every alphabet and at every length', () => {
    for (const filling of ['x', 'é', '語', '😀', '\ud800', '\\', '\\"', '\n', '"\\']) {
      for (const length of [0, 1, 2, 3, 4, 5, 1021, 65_530, 65_535, 65_536, 70_001]) {
        const text = JSON.stringify({ a: filling.repeat(length), b: [filling, { a: 'a' }] })
        expect(found(text), `${length} times ${filling}`).toBe(false)
        expect(found(text.replace('{', '{"a":1,')), `${length} times ${filling}`).toBe(true)
      }
    }
  })

  it('agrees with the scanner on documents in which members were repeated', () => {
    const random = randomFrom(20261123)
    const counts = { repeated: 0, single: 0 }
    for (let round = 0; round < 4000; round++) {
      let document: unknown = documents[round % documents.length]
      for (let times = random(3); times > 0; times--) document = damage(document, random)
      const text = (JSON.stringify(document) ?? 'null').replace(/"[^"]*":(?:"[^"]*"|\d+)(?=[,}])/g, (member) => {
        const more = ['', '', '', '', '', `,${member}`, String.raw`,"\"\\":"\\\""`]
        return member + more[random(more.length)]
      })
      const repeated = duplicateKeys(text).length > 0
      counts[repeated ? 'repeated' : 'single']++
      expect(found(text), text).toBe(repeated)
    }
    expect(Math.min(counts.repeated, counts.single)).toBeGreaterThan(300)
  })
})
