import { describe, expect, it } from 'vitest'
import { fixText } from '../../../src/lint/fix/fix-text.ts'
import { lintText } from '../../../src/lint/index.ts'
import { documents, randomFrom } from '../damaged.ts'

const MARK = '\ufeff'
const random = randomFrom(20261123)

/** What is put into a text, or is doubled there. */
const ODD = [
  '"',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '\\',
  '\u0000',
  '\ud800',
  MARK,
  '\u2028',
  '"auth:refs":"key",',
  '"__proto__":1,',
  '//',
  "'",
  'NaN',
  '1e999',
]

/** The text with some of its characters cut, doubled, or replaced. */
function broken(text: string): string {
  const at = random(text.length + 1)
  switch (random(6)) {
    case 0:
      return text.slice(0, at)
    case 1:
      return text.slice(0, at) + text.slice(at + 1 + random(20))
    case 2:
      return text.slice(0, at) + ODD[random(ODD.length)] + text.slice(at)
    case 3:
      return text.slice(0, at) + text.slice(Math.max(0, at - random(200)), at) + text.slice(at)
    case 4:
      return MARK.repeat(1 + random(3)) + text
    default:
      return text.replaceAll('"auth:refs"', '"auth:refs":"x","auth:refs"')
  }
}

const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('fixes of broken texts', () => {
  it('never throw, and leave what is not JSON as it is', () => {
    const counts = { broken: 0, fixed: 0 }
    for (let round = 0; round < 1200; round++) {
      let text = JSON.stringify(documents[random(documents.length)], null, random(3))
      for (let times = 1 + random(2); times > 0; times--) text = broken(text)
      const fixed = fixText(text, { suggestions: random(2) === 0 })
      const isBroken = !isJson(text.startsWith(MARK) ? text.slice(1) : text)
      if (isBroken) expect(fixed, JSON.stringify(text)).toEqual({ text, fixed: [] })
      else expect(isJson(fixed.text.startsWith(MARK) ? fixed.text.slice(1) : fixed.text), JSON.stringify(text)).toBe(true)
      if (isBroken) counts.broken++
      else if (fixed.fixed.length > 0) counts.fixed++
    }
    expect(counts.broken).toBeGreaterThan(400)
    expect(counts.fixed).toBeGreaterThan(80)
  })

  it.each([
    '',
    MARK,
    MARK + MARK,
    'null',
    '[]',
    '[[]]',
    '"x"',
    `${'['.repeat(100_000)}`,
    `${'['.repeat(1000)}${']'.repeat(1000)}`,
    '{"type":"Feature","auth:schemes":null,"properties":null,"assets":[],"links":{}}',
    '{"type":"FeatureCollection","features":[null,1,[],{"type":"Feature"}]}',
    '{"type":"Catalog","stac_extensions":"x","auth:refs":1,"links":[null]}',
  ])('fixes of broken texts do not throw on %.60j', (text) => {
    expect(fixText(text, { suggestions: true }).text).toEqual(expect.any(String))
    expect(fixText(MARK + text, { suggestions: true }).text.startsWith(MARK)).toBe(true)
  })

  it('fixes of broken texts keep two byte order marks, which are not JSON', () => {
    const text = `${MARK}${MARK}${JSON.stringify(documents[0])}`
    expect(fixText(text, { suggestions: true })).toEqual({ text, fixed: [] })
    expect(lintText(new TextEncoder().encode(text))).toMatchObject([{ code: 'not-json' }])
  })
})
