import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { configFaults, RULE_NAMES as ids, type Levels, type LintConfig, levelTable } from '../../../src/lint/config.ts'

const schema = JSON.parse(readFileSync(new URL('../../../schemas/lint-config.json', import.meta.url), 'utf8'))
const validate = new Ajv({ strict: true }).compile(schema)
const override = { files: ['old/**'], rules: { 'unused-scheme': 'off' as const }, reason: 'nobody maintains it' }

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
    [{ extends: './base.json', ignores: ['drafts/', '!drafts/keep.json'], rules: { 'dangling-ref': { level: 'off', reason: 'known' } } }],
    [{ extends: ['stac-auth:strict', '../base/lint.json'], rules: { 'dangling-ref': { level: 'warn' } } }],
    [{ overrides: [{ files: ['a'], rules: { 'dangling-ref': { level: 'off', reason: 'known' }, 'apikey-in': { level: 'info' } } }] }],
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
    [{ overrides: [{ files: ['a'], rules: { 'dangling-ref': { level: 'off' } } }] }, '/overrides/0', '"reason" is required'],
    [{ rules: { 'dangling-ref': { level: 'fatal' } } }, '/rules/dangling-ref/level', 'off, info, warn or error'],
    [{ rules: { 'dangling-ref': { level: 'off', reason: ' ' } } }, '/rules/dangling-ref/reason', 'it must be a text'],
    [{ rules: { 'dangling-ref': { level: 'off', why: 'x' } } }, '/rules/dangling-ref/why', 'is unknown'],
    [{ extends: 'eslint-config-x' }, '/extends', 'begins with ./ or ../, or stac-auth:recommended'],
    [{ extends: ['./a.json', 'https://evil.example/lint.json'] }, '/extends/1', 'begins with ./ or ../'],
    [{ extends: '/etc/lint.json' }, '/extends', 'begins with ./ or ../'],
    [{ extends: 'stac-auth:lax' }, '/extends', 'stac-auth:schema'],
    [{ ignores: 'drafts/' }, '/ignores', 'patterns as in .gitignore'],
    [{ ignores: [''] }, '/ignores', 'patterns as in .gitignore'],
    [{ origins: ['https://a.example/path'] }, '/origins/0', 'must be an origin'],
    [{ origins: ['file:///'] }, '/origins/0', 'must be an origin'],
  ])('a configuration is refused: %j', (config, pointer, message) => {
    expect(configFaults(config, ids)).toMatchObject([{ pointer, message: expect.stringContaining(message) }])
    expect(validate(config)).toBe(false)
  })
})

describe('levels', () => {
  const layer = (config: LintConfig, source = 'lint.json', patternOf = (_pattern: string) => (_document: string) => true) => ({
    source,
    config,
    patternOf,
  })
  const tableOf = (config: LintConfig, given: Levels = {}) => levelTable([layer(config)], given)
  const table = levelTable(
    [
      layer(
        {
          preset: 'strict',
          rules: { 'refs-shape': 'off', 'duplicate-ref': 'error' },
          overrides: [
            { files: ['old/**'], rules: { 'duplicate-ref': 'info', 'unused-scheme': 'info' } },
            { files: ['**/x.json'], rules: { 'duplicate-ref': 'off' }, reason: 'known' },
          ],
        },
        'lint.json',
        (pattern) => (document) => (pattern === 'old/**' ? document.startsWith('old/') : document.endsWith('/x.json')),
      ),
    ],
    { 'unused-scheme': 'error' },
  )

  it('levels come from the configuration, then the overrides in their order, then the command line', () => {
    expect(table.preset).toBe('strict')
    expect(table.levelsFor('new/a.json')).toEqual({ 'refs-shape': 'off', 'duplicate-ref': 'error', 'unused-scheme': 'error' })
    expect(table.levelsFor('old/a.json')).toMatchObject({ 'duplicate-ref': 'info', 'unused-scheme': 'error' })
    expect(table.levelsFor('old/x.json')).toMatchObject({ 'duplicate-ref': 'off' })
  })

  it('levels of a rule replace those of its cases that were given before', () => {
    const levels = tableOf({ rules: { 'apikey-in': 'off' } }, { 'field-value': 'info' }).levelsFor('a.json')
    expect(levels).toMatchObject({ 'apikey-in': 'info', 'apikey-name': 'info' })
    expect(tableOf({ rules: { 'field-value': 'info', 'apikey-in': 'off' } }).levelsFor('a.json')).toMatchObject({
      'apikey-in': 'off',
      'apikey-name': 'info',
    })
  })

  it('levels omit what the default preset only has as information, unless that is requested', () => {
    const levelsOf = (config: LintConfig) => tableOf(config).levelsFor('a.json')
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

  it('later layers go before the overrides of earlier ones, and each level says where it is set and why', () => {
    const base = layer(
      { preset: 'strict', rules: { 'refs-shape': { level: 'off', reason: 'of old' } }, overrides: [override] },
      'base.json',
    )
    const own = layer({ infos: true, rules: { 'unused-scheme': 'warn' } })
    const { preset, levelsFor, explain } = levelTable([base, own], { 'apikey-in': 'warn' })
    expect(preset).toBe('strict')
    expect(levelsFor('old/a.json')).toEqual({ 'refs-shape': 'off', 'unused-scheme': 'warn', 'apikey-in': 'warn' })
    expect(explain('old/a.json')).toMatchObject({
      'refs-shape': { level: 'off', from: 'base.json /rules/refs-shape', reason: 'of old' },
      'unused-scheme': { level: 'warn', from: 'lint.json /rules/unused-scheme' },
      'apikey-in': { level: 'warn', from: '--rule' },
      'dangling-ref': { level: 'error', from: 'preset strict' },
    })
    expect(levelTable([base], {}).explain('old/a.json')['unused-scheme']).toEqual({
      level: 'off',
      from: 'base.json /overrides/0/rules/unused-scheme',
      reason: 'nobody maintains it',
    })
    expect(tableOf({}).explain('a.json')['unused-scheme']).toEqual({ level: 'off', from: 'preset recommended, without infos' })
  })
})
