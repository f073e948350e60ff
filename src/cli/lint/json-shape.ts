/** Checks JSON of others by the keywords of JSON Schema that the schema of reports uses. */
import { isObject, own } from '../../stac/document.ts'

/** A JSON Schema; a member that it does not name is dropped, whatever `additionalProperties` says. */
export interface JsonShape {
  /** `#/definitions/<name>`. */
  readonly $ref?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly type?: 'string' | 'integer' | 'boolean' | 'array' | 'object'
  readonly pattern?: string
  readonly maxLength?: number
  readonly minimum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly items?: JsonShape
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, JsonShape>>
  readonly additionalProperties?: boolean | JsonShape
  readonly definitions?: Readonly<Record<string, JsonShape>>
}

/** Returns a copy with the members that the schema names, in their order; undefined for a value that does not conform. */
export function conforming(value: unknown, shape: JsonShape, root: JsonShape = shape): unknown {
  const { $ref, enum: values = 'const' in shape ? [shape.const] : undefined } = shape
  if ($ref !== undefined) return conforming(value, root.definitions?.[$ref.replace('#/definitions/', '')] ?? {}, root)
  if (values) return values.includes(value) ? value : undefined
  if (shape.type === 'array') return listOf(value, shape, root)
  if (shape.type === 'object') return membersOf(value, shape, root)
  return isScalar(value, shape) ? value : undefined
}

function isScalar(value: unknown, { type, pattern = '', maxLength = Number.POSITIVE_INFINITY, minimum = 0 }: JsonShape): boolean {
  if (type === 'string') return typeof value === 'string' && value.length <= maxLength && new RegExp(pattern).test(value)
  if (type === 'integer') return Number.isSafeInteger(value) && Number(value) >= minimum
  return type === undefined || typeof value === type
}

function listOf(value: unknown, { items = {}, minItems = 0, maxItems = Number.POSITIVE_INFINITY }: JsonShape, root: JsonShape): unknown {
  if (!Array.isArray(value) || value.length < minItems || value.length > maxItems) return undefined
  const list = value.map((one) => conforming(one, items, root))
  return list.includes(undefined) ? undefined : list
}

function membersOf(value: unknown, { required = [], properties = {}, additionalProperties = true }: JsonShape, root: JsonShape): unknown {
  if (!isObject(value) || !required.every((name) => own(value, name) !== undefined)) return undefined
  const others = typeof additionalProperties === 'object' ? additionalProperties : undefined
  const members = Object.entries(value).flatMap(([name, member]) => {
    const shape = own(properties, name) ?? others
    return isObject(shape) && member !== undefined ? [[name, conforming(member, shape, root)] as const] : []
  })
  return members.some(([, member]) => member === undefined) ? undefined : Object.fromEntries(members)
}

/** Returns the schema of an object with these members. */
export function objectOf(needed: Readonly<Record<string, JsonShape>>, optional: Readonly<Record<string, JsonShape>> = {}): JsonShape {
  return { type: 'object', required: Object.keys(needed), properties: { ...needed, ...optional } }
}
