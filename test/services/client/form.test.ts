import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CLEAR, encodeForm, type FormOptions } from '../../../src/services/client/form.ts'

describe('a form', () => {
  const cases: readonly (readonly [data: Record<string, unknown>, options: FormOptions, text: string])[] = [
    [{ a: { b: { c: 1 } } }, {}, 'a[b][c]=1'],
    [{ a: { b: { c: 1 } } }, { nesting: 'dots' }, 'a.b.c=1'],
    [{ name: 'ACME INC.' }, {}, 'name=ACME%20INC.'],
    [{ name: 'ACME INC.' }, { spaces: 'plus' }, 'name=ACME+INC.'],
    [{ a: 'x+y&z=ü' }, {}, 'a=x%2By%26z%3D%C3%BC'],
    [{ billable: false, b: true }, {}, 'billable=0&b=1'],
    [{ billable: false }, { booleans: 'words' }, 'billable=false'],
    [{ a: ['x', { b: 1 }] }, {}, 'a[0]=x&a[1][b]=1'],
    [{ a: ['x', 'y'] }, { arrays: 'brackets' }, 'a[]=x&a[]=y'],
    [{ a: ['x', 'y'] }, { arrays: 'repeat' }, 'a=x&a=y'],
    [{ a: ['x', 'y,z'] }, { arrays: 'comma' }, 'a=x,y%2Cz'],
    [{ n: null, u: undefined, z: '' }, {}, 'n=&z='],
    [{ n: null }, { nulls: 'skip' }, ''],
    [{ d: new Date('2026-01-02T03:04:05.678Z') }, {}, 'd=2026-01-02T03%3A04%3A05.678Z'],
    [{ d: new Date('2026-01-02T03:04:05.678Z') }, { dates: 'unix' }, 'd=1767323045'],
    [{ big: 12345678901234567890n }, {}, 'big=12345678901234567890'],
    [{ tags: CLEAR }, {}, 'tags='],
    [JSON.parse('{"__proto__":1,"a[b]":2}'), {}, '__proto__=1&a%5Bb%5D=2'],
    [{ b: 1, a: 2 }, {}, 'b=1&a=2'],
  ]
  it.each(cases)('%o %o is %s', (data, options, encoded) => {
    expect(encodeForm(data, options)).toBe(encoded)
  })

  const circle: Record<string, unknown> = { a: {} }
  circle.a = { b: circle }
  const refused: readonly (readonly [data: Record<string, unknown>, code: string, field: string])[] = [
    [{ a: { b: [] } }, 'FORM_EMPTY_VALUE', 'a.b'],
    [{ a: {} }, 'FORM_EMPTY_VALUE', 'a'],
    [{ a: [undefined] }, 'FORM_EMPTY_VALUE', 'a'],
    [{ a: { b: undefined } }, 'FORM_EMPTY_VALUE', 'a'],
    [{ a: [1, Number.NaN] }, 'REQUEST_INVALID', 'a[1]'],
    [{ a: Number.POSITIVE_INFINITY }, 'REQUEST_INVALID', 'a'],
    [{ a: () => 1 }, 'REQUEST_INVALID', 'a'],
    [{ a: Symbol('b') }, 'REQUEST_INVALID', 'a'],
    [{ a: '\ud800' }, 'REQUEST_INVALID', 'a'],
    [{ a: new Date(Number.NaN) }, 'REQUEST_INVALID', 'a'],
    [circle, 'REQUEST_INVALID', 'a.b.a'],
  ]
  it.each(refused)('refuses %o', (data, code, field) => {
    expect(() => encodeForm(data)).toThrow(expect.objectContaining({ code, field, name: 'ValidationError' }))
  })

  it('refuses null where a service has no word for it', () => {
    expect(() => encodeForm({ a: null }, { nulls: 'error' })).toThrow(expect.objectContaining({ field: 'a' }))
  })
})

const text = fc.string({ unit: 'grapheme' }).filter((one) => one.isWellFormed())

it('flat data comes back through URLSearchParams as it was', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(text, text), { selector: ([name]) => name }),
      fc.constantFrom('percent', 'plus'),
      (pairs, spaces) => {
        const form = encodeForm(Object.fromEntries(pairs), { spaces })
        expect(form).toMatch(/^[\w.~%=&+-]*$/)
        expect(Object.fromEntries(new URLSearchParams(form))).toEqual(Object.fromEntries(pairs))
      },
    ),
  )
})

it('lists with commas treat null as they are told to', () => {
  const list = (a: readonly unknown[], nulls: 'empty' | 'skip' | 'error') => encodeForm({ a, b: 1 }, { arrays: 'comma', nulls })
  expect(list([1, null, 2], 'empty')).toBe('a=1,,2&b=1')
  expect(list([1, null, 2], 'skip')).toBe('a=1,2&b=1')
  expect(list([null], 'skip')).toBe('b=1')
  expect(() => list([1, null], 'error')).toThrow(expect.objectContaining({ code: 'REQUEST_INVALID', field: 'a' }))
})

it('nested data comes back through a reader of brackets as it was', () => {
  const { tree } = fc.letrec((tie) => ({
    leaf: text,
    tree: fc.dictionary(text, fc.oneof({ maxDepth: 3 }, tie('leaf'), tie('tree'), fc.array(tie('leaf'), { minLength: 1 })), { minKeys: 1 }),
  }))
  fc.assert(
    fc.property(tree, (data) => {
      expect(readBrackets(encodeForm(data as Record<string, unknown>))).toEqual(listsAsMembers(data))
    }),
  )
})

/** A second opinion on what brackets mean: lists are objects with numbers as names. */
function readBrackets(form: string): unknown {
  const root = Object.create(null)
  for (const pair of form.split('&')) {
    const [name = '', value = ''] = pair.split('=')
    const [first = '', ...rest] = name.split('[').map((part) => decodeURIComponent(part.replace(/\]$/, '')))
    const path = [first, ...rest]
    let at = root
    for (const step of path.slice(0, -1)) at = at[step] ??= Object.create(null)
    at[path.at(-1) ?? ''] = decodeURIComponent(value)
  }
  return root
}

function listsAsMembers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.create(null)
  for (const [name, member] of Object.entries(value)) copy[name] = listsAsMembers(member)
  return copy
}
