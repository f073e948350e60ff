import { own } from '../../stac/json.ts'
import { keywordsIn, schemaFault } from '../draft-07.ts'
import type { Rule, RuleCase, RuleDocs } from '../rule.ts'

/** The schema of a parameter is a JSON Schema of draft-07. */
const parameterSchema: RuleCase = {
  meta: {
    code: 'parameter-schema',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { invalid: 'the schema of the parameter is not a valid JSON Schema: {reason}' },
    fix: 'safe',
  },
  // The compiled schema only knows that it is an object or a boolean, and names no type where there are two; the rest is checked here.
  claim: ({ place, keyword, name, expected }) => place === 'field' && keyword === 'type' && name === 'schema' && expected === undefined,
  parameter({ value, pointer, flow }, report) {
    const schema = own(value, 'schema')
    if (schema === undefined || flow.scheme.map.version === '1.0.0') return
    const reason = schemaFault(schema)
    if (reason)
      report(`${pointer}/schema`, 'invalid', {
        reason,
        fix: reason.startsWith('examples') && own(schema, 'examples') !== undefined && 'safe',
      })
  },
}

/** The schema of a parameter stands alone. */
const parameterSchemaUnsafe: RuleCase = {
  meta: {
    code: 'parameter-schema-unsafe',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { refused: 'clients refuse parameters whose schema has {keyword}: write the schema out' },
  },
  parameter({ value, pointer }, report) {
    for (const { keyword, pointer: inner } of keywordsIn(own(value, 'schema'))) {
      if (keyword === '$ref' || keyword === '$id') report(`${pointer}/schema${inner}`, 'refused', { keyword })
    }
  },
}

/** The schema of a parameter uses keywords of JSON Schema. */
const openapiKeyword: RuleCase = {
  meta: {
    code: 'openapi-keyword',
    severity: { recommended: 'info', strict: 'info', schema: 'off' },
    messages: { meaningless: '{keyword} is a keyword of OpenAPI without a meaning in JSON Schema: remove it' },
  },
  parameter({ value, pointer, flow }, report) {
    if (flow.scheme.map.version === '1.0.0') return
    for (const { keyword, pointer: inner } of keywordsIn(own(value, 'schema'))) {
      if (OPENAPI.has(keyword)) report(`${pointer}/schema${inner}`, 'meaningless', { keyword })
    }
  },
}

const OPENAPI = new Set(['nullable', 'example', 'discriminator', 'xml', 'externalDocs', 'deprecated'])

export const schemaOfParameter: Rule = {
  meta: { id: 'schema-of-parameter', section: 'flows' },
  cases: [parameterSchema, parameterSchemaUnsafe, openapiKeyword],
}

export const docs: RuleDocs = {
  'parameter-schema':
    'Clients check a value against the schema before they send it; with a schema that cannot be read they send nothing. In 1.0.0 it was an OpenAPI Schema Object.',
  'parameter-schema-unsafe': 'Clients do not load schemas that a catalog names, nor let it name its own: they refuse the parameter.',
  'openapi-keyword': 'Version 1.0.0 had OpenAPI Schema Objects here; from 1.1.0 on their own keywords are ignored.',
}
