/**
 * The part of JSON Schema draft-07 that checks the schema of a parameter: keywords that contain schemas, and the values of the others.
 * A table instead of the meta-schema, which would be larger than the rest of the linter.
 */
import { isObject, type JsonObject, own, pointer } from '../../stac/document.ts'
import { rule } from '../rule.ts'

export const schemaOfParameter = rule('schema-of-parameter', 'flows', {
  'parameter-schema': {
    levels: ['error', 'error', 'error'],
    messages: { invalid: 'the schema of the parameter is not a valid JSON Schema: {reason}' },
    fix: 'safe',
    // The compiled schema only knows that it is an object or a boolean, and names no type where there are two; the rest is checked here.
    claim: ({ place, keyword, name, expected }) => place === 'field' && keyword === 'type' && name === 'schema' && expected === undefined,
    parameter({ value, pointer: at, flow }, report) {
      const schema = own(value, 'schema')
      if (schema === undefined || flow.scheme.map.version === '1.0.0') return
      const reason = schemaFault(schema)
      if (reason)
        report(`${at}/schema`, 'invalid', {
          reason,
          fix: reason.startsWith('examples') && own(schema, 'examples') !== undefined && 'safe',
        })
    },
  },
  'parameter-schema-unsafe': {
    levels: ['warn', 'warn', 'off'],
    messages: { refused: 'clients refuse parameters whose schema has {keyword}: write the schema out' },
    parameter({ value, pointer: at }, report) {
      for (const { keyword, pointer: inner } of keywordsIn(own(value, 'schema'), REFUSED))
        report(`${at}/schema${inner}`, 'refused', { keyword })
    },
  },
  'openapi-keyword': {
    levels: ['info', 'info', 'off'],
    messages: { meaningless: '{keyword} is a keyword of OpenAPI without a meaning in JSON Schema: remove it' },
    parameter({ value, pointer: at, flow }, report) {
      if (flow.scheme.map.version === '1.0.0') return
      for (const { keyword, pointer: inner } of keywordsIn(own(value, 'schema'), OPENAPI))
        report(`${at}/schema${inner}`, 'meaningless', { keyword })
    },
  },
})

const REFUSED = new Set(['$ref', '$id'])

const OPENAPI = new Set(['nullable', 'example', 'discriminator', 'xml', 'externalDocs', 'deprecated'])

/** A keyword and its pointer in the schema. */
interface Keyword {
  readonly keyword: string
  readonly pointer: string
}

/** Keywords with schemas in them, and whether their value is a schema, a list or a map of schemas. */
const HOLDERS = new Map<string, 'schema' | 'list' | 'map' | 'items' | 'dependencies'>([
  ...['additionalItems', 'additionalProperties', 'contains', 'else', 'if', 'not', 'propertyNames', 'then'].map(
    (keyword) => [keyword, 'schema'] as const,
  ),
  ...['allOf', 'anyOf', 'oneOf'].map((keyword) => [keyword, 'list'] as const),
  ...['definitions', 'patternProperties', 'properties'].map((keyword) => [keyword, 'map'] as const),
  ['items', 'items'],
  ['dependencies', 'dependencies'],
])

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']

const count = (value: unknown) => Number.isInteger(value) && Number(value) >= 0

const number = (value: unknown) => Number.isFinite(value)

const text = (value: unknown) => typeof value === 'string'

const flag = (value: unknown) => typeof value === 'boolean'

const list = (value: unknown) => Array.isArray(value)

const texts = (value: unknown) => Array.isArray(value) && value.every(text) && new Set(value).size === value.length

const types = (value: unknown) => {
  const named = typeof value === 'string' ? [value] : texts(value) ? (value as readonly string[]) : []
  return named.length > 0 && named.every((type) => TYPES.includes(type))
}

type Check = readonly [is: (value: unknown) => boolean, what: string]

const CHECKS: Readonly<Record<string, Check>> = {
  ...each(
    ['$comment', '$id', '$ref', '$schema', 'contentEncoding', 'contentMediaType', 'description', 'format', 'title'],
    text,
    'a string',
  ),
  ...each(['maxItems', 'maxLength', 'maxProperties', 'minItems', 'minLength', 'minProperties'], count, 'a count'),
  ...each(['exclusiveMaximum', 'exclusiveMinimum', 'maximum', 'minimum'], number, 'a finite number'),
  ...each(['readOnly', 'uniqueItems'], flag, 'a boolean'),
  ...each(['enum', 'examples'], list, 'an array'),
  required: [texts, 'an array of different strings'],
  multipleOf: [(value) => number(value) && Number(value) > 0, 'a number above 0'],
  pattern: [isPattern, 'a regular expression'],
  type: [types, 'a JSON type'],
}

/** Returns why the value is not a draft-07 schema, or undefined if it is one. */
function schemaFault(schema: unknown): string | undefined {
  if (typeof schema === 'boolean') return undefined
  if (!isObject(schema)) return 'it must be an object'
  for (const keyword of Object.keys(schema)) {
    const check = own(CHECKS, keyword) as Check | undefined
    if (check && !check[0](schema[keyword])) return `${keyword} must be ${check[1]}`
    const shape = shapeFault(keyword, schema[keyword])
    if (shape) return `${keyword} must be ${shape}`
  }
  for (const inner of innerSchemas(schema)) {
    const fault = schemaFault(inner.value)
    if (fault) return fault
  }
  return undefined
}

/** Returns those of the keywords that are in a schema or the schemas inside it, in document order of each level. */
function keywordsIn(schema: unknown, keywords: ReadonlySet<string>, at = ''): readonly Keyword[] {
  if (!isObject(schema)) return []
  const found: Keyword[] = []
  for (const keyword in schema) if (keywords.has(keyword)) found.push({ keyword, pointer: pointer(at, keyword) })
  for (const inner of innerSchemas(schema)) found.push(...keywordsIn(inner.value, keywords, at + inner.pointer))
  return found
}

interface InnerSchema {
  readonly value: unknown
  readonly pointer: string
}

const NONE: readonly InnerSchema[] = []

function innerSchemas(schema: JsonObject): readonly InnerSchema[] {
  let found = NONE
  // Nearly all schemas have none.
  for (const keyword in schema) if (HOLDERS.has(keyword)) found = [...found, ...schemasOf(keyword, schema[keyword])]
  return found
}

function schemasOf(keyword: string, value: unknown): readonly InnerSchema[] {
  const holder = HOLDERS.get(keyword)
  if (holder === 'schema' || (holder === 'items' && !Array.isArray(value))) return [{ value, pointer: pointer('', keyword) }]
  const values = isObject(value) || Array.isArray(value) ? Object.entries(value) : []
  const schemas = holder === 'dependencies' ? values.filter(([, entry]) => !Array.isArray(entry)) : values
  return schemas.map(([name, inner]) => ({ value: inner, pointer: pointer('', keyword, name) }))
}

function shapeFault(keyword: string, value: unknown): string | undefined {
  const holder = HOLDERS.get(keyword)
  if (holder === 'list' && !(Array.isArray(value) && value.length > 0)) return 'a list of schemas'
  if ((holder === 'map' || holder === 'dependencies') && !isObject(value)) return 'a map of schemas'
  return undefined
}

function isPattern(value: unknown): boolean {
  try {
    return typeof value === 'string' && new RegExp(value) !== undefined
  } catch {
    return false
  }
}

function each(keywords: readonly string[], ...check: Check): Record<string, Check> {
  return Object.fromEntries(keywords.map((keyword) => [keyword, check]))
}
