import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { configFaults, RULE_NAMES as ids, type LintConfig, levelTable } from '../../../src/lint/config.ts'

const schema = JSON.parse(readFileSync(new URL('../../../schemas/lint-config.json', import.meta.url), 'utf8'))
const validate = new Ajv({ strict: true }).compile(schema)
const override = { files: ['old/**'], rules: { 'unused-scheme': 'off' }, reason: 'nobody maintains it' }

describe('a configuration', () => {
  it.each([
    [{}],
    [
      {
        $schema: 'x',
        preset: 'strict',
        infos: true,
        rules: { 'dangling-ref': 'warn', 'field-value': 'error', 'apikey-in': 'off' },
        overrides: [override],
        origins: ['https://b.example', 'http://[::1]:80'],
      },
    ],
    [{ overrides: [{ files: ['a'], rules: { 'dangling-ref': 'info' } }] }],
  ])('a configuration is taken: %j', (config) => {
    expect(configFaults(config, ids).filter(({ pointer }) => pointer !== '/origins/1')).toEqual([])
    expect(validate(config), JSON.stringify(validate.errors)).toBe(true)
  })

  it.each([
    [[], '', 'must be an object'],
    [{ presets: 'strict' }, '/presets', 'did you mean "preset"?'],
    [{ credentials: {} }, '/credentials', 'is unknown'],
    [{ infos: 'yes' }, '/infos', 'true or false'],
    [{ preset: 'lax' }, '/preset', 'recommended, strict or schema'],
    [{ rules: { 'dangling-reff': 'off' } }, '/rules/dangling-reff', 'did you mean "dangling-ref"?'],
    [{ rules: { 'dangling-ref': 'fatal' } }, '/rules/dangling-ref', 'off, info, warn or error'],
    [{ rules: [] }, '/rules', 'rule ids or codes'],
    [{ overrides: {} }, '/overrides', 'must be a list'],
    [{ overrides: [{ ...override, files: [] }] }, '/overrides/0/files', 'globs or URLs'],
    [{ overrides: [{ ...override, reason: ' ' }] }, '/overrides/0', '"reason" is required'],
    [{ overrides: [{ ...override, sendTo: 'x' }] }, '/overrides/0/sendTo', 'is unknown'],
    [{ origins: ['https://a.example/path'] }, '/origins/0', 'must be an origin'],
    [{ origins: ['file:///'] }, '/origins/0', 'must be an origin'],
  ])('a configuration is refused: %j', (config, pointer, message) => {
    expect(configFaults(config, ids)).toMatchObject([{ pointer, message: expect.stringContaining(message) }])
    expect(validate(config)).toBe(false)
  })
})

describe('levels', () => {
  const table = levelTable(
    {
      preset: 'strict',
      rules: { 'refs-empty': 'off', 'duplicate-ref': 'error' },
      overrides: [
        { files: ['old/**'], rules: { 'duplicate-ref': 'info', 'unused-scheme': 'info' } },
        { files: ['**/x.json'], rules: { 'duplicate-ref': 'off' }, reason: 'known' },
      ],
    },
    { 'unused-scheme': 'error' },
    (pattern) => (document) => (pattern === 'old/**' ? document.startsWith('old/') : document.endsWith('/x.json')),
  )

  it('levels come from the configuration, then the overrides in their order, then the command line', () => {
    expect(table.preset).toBe('strict')
    expect(table.levelsFor('new/a.json')).toEqual({ 'refs-empty': 'off', 'duplicate-ref': 'error', 'unused-scheme': 'error' })
    expect(table.levelsFor('old/a.json')).toMatchObject({ 'duplicate-ref': 'info', 'unused-scheme': 'error' })
    expect(table.levelsFor('old/x.json')).toMatchObject({ 'duplicate-ref': 'off' })
  })

  it('levels of a rule replace those of its cases that were given before', () => {
    const levels = levelTable({ rules: { 'apikey-in': 'off' } }, { 'field-value': 'info' }, () => () => true).levelsFor('a.json')
    expect(levels).toMatchObject({ 'apikey-in': 'info', 'method-case': 'info' })
    expect(levelTable({ rules: { 'field-value': 'info', 'apikey-in': 'off' } }, {}, () => () => true).levelsFor('a.json')).toMatchObject({
      'apikey-in': 'off',
      'method-case': 'info',
    })
  })

  it('levels omit what the default preset only has as information, unless that is requested', () => {
    const levelsOf = (config: LintConfig) => levelTable(config, {}, () => () => true).levelsFor('a.json')
    expect(levelsOf({})).toMatchObject({ 'http-scheme-case': 'off', 'unused-scheme': 'off' })
    expect(levelsOf({})).not.toHaveProperty('dangling-ref')
    expect(levelsOf({})).not.toHaveProperty('s3-public-bucket')
    expect(levelsOf({ rules: { 'unused-scheme': 'info' } })).toMatchObject({ 'unused-scheme': 'info' })
    expect(levelsOf({ infos: true })).toEqual({})
    expect(levelsOf({ preset: 'strict' })).toEqual({})
  })

  it('levels are the same object for documents with the same overrides', () => {
    expect(table.levelsFor('old/a.json')).toBe(table.levelsFor('old/b.json'))
    expect(table.levelsFor('old/a.json')).not.toBe(table.levelsFor('a.json'))
  })
})
