import { own } from '../../stac/json.ts'
import { schemaFault } from '../draft-07.ts'
import type { Rule } from '../rule.ts'

/** The schema of a parameter is a JSON Schema of draft-07. */
export const parameterSchema: Rule = {
  meta: {
    id: 'parameter-schema',
    section: 'flows',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { invalid: 'schema is not valid: {reason}' },
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

/** Why the rule exists, for its page. */
export const docs =
  'Clients check a value against the schema before they send it; with a schema that cannot be read they send nothing. In 1.0.0 it was an OpenAPI Schema Object.'
