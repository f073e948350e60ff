import { formPairs, type Pairs } from '../service/form-pairs.ts'
import { parseStrictJson } from '../service/strict-json.ts'
import { type Fields, formFields, jsonFields, type Values } from './fields.ts'
import { refuse, refuseViolation } from './refuse.ts'
import type { Call } from './state.ts'

/** A form that may have nested names is given to this first. */
export type FormReader = (pairs: Pairs) => Values

/** The fields of a body, in JSON or as a form; 400 for everything else. */
export function readBody(call: Call, fields: Fields, readForm?: FormReader): Values {
  const { request, state } = call
  const { allowExtra } = state.settings
  return isForm(call)
    ? (readForm?.(readPairs(request.body)) ?? formFields(readPairs(request.body), fields, allowExtra))
    : jsonFields(readJson(call), fields, allowExtra)
}

/** The JSON of a body, whatever it is. */
export function readJson({ request }: Call): unknown {
  if (mediaType(request.headers['content-type']) !== 'application/json') {
    refuseViolation('Unsupported content type.', { code: 'invalid_content_type' })
  }
  try {
    return parseStrictJson(request.body)
  } catch (error) {
    return refuseViolation(`Bad request. Not JSON: ${error instanceof Error ? error.message : error}`)
  }
}

/** A media type without parameters; only UTF-8 may be named as a charset. */
function mediaType(field = ''): string {
  if (field === 'application/json') return field
  const [type = '', ...parameters] = field.split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice(8)
    .replaceAll('"', '')
  if (charset !== undefined && charset !== 'utf-8') refuseViolation(`Unsupported charset ${charset}.`, { code: 'invalid_content_type' })
  return type
}

function isForm({ operation, request }: Call): boolean {
  return operation.body === 'json or form' && mediaType(request.headers['content-type']) === 'application/x-www-form-urlencoded'
}

function readPairs(body: Buffer): Pairs {
  try {
    return formPairs(body.toString('latin1'))
  } catch (error) {
    return refuseViolation(`Bad request. Not a form: ${error instanceof Error ? error.message : error}`)
  }
}

/** A query value that an operation cannot do without. */
export function requiredQuery({ request }: Call, name: string): string {
  return queryValue(request.query, name) ?? refuse(400, `Value for '${name}' is missing.`)
}

/** The first value of a name. */
export function queryValue(query: Pairs, name: string): string | undefined {
  return query.find(([key]) => key === name)?.[1]
}
