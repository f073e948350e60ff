import picomatch from 'picomatch'
import { describe, expect, it } from 'vitest'
import { patternOf } from '../../src/cli/lint/lint-config.ts'

describe('patterns', () => {
  it.each([
    ['a.json', 'x/y/a.json', true],
    ['a.json', 'x/ba.json', false],
    ['*.json', 'x/a.json', true],
    ['x/*.json', 'x/a.json', true],
    ['x/*.json', 'x/y/a.json', false],
    ['x/**', 'x/y/a.json', true],
    ['./x/', 'x/y/a.json', true],
    ['x/**/a.json', 'x/a.json', true],
    ['**/y/**', 'x/y/z/a.json', true],
    ['{x,y}/a?.json', 'y/ab.json', true],
    ['{x,y}/a?.json', 'z/ab.json', false],
    ['a.json', 'a+json', false],
    ['../a.json', '../a.json', true],
    ['**', 'https://data.example/a.json', false],
    ['https://data.example/old', 'https://data.example/old/a.json', true],
    ['https://data.example/old', 'https://data.example/older/a.json', false],
    ['https://data.example', 'https://data.example.evil.example/', false],
    ['https://data.example/', 'x/data.example/', false],
    ['x/*', 'x/.hidden.json', true],
  ])('%s and %s: %s', (pattern, document, fits) => {
    expect(patternOf(pattern, picomatch)(document)).toBe(fits)
  })
})
