/**
 * The part of JSON Schema draft-07 that checks the schema of a parameter: keywords that contain schemas, and the values of the others.
 * A table instead of the meta-schema, which would be larger than the rest of the linter.
 */
import { isObject, own, pointer } from '../../stac/document.ts'
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
      for (const { keyword, pointer: inner } of keywordsIn(own(value, 'schema'))) {
        if (keyword === '$ref' || keyword === '$id') report(`${at}/schema${inner}`, 'refused', { keyword })
      }
    },
  },
  'openapi-keyword': {
    levels: ['info', 'info', 'off'],
    messages: { meaningless: '{keyword} is a keyword of OpenAPI without a meaning in JSON Schema: remove it' },
    parameter({ value, pointer: at, flow }, report) {
      if (flow.scheme.map.version === '1.0.0') return
      for (const { keyword, pointer: inner } of keywordsIn(own(value, 'schema'))) {
        if (OPENAPI.has(keyword)) report(`${at}/schema${inner}`, 'meaningless', { keyword })
      }
    },
  },
})

const OPENAPI = new Set(['nullable', 'example', 'discriminator', 'xml', 'externalDocs', 'deprecated'])

/** A keyword and its pointer in the schema. */
interface Keyword {
  readonly keyword: string
  readonly pointer: string
}

const IN_SCHEMA = ['additionalItems', 'additionalProperties', 'contains', 'else', 'if', 'not', 'propertyNames', 'then']

const IN_LIST = ['allOf', 'anyOf', 'oneOf']

const IN_MAP = ['definitions', 'patternProperties', 'properties']

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

/** Returns every keyword in a schema and the schemas inside it, in document order of each level. */
function keywordsIn(schema: unknown, at = ''): readonly Keyword[] {
  if (!isObject(schema)) return []
  const here = Object.keys(schema).map((keyword) => ({ keyword, pointer: pointer(at, keyword) }))
  return [...here, ...innerSchemas(schema).flatMap((inner) => keywordsIn(inner.value, at + inner.pointer))]
}

function innerSchemas(schema: object): readonly { readonly value: unknown; readonly pointer: string }[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (IN_SCHEMA.includes(keyword)) return [{ value, pointer: pointer('', keyword) }]
    const many = IN_LIST.includes(keyword) || (keyword === 'items' && Array.isArray(value))
    if (keyword === 'items' && !many) return [{ value, pointer: '/items' }]
    if (!many && !IN_MAP.includes(keyword) && keyword !== 'dependencies') return []
    const values = isObject(value) || Array.isArray(value) ? Object.entries(value) : []
    const schemas = keyword === 'dependencies' ? values.filter(([, entry]) => !Array.isArray(entry)) : values
    return schemas.map(([name, inner]) => ({ value: inner, pointer: pointer('', keyword, name) }))
  })
}

function shapeFault(keyword: string, value: unknown): string | undefined {
  if (IN_LIST.includes(keyword) && !(Array.isArray(value) && value.length > 0)) return 'a list of schemas'
  if ((IN_MAP.includes(keyword) || keyword === 'dependencies') && !isObject(value)) return 'a map of schemas'
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
