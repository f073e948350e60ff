/** Writes schemas/lint-config.json, the JSON Schema of the linter's configuration: an editor then knows every rule. */

import { type Rule, rules } from '../src/lint/index.ts'
import { LEVELS, PRESETS } from '../src/lint/problem.ts'
import { pages } from '../src/lint/rules/pages.ts'
import { checkOnly, emit } from './emit.ts'

const level = { enum: [...LEVELS] }

/** A rule by its name, and its cases by their codes. */
function namesOf({ meta: { id }, cases }: Rule): readonly (readonly [string, object])[] {
  const ofCases = cases.map(({ meta: { code } }) => [code, { $ref: '#/definitions/level', description: pages[id]?.[code]?.why }] as const)
  const codes = cases.map(({ meta }) => meta.code).join(', ')
  return cases.length === 1 ? ofCases : [[id, { $ref: '#/definitions/level', description: `All of ${codes}.` }], ...ofCases]
}

const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'urn:stac-auth:schema:lint-config',
  title: 'Configuration of stac-auth lint',
  type: 'object',
  properties: {
    $schema: { type: 'string' },
    preset: { enum: [...PRESETS], default: 'recommended', description: 'Which rules are on before anything else is said.' },
    infos: { type: 'boolean', default: false, description: 'Also reports what the preset recommended only has as information.' },
    rules: { $ref: '#/definitions/rules' },
    overrides: {
      type: 'array',
      items: { $ref: '#/definitions/override' },
      description: 'Levels for some documents; later entries go before earlier ones.',
    },
    origins: {
      type: 'array',
      items: { type: 'string', pattern: '^https?://[^/?#]+/?$' },
      description: 'Further origins that a crawl may visit. Never a grant: credentials go where the credential file says.',
    },
  },
  additionalProperties: false,
  definitions: {
    level,
    rules: {
      type: 'object',
      properties: Object.fromEntries(rules.flatMap(namesOf)),
      additionalProperties: false,
    },
    override: {
      type: 'object',
      required: ['files', 'rules'],
      properties: {
        files: {
          type: 'array',
          items: { type: 'string', minLength: 1 },
          minItems: 1,
          description: 'Globs below the folder of this file, or beginnings of addresses.',
        },
        rules: { $ref: '#/definitions/rules' },
        reason: { type: 'string', pattern: '\\S', description: 'Why; required when a rule is switched off.' },
      },
      additionalProperties: false,
      if: { properties: { rules: { type: 'object', additionalProperties: { enum: ['info', 'warn', 'error'] } } } },
      else: { required: ['reason'], properties: { reason: true } },
    },
  },
}

emit(new URL('../schemas/lint-config.json', import.meta.url), `${JSON.stringify(schema, null, 2)}\n`, checkOnly())
