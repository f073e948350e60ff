import { expect, it } from 'vitest'
import { exportedNames } from './exported-names.ts'

it('writes patterns out, looks below conditions, and omits other files and what is taken back', () => {
  const exports = {
    '.': './dist/index.js',
    './node': { node: './dist/node.js' },
    './outputs/*': { default: './dist/outputs/*.js' },
    './outputs/inner/*': null,
    './outputs/redact': null,
    './schemas/*': './schemas/*',
  }
  const files = [
    'dist/index.js',
    'dist/outputs/curl.js',
    'dist/outputs/curl.d.ts',
    'dist/outputs/redact.js',
    'dist/outputs/inner/a.js',
    'dist/lint/a.js',
    'schemas/v1/item.json',
  ]
  expect(exportedNames(exports, files)).toEqual(['.', './node', './outputs/curl', './schemas/v1/item.json'])
})
