/** Checks values against JSON Schemas of draft-07, as far as those of the extension use it. Nothing is compiled to text. */
import { isObject, pointer as pointerTo } from '../../stac/json.ts'

/** A schema with the keywords that are understood here. */
export type Schema =
  | boolean
  | {
      readonly $ref?: string
      readonly type?: string | readonly string[]
      readonly const?: unknown
      readonly format?: string
      readonly pattern?: string
      readonly minItems?: number
      readonly items?: Schema
      readonly contains?: Schema
      readonly required?: readonly string[]
      readonly properties?: Readonly<Record<string, Schema>>
      readonly additionalProperties?: Schema
      readonly allOf?: readonly Schema[]
      readonly not?: Schema
      readonly if?: Schema
      readonly then?: Schema
      readonly else?: Schema
    }

/** A keyword that refuses a value. */
export interface SchemaError {
  readonly pointer: string
  readonly keyword: string
  /** The member that is missing, or the type that was expected. */
  readonly detail?: string
}

/**
 * True when the value at the pointer is valid. Every error is added to the list, where there is one; the errors inside of `if`, `not` and
 * `contains` are none of the value.
 */
export type Check = (value: unknown, pointer: string, errors: SchemaError[] | undefined) => boolean

/** RFC 3986 with a scheme, as strict as the format of the usual validators. */
export const URI =
  /^[a-z][a-z\d+.-]*:(?:\/\/(?:(?:[\w.~!$&'()*+,;=:-]|%[\da-f]{2})*@)?(?:\[[\da-fv.:]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?(?:\/(?:[\w.~!$&'()*+,;=:@/-]|%[\da-f]{2})*)?|(?!\/\/)(?:[\w.~!$&'()*+,;=:@/-]|%[\da-f]{2})+)(?:\?(?:[\w.~!$&'()*+,;=:@/?-]|%[\da-f]{2})*)?(?:#(?:[\w.~!$&'()*+,;=:@/?-]|%[\da-f]{2})*)?$/i

/** Makes the check of a schema; `resolve` gives those of the schemas that it refers to. */
export function checkOf(schema: Schema, resolve: (name: string) => Check): Check {
  if (typeof schema === 'boolean') return test('false schema', () => schema)
  const inner = (part: Schema) => checkOf(part, resolve)
  const { $ref, type, required, properties, additionalProperties, items, contains, not, pattern, minItems, allOf = [] } = schema
  const checks: Check[] = []
  if (type !== undefined) checks.push(ofType(type))
  if ($ref !== undefined) checks.push(resolve($ref))
  if ('const' in schema) checks.push(test('const', (value) => value === schema.const))
  if (schema.format !== undefined) checks.push(test('format', (value) => typeof value !== 'string' || URI.test(value)))
  if (pattern !== undefined) checks.push(matching(new RegExp(pattern, 'u')))
  if (minItems !== undefined) checks.push(test('minItems', (value) => !Array.isArray(value) || value.length >= minItems))
  if (required) checks.push(...required.map(having))
  if (properties || additionalProperties !== undefined) {
    const named = Object.entries(properties ?? {}).map(([name, part]) => [name, inner(part)] as const)
    checks.push(...named.map(([name, check]) => member(name, check)))
    if (additionalProperties !== undefined) checks.push(others(new Set(named.map(([name]) => name)), inner(additionalProperties)))
  }
  if (items !== undefined) checks.push(elements(inner(items)))
  if (contains !== undefined) checks.push(containing(inner(contains)))
  if (not !== undefined) {
    const refused = inner(not)
    checks.push(test('not', (value) => !refused(value, '', undefined)))
  }
  checks.push(...allOf.map(inner))
  if (schema.if !== undefined) checks.push(choice(inner(schema.if), inner(schema.then ?? true), inner(schema.else ?? true)))
  return all(checks)
}

function all(checks: readonly Check[]): Check {
  const [only] = checks
  if (only && checks.length === 1) return only
  return (value, at, errors) => {
    let valid = true
    for (const check of checks) if (!check(value, at, errors)) valid = false
    return valid
  }
}

/** A keyword that says yes or no. */
function test(keyword: string, passes: (value: unknown) => boolean, detail?: string): Check {
  return (value, pointer, errors) => {
    if (passes(value)) return true
    errors?.push({ pointer, keyword, detail })
    return false
  }
}

function ofType(type: string | readonly string[]): Check {
  const types = [type].flat()
  const [only = ''] = types
  return types.length === 1
    ? test('type', (value) => isOfType(value, only), only)
    : test('type', (value) => types.some((name) => isOfType(value, name)))
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'object') return isObject(value)
  return type === 'array' ? Array.isArray(value) : typeof value === type
}

function matching(pattern: RegExp): Check {
  return test('pattern', (value) => typeof value !== 'string' || pattern.test(value))
}

function having(name: string): Check {
  return test('required', (value) => !isObject(value) || Object.hasOwn(value, name), name)
}

function member(name: string, check: Check): Check {
  return (value, at, errors) =>
    !isObject(value) || !Object.hasOwn(value, name) || check(value[name], errors ? pointerTo(at, name) : at, errors)
}

function others(named: ReadonlySet<string>, check: Check): Check {
  return (value, at, errors) => {
    if (!isObject(value)) return true
    let valid = true
    for (const name in value) if (!named.has(name) && !check(value[name], errors ? pointerTo(at, name) : at, errors)) valid = false
    return valid
  }
}

function elements(check: Check): Check {
  return (value, at, errors) => {
    if (!Array.isArray(value)) return true
    let valid = true
    for (let index = 0; index < value.length; index++) if (!check(value[index], errors ? `${at}/${index}` : at, errors)) valid = false
    return valid
  }
}

function containing(check: Check): Check {
  return test('contains', (value) => !Array.isArray(value) || value.some((element) => check(element, '', undefined)))
}

function choice(condition: Check, then: Check, otherwise: Check): Check {
  return (value, at, errors) => (condition(value, '', undefined) ? then : otherwise)(value, at, errors)
}
