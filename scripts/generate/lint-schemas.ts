/**
 * Writes schemas/lint-config.json, the JSON Schema of the linter's configuration: an editor then knows every rule. And schemas/document.json:
 * all of schemas/authentication in one file without outside references, for editors. Which part counts is decided by the document's `type` and
 * the version that it declares.
 */
import { readFileSync } from 'node:fs'
import { LONGEST_PATTERN, PRESET_NAME } from '../../src/lint/config.ts'
import { type Rule, rules } from '../../src/lint/index.ts'
import { LEVELS, PRESETS } from '../../src/lint/problem.ts'
import { pages } from '../../src/lint/rules/pages.ts'
import { KINDS, SCHEMA_VERSIONS } from '../../src/lint/schema/violation.ts'
import { EXTENSION } from '../../src/stac/document.ts'
import type { Files } from './files.ts'

const reason = { type: 'string', pattern: '\\S', description: 'Why, for --print-config.' }
const plain = { enum: [...LEVELS], description: 'off does not report a finding; error makes the exit code 1.' }
const level = {
  anyOf: [plain, { type: 'object', required: ['level'], properties: { level: plain, reason }, additionalProperties: false }],
}
/** Levels that need no reason beside them. */
const explained = {
  anyOf: [
    { enum: ['info', 'warn', 'error'] },
    { type: 'object', properties: { level: { enum: ['info', 'warn', 'error'] } } },
    { type: 'object', required: ['reason'], properties: { reason: true } },
  ],
}

/** A rule by its name, and its cases by their codes. */
function namesOf({ meta: { id }, cases }: Rule): readonly (readonly [string, object])[] {
  const ofCases = cases.map(({ meta: { code } }) => [code, { $ref: '#/definitions/level', description: pages[code]?.why }] as const)
  const codes = cases.map(({ meta }) => meta.code).join(', ')
  return cases.length === 1 ? ofCases : [[id, { $ref: '#/definitions/level', description: `All of ${codes}.` }], ...ofCases]
}

const configuration = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'https://json.schemastore.org/stac-auth-lint.json',
  title: 'Configuration of stac-auth lint',
  description: 'Rules, levels and skipped files of stac-auth lint --config FILE.',
  type: 'object',
  properties: {
    $schema: { type: 'string', description: 'The path or URL of this schema, for editors.' },
    extends: {
      anyOf: [{ $ref: '#/definitions/extended' }, { type: 'array', items: { $ref: '#/definitions/extended' } }],
      description: 'Presets and other configurations; later ones go before earlier ones, and this file before all.',
    },
    preset: { enum: [...PRESETS], default: 'recommended', description: 'Which rules are on before anything else is said.' },
    infos: { type: 'boolean', default: false, description: 'Also reports what the preset recommended only has as information.' },
    rules: { $ref: '#/definitions/rules' },
    overrides: {
      type: 'array',
      items: { $ref: '#/definitions/override' },
      description: 'Levels for some documents; later entries go before earlier ones.',
    },
    ignores: {
      type: 'array',
      items: { type: 'string', minLength: 1, maxLength: LONGEST_PATTERN },
      description: 'Files of folders to skip: patterns as in a .gitignore file in the folder of this file.',
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
    extended: {
      anyOf: [{ enum: PRESETS.map((preset) => `${PRESET_NAME}${preset}`) }, { type: 'string', pattern: '^\\.\\.?/.' }],
      description: 'A preset, or the path of a configuration that begins with ./ or ../.',
    },
    rules: {
      type: 'object',
      description: 'Levels by the id of a rule or the code of a case, alone or with a reason.',
      properties: Object.fromEntries(rules.flatMap(namesOf)),
      additionalProperties: false,
    },
    override: {
      type: 'object',
      description: 'Levels for some documents.',
      required: ['files', 'rules'],
      properties: {
        files: {
          type: 'array',
          items: { type: 'string', minLength: 1, maxLength: LONGEST_PATTERN },
          minItems: 1,
          description: 'Globs below the folder of this file, or beginnings of addresses.',
        },
        rules: { $ref: '#/definitions/rules' },
        reason: { ...reason, description: 'Why; required when a rule is switched off without a reason of its own.' },
      },
      additionalProperties: false,
      if: { properties: { rules: { type: 'object', additionalProperties: explained } } },
      else: { required: ['reason'], properties: { reason: true } },
    },
  },
}

const FOLDER = new URL('../../schemas/authentication/', import.meta.url)
const TYPES = { item: 'Feature', collection: 'Collection', catalog: 'Catalog', wrapper: 'FeatureCollection' } as const

type Schema = { readonly [keyword: string]: unknown }

const sources = ['common', ...SCHEMA_VERSIONS.flatMap((version) => ['schemes', ...KINDS].map((name) => `v${version}/${name}`))]
const loaded = sources.map((file) => ({ file, schema: JSON.parse(readFileSync(new URL(`${file}.json`, FOLDER), 'utf8')) as Schema }))
const places = new Map(
  loaded.map(({ file, schema: loadedSchema }) => [String(loadedSchema.$id), `#/definitions/${file.replace('/', '-')}`]),
)

const branches = SCHEMA_VERSIONS.flatMap((version) =>
  KINDS.map((kind) => ({
    if: {
      required: ['type', 'stac_extensions'],
      properties: { type: { const: TYPES[kind] }, stac_extensions: { contains: { const: `${EXTENSION}v${version}/schema.json` } } },
    },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { $ref: `#/definitions/v${version}-${kind}` },
  })),
)

const documents = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'urn:stac-auth:schema:document',
  title: 'A STAC document with the authentication extension',
  allOf: branches,
  definitions: Object.fromEntries(loaded.map(({ file, schema: inner }) => [file.replace('/', '-'), moved(inner, inner)])),
}

/** A schema inside of the file: its references lead to where everything stands now. */
function moved(value: unknown, file: Schema): unknown {
  if (Array.isArray(value)) return value.map((inner) => moved(inner, file))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([name]) => value !== file || (name !== '$id' && name !== '$schema'))
  return Object.fromEntries(members.map(([name, inner]) => [name, name === '$ref' ? placeOf(String(inner), file) : moved(inner, file)]))
}

function placeOf(ref: string, file: Schema): string {
  const [id = '', inner = ''] = ref.split('#')
  const place = places.get(id === '' ? String(file.$id) : id)
  return place === undefined ? ref : place + inner
}

export const files: Files = {
  'schemas/lint-config.json': `${JSON.stringify(configuration, null, 2)}\n`,
  'schemas/document.json': `${JSON.stringify(documents, null, 2)}\n`,
}
