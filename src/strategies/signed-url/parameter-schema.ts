/**
 * Checks a signing parameter's value against the catalog's schema. Such a schema is a stranger's program: nothing is
 * loaded, nothing recurses, no regular expression that can run away is tried, and no default becomes a value.
 */
import type { Warning } from '../../auth/strategy.ts'
import { type ErrorCode, SelectionError } from '../../errors.ts'
import { isObject, type JsonObject, pointer } from '../../stac/json.ts'

const MAX_DEPTH = 16
const MAX_KEYWORDS = 200

const KNOWN = new Set(
  'type enum const minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength multipleOf required pattern'.split(' '),
)
const SILENT = new Set('$schema title description default examples $comment format'.split(' '))

/**
 * Walks the schema for what is refused, in document order, and gives what is ignored as warnings.
 *
 * Errors: `PARAM_SCHEMA_REF`, `PARAM_SCHEMA_KEYWORD` (`$id`, too deep, too many keywords), `PARAM_SCHEMA_VALUE`.
 */
export function inspectSchema(schema: JsonObject, at: string): readonly Warning[] {
  const warnings: Warning[] = []
  const ignored: string[] = []
  /** The schema itself is none. */
  let keywords = -1
  const stack: Step[] = [{ value: schema, at, depth: 0 }]
  for (let step = stack.pop(); step; step = stack.pop()) {
    if (++keywords > MAX_KEYWORDS) throw refused('PARAM_SCHEMA_KEYWORD', `has more than ${MAX_KEYWORDS} keywords`, step.at)
    refuse(step)
    const { name, value, depth } = step
    if (name !== undefined && depth === 1 && !KNOWN.has(name) && !SILENT.has(name)) ignored.push(name)
    if (typeof value !== 'object' || value === null) continue
    const members = Object.keys(value)
      .slice(0, MAX_KEYWORDS + 1)
      .reverse()
    for (const name of members) stack.push({ name, value: (value as JsonObject)[name], at: pointer(step.at, name), depth: depth + 1 })
  }
  if (ignored.length)
    warnings.push({ code: 'PARAM_KEYWORD_IGNORED', message: `keywords without effect: ${ignored.join(', ')}`, pointer: at })
  if (typeof schema.pattern === 'string' && !isLinear(schema.pattern)) {
    const message = 'the pattern could take very long and is not tried'
    warnings.push({ code: 'PARAM_PATTERN_UNSUPPORTED', message, pointer: pointer(at, 'pattern') })
  }
  return warnings
}

interface Step {
  readonly name?: string
  readonly value: unknown
  readonly at: string
  readonly depth: number
}

function refuse({ name, value, at, depth }: Step): void {
  if (name === '$ref' || name === '$dynamicRef') throw refused('PARAM_SCHEMA_REF', `has a ${name}, which is not followed`, at)
  if (name === '$id') throw refused('PARAM_SCHEMA_KEYWORD', 'has an $id', at)
  if (depth > MAX_DEPTH) throw refused('PARAM_SCHEMA_KEYWORD', `is more than ${MAX_DEPTH} levels deep`, at)
  if (typeof value === 'number' && !Number.isFinite(value)) throw refused('PARAM_SCHEMA_VALUE', 'has a number that is out of range', at)
}

/** True when the value satisfies what of the schema is understood. */
export function satisfies(value: unknown, schema: JsonObject): boolean {
  return (
    ofType(value, schema.type) &&
    (!Array.isArray(schema.enum) || schema.enum.some((one) => same(one, value))) &&
    (!Object.hasOwn(schema, 'const') || same(schema.const, value)) &&
    (typeof value !== 'number' || numberFits(value, schema)) &&
    (typeof value !== 'string' || textFits(value, schema)) &&
    (!isObject(value) || !Array.isArray(schema.required) || schema.required.every((name) => Object.hasOwn(value, String(name))))
  )
}

function ofType(value: unknown, type: unknown): boolean {
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type]
  if (types.length === 0) return true
  return types.some((name) => {
    if (name === 'integer') return Number.isInteger(value)
    if (name === 'array') return Array.isArray(value)
    if (name === 'null') return value === null
    return name === 'object' ? isObject(value) : typeof value === name
  })
}

function same(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other))
}

function numberFits(value: number, { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonObject): boolean {
  return (
    !(typeof minimum === 'number' && value < minimum) &&
    !(typeof maximum === 'number' && value > maximum) &&
    !(typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) &&
    !(typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) &&
    !(typeof multipleOf === 'number' && multipleOf > 0 && !Number.isInteger(value / multipleOf))
  )
}

function textFits(value: string, { minLength, maxLength, pattern }: JsonObject): boolean {
  const length = [...value].length
  if (typeof minLength === 'number' && length < minLength) return false
  if (typeof maxLength === 'number' && length > maxLength) return false
  return typeof pattern !== 'string' || !isLinear(pattern) || new RegExp(pattern, 'u').test(value)
}

/** Without groups, alternatives and back-references, and with one repetition or option behind `^` at most, time is linear. */
function isLinear(pattern: string): boolean {
  if (pattern.length > 200 || /[(|]|\\[1-9kpPuxc]/.test(pattern)) return false
  const repetitions = pattern.replace(/\\.|\[(?:\\.|[^\]])*\]/g, 'x').match(/[*+?]|\{\d*,\d*\}/g) ?? []
  if (repetitions.length > 1 || (repetitions.length === 1 && !pattern.startsWith('^'))) return false
  try {
    new RegExp(pattern, 'u')
    return true
  } catch {
    return false
  }
}

function refused(code: ErrorCode, why: string, at: string): SelectionError {
  return new SelectionError(code, `the schema of a signing parameter ${why}`, { pointer: at })
}
