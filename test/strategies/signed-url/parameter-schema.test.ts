import { describe, expect, it } from 'vitest'
import type { AuthError } from '../../../src/errors.ts'
import { inspectSchema, satisfies } from '../../../src/strategies/signed-url/parameters.ts'
import { thrownBy } from '../../harness/failure.ts'

type Schema = Record<string, unknown>

const nested = (depth: number): Schema => (depth === 1 ? { type: 'string' } : { not: nested(depth - 1) })
const wide = (keywords: number): Schema => Object.fromEntries(Array.from({ length: keywords }, (_, index) => [`x${index}`, 1]))
const allOf = (next: number) => ({ allOf: [{ $ref: `#/definitions/a${next}` }, { $ref: `#/definitions/a${next}` }] })

describe('a schema', () => {
  it.each<[string, Schema, string, string]>([
    ['D02 with a remote $ref', { $ref: 'http://169.254.169.254/schema' }, 'PARAM_SCHEMA_REF', '/s/$ref'],
    ['D03 with a $ref to itself', { allOf: [{ $ref: '#' }] }, 'PARAM_SCHEMA_REF', '/s/allOf/0/$ref'],
    ['with a $dynamicRef', { $dynamicRef: '#a' }, 'PARAM_SCHEMA_REF', '/s/$dynamicRef'],
    [
      'D04 of exponential size',
      { definitions: Object.fromEntries([0, 1, 2].map((n) => [`a${n}`, allOf(n + 1)])) },
      'PARAM_SCHEMA_REF',
      '/s/definitions/a0/allOf/0/$ref',
    ],
    ['D05 with an $id', { $id: 'https://a.example/', type: 'string' }, 'PARAM_SCHEMA_KEYWORD', '/s/$id'],
    ['whose first offence is not its worst', { a: { $id: 'x' }, $ref: '#' }, 'PARAM_SCHEMA_KEYWORD', '/s/a/$id'],
    ['D14 with a number out of range', { maximum: Number.POSITIVE_INFINITY }, 'PARAM_SCHEMA_VALUE', '/s/maximum'],
    ['that is 17 deep', nested(17), 'PARAM_SCHEMA_KEYWORD', `/s${'/not'.repeat(16)}/type`],
    ['with 201 keywords', wide(201), 'PARAM_SCHEMA_KEYWORD', '/s/x200'],
  ])('%s is refused', (_name, schema, code, pointer) => {
    expect(thrownBy(() => inspectSchema(schema, '/s')) as AuthError).toMatchObject({ code, pointer })
  })

  it.each<[string, Schema]>([
    ['16 deep', nested(16)],
    ['with 200 keywords', wide(200)],
  ])('%s is accepted', (_name, schema) => {
    expect(() => inspectSchema(schema, '/s')).not.toThrow()
  })

  it.each<[string, unknown]>([
    ['a list of 400 000 values', { enum: Array.from({ length: 400_000 }, String) }],
    ['400 000 keywords', wide(400_000)],
    ['5 000 levels', JSON.parse(`${'{"not":'.repeat(5000)}1${'}'.repeat(5000)}`)],
  ])('a schema with %s is refused', (_name, schema) => {
    expect(thrownBy(() => inspectSchema(schema as Schema, '/s'))).toMatchObject({ code: 'PARAM_SCHEMA_KEYWORD' })
  })

  it('D06 with odd keywords is accepted with a warning that names them', () => {
    const schema = { type: 'string', examples: 'x', example: 'y', nullable: true, format: 'zzz' }
    expect(inspectSchema(schema, '/s')).toMatchObject([
      { code: 'PARAM_KEYWORD_IGNORED', message: expect.stringContaining('example, nullable'), pointer: '/s' },
    ])
  })

  it.each([
    '^(a+)+$',
    '(a|a)*$',
    '(?:a*)*b',
    '^a+a+a+a+a+a+$',
    'a*b',
    `^https://data/${'a?'.repeat(40)}${'a'.repeat(40)}$`,
    '^(?=a)b',
    '(a)\\1',
    `^${'a'.repeat(300)}$`,
    '[',
    '^a{1,2',
    `[${'\\a'.repeat(99)}`,
  ])('D01 the pattern %s is skipped with a warning', (pattern) => {
    expect(inspectSchema({ pattern }, '/s')).toMatchObject([{ code: 'PARAM_PATTERN_UNSUPPORTED', pointer: '/s/pattern' }])
    expect(satisfies(`https://data/${'a'.repeat(4000)}!`, { pattern })).toBe(true)
  })

  it.each([
    ['^https://data\\.example/', 'https://data.example/f', true],
    ['^https://data\\.example/', 'https://other.example/f', false],
    ['^[a-z]+$', 'abc', true],
    ['^[a-z]+$', 'abc1', false],
    ['\\.tif$', 'a.tif', true],
    ['\\.tif$', 'a.jpg', false],
  ])('the pattern %s is tried on %s', (pattern, value, expected) => {
    expect(inspectSchema({ pattern }, '/s')).toEqual([])
    expect(satisfies(value, { pattern })).toBe(expected)
  })
})

describe('a value', () => {
  it.each<[unknown, Schema, boolean]>([
    ['a', {}, true],
    ['a', { type: 'string' }, true],
    ['a', { type: 'number' }, false],
    ['a', { type: ['number', 'string'] }, true],
    ['a', { type: 'nonsense' }, false],
    [1, { type: 'integer' }, true],
    [1.5, { type: 'integer' }, false],
    [null, { type: 'null' }, true],
    [[], { type: 'array' }, true],
    [[], { type: 'object' }, false],
    ['a', { enum: ['a', 'b'] }, true],
    ['c', { enum: ['a', 'b'] }, false],
    ['a', { enum: [null, { a: 1 }] }, false],
    ['a', { const: 'a' }, true],
    ['a', { const: undefined }, false],
    ['ab', { minLength: 2, maxLength: 2 }, true],
    ['\u{1f600}', { maxLength: 1 }, true],
    ['a', { minLength: 2 }, false],
    ['abc', { maxLength: 2 }, false],
    [5, { minimum: 5, maximum: 5 }, true],
    [5, { exclusiveMinimum: 5 }, false],
    [5, { exclusiveMaximum: 5 }, false],
    [4, { minimum: 5 }, false],
    [6, { maximum: 5 }, false],
    [6, { multipleOf: 3 }, true],
    [7, { multipleOf: 3 }, false],
    [7, { multipleOf: 0 }, true],
    [{ a: 1 }, { required: ['a'] }, true],
    [{}, { required: ['toString'] }, false],
    ['a', { required: ['b'], minimum: 9 }, true],
  ])('%j under %j: %s', (value, schema, expected) => {
    expect(satisfies(value, schema)).toBe(expected)
  })
})
