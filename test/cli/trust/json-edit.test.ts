import { describe, expect, it } from 'vitest'
import { appended, extended, replaced } from '../../../src/cli/credentials/edit-credentials.ts'

describe('appended', () => {
  it.each([
    ['[]', '[\n  5\n]'],
    ['[1]', '[1, 5]'],
    ['[1,2]', '[1,2,5]'],
    ['[1, 2]', '[1, 2, 5]'],
    ['[ 1 ]', '[ 1, 5 ]'],
    ['[\n\t1,\n\t2\n]', '[\n\t1,\n\t2,\n\t5\n]'],
    ['[\r\n  1\r\n]', '[\r\n  1,\r\n  5\r\n]'],
    ['[[1], {"a": [2]}]', '[[1], {"a": [2]}, 5]'],
  ])('%j becomes %j', (before, after) => {
    expect(appended(before, [], 5)).toBe(after)
  })

  it('keeps everything else as it was', () => {
    const text =
      '{ "version": 1,\n  "preferred": ["b"],\n  "credentials": [\n    { "id":   "a" },\n    { "id": "b", "sendTo": ["x", "y"] } ] }\n'
    expect(appended(text, ['credentials', 1, 'sendTo'], 'z')).toBe(text.replace('"y"', '"y", "z"'))
    expect(appended(text, ['credentials'], { id: 'c', sendTo: [] })).toBe(
      text.replace('["x", "y"] }', '["x", "y"] },\n    {\n      "id": "c",\n      "sendTo": []\n    }'),
    )
  })

  it('the last of two members with the same name is changed', () => {
    expect(appended('{"a": [1], "a": [2], "b": {"a": [3]}}', ['a'], 5)).toBe('{"a": [1], "a": [2, 5], "b": {"a": [3]}}')
  })

  it.each([
    ['{"a": {}}', ['a']],
    ['{"a": 1}', ['a']],
    ['{"a": []}', ['b']],
    ['{"a": [', ['a']],
  ])('finds no array in %j at %j', (text, path) => {
    expect(appended(text, path, 5)).toBeUndefined()
  })
})

describe('extended', () => {
  it.each([
    ['{}', '{\n  "n": [\n    1\n  ]\n}'],
    ['{"a":1}', '{"a":1, "n": [1]}'],
    ['{ "a": 1 }', '{ "a": 1, "n": [1] }'],
    ['{\n  "a": 1\n}', '{\n  "a": 1,\n  "n": [\n    1\n  ]\n}'],
  ])('%j becomes %j', (before, after) => {
    expect(extended(before, [], 'n', [1])).toBe(after)
  })

  it('finds no object in an array', () => {
    expect(extended('[1]', [], 'n', 1)).toBeUndefined()
  })
})

describe('replaced', () => {
  it.each([
    ['{"a": 1, "b": [2]}', ['a'], 5, '{"a": 5, "b": [2]}'],
    ['{"a": 1, "a": 2}', ['a'], 5, '{"a": 1, "a": 5}'],
    ['{\n  "a": [1, 2]\n}', ['a'], [5], '{\n  "a": [5]\n}'],
    ['{\n  "a": [\n    1\n  ]\n}', ['a'], [5, 6], '{\n  "a": [\n    5,\n    6\n  ]\n}'],
    ['[\r\n  {"a": 1}\r\n]', [0], { b: 5 }, '[\r\n  {\r\n    "b": 5\r\n  }\r\n]'],
    ['{"a": {"b": 1}, "b": 2}', ['a', 'b'], 5, '{"a": {"b": 5}, "b": 2}'],
    ['{"a": 1}', ['b'], 5, undefined],
  ])('%j at %j with %j is %j', (before, path, value, after) => {
    expect(replaced(before, path, value)).toBe(after)
  })
})
