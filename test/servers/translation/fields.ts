import type { Pairs } from '../service/form-pairs.ts'
import { refuse, refuseViolation } from './refuse.ts'

/** What a field of a body may be. `list` is an array in JSON and one text with commas in a form. */
export interface Field {
  readonly type: 'string' | 'boolean' | 'number' | 'limit' | 'strings' | 'list' | 'object' | 'objects'
  readonly required?: true
  readonly jsonOnly?: true
  readonly values?: readonly string[]
  /** In code points. */
  readonly longest?: number
}

export type Fields = Readonly<Record<string, Field>>
export type Values = Readonly<Record<string, unknown>>

/** Checks an object from JSON against the fields of an operation. */
export function jsonFields(body: unknown, fields: Fields, allowExtra = false, where = ''): Values {
  if (!isObject(body)) return refuse(400, `Bad request. ${where || 'The body'} is not an object.`)
  for (const name of Object.keys(body)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (!field && !allowExtra) refuseViolation(`Bad request. Unknown field '${where}${name}'.`)
    if (field && !hasType(body[name], field.type)) refuse(400, `Bad request. Value for '${where}${name}' has the wrong type.`)
  }
  return checked(body, fields, where)
}

/** Checks pairs of a form against the fields of an operation and gives them the types of JSON. */
export function formFields(pairs: Pairs, fields: Fields, allowExtra = false): Values {
  const values: Record<string, unknown> = {}
  for (const [name, value] of pairs) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (!field) {
      if (!allowExtra) refuseViolation(`Bad request. Unknown field '${name}'.`)
      continue
    }
    if (field.jsonOnly) refuse(400, `Bad request. '${name}' is only supported in JSON requests.`)
    if (field.type === 'strings') values[name] = [...((values[name] as string[] | undefined) ?? []), value]
    else if (Object.hasOwn(values, name)) refuse(400, `Bad request. '${name}' was given twice.`)
    else values[name] = fromForm(value, field.type) ?? refuse(400, `Bad request. Value for '${name}' not supported.`)
  }
  return checked(values, fields, '')
}

/** An object that is neither null nor an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Characters as they are billed: code points. */
export function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

function checked(values: Values, fields: Fields, where: string): Values {
  for (const name in fields) {
    const field = fields[name]
    const value = values[name]
    if (!field) continue
    if (value === undefined) {
      if (field.required) refuse(400, `Bad request. Reason: Value for '${where}${name}' is missing.`)
    } else if (typeof value === 'string') {
      if (field.values && !field.values.includes(value)) refuse(400, `Value for '${where}${name}' not supported.`)
      if (field.longest !== undefined && codePoints(value) > field.longest) refuse(400, `Value for '${where}${name}' is too long.`)
    }
  }
  return values
}

function hasType(value: unknown, type: Field['type']): boolean {
  switch (type) {
    case 'string':
    case 'boolean':
      return typeof value === type
    case 'number':
      return typeof value === 'number'
    case 'limit':
      return value === null || (Number.isSafeInteger(value) && Number(value) >= 0)
    case 'object':
      return isObject(value)
    case 'objects':
      return Array.isArray(value) && value.every(isObject)
    default:
      return Array.isArray(value) && value.every((item) => typeof item === 'string')
  }
}

/** Nothing when the text is not of that type. */
function fromForm(value: string, type: Field['type']): unknown {
  switch (type) {
    case 'string':
      return value
    case 'boolean':
      return value === '1' ? true : value === '0' ? false : undefined
    case 'number':
      return /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : undefined
    case 'list':
      return value.split(',')
    default:
      return undefined
  }
}
