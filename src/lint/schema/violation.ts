/** What the JSON Schema of a document's version and kind finds wrong with it, and that of a map of schemes with the map. */
import type { ExtensionVersion } from '../../stac/document.ts'
import { namesOf } from '../pointer.ts'
import { schemas } from './schemas.ts'
import { type Check, checkOf, type SchemaError } from './validate.ts'

/** Part of a document that a violation concerns. */
type Place = 'document' | 'refs' | 'schemes' | 'scheme' | 'flows' | 'field'

/** One violation of the schema. */
export interface Violation {
  /** Pointer of the value, from the root of the document (not of its wrapper). */
  readonly pointer: string
  /** Last name of the pointer, unescaped. */
  readonly name: string
  readonly keyword: string
  readonly place: Place
  /** Member that is required and absent. */
  readonly missing?: string
  /** JSON type that was expected. */
  readonly expected?: string
}

const NONE: readonly Violation[] = []

/**
 * Everything in the value at the pointer that its schema refuses, in no particular order. The schema of a document does not look into
 * `auth:schemes`: each map there has a schema of its own.
 */
export function violationsOf(value: unknown, schema: SchemaKind | 'schemes', version: ExtensionVersion, at = ''): readonly Violation[] {
  const check = checkNamed(`${schema} ${version}`)
  // Most values are valid: pointers are made for the others.
  if (check(value, at, undefined)) return NONE
  const errors: SchemaError[] = []
  check(value, at, errors)
  return errors.map(violation)
}

const checks = new Map<string, Check>()

/** Made when it is asked for first. */
function checkNamed(name: string): Check {
  const known = checks.get(name)
  if (known) return known
  const check = checkOf(schemas[name] ?? false, checkNamed)
  checks.set(name, check)
  return check
}

function violation({ pointer, keyword, detail }: SchemaError): Violation {
  const names = namesOf(pointer)
  return {
    pointer,
    name: names.at(-1) ?? '',
    keyword,
    place: placeOf(names),
    missing: keyword === 'required' ? detail : undefined,
    expected: keyword === 'type' ? detail : undefined,
  }
}

function placeOf(names: readonly string[]): Place {
  const map = names.indexOf('auth:schemes')
  if (map >= 0 && map <= 1) {
    // The elements of a summary are maps themselves.
    const [, field, flow] = names.slice(map + (names[0] === 'summaries' ? 2 : 1))
    if (names[0] === 'summaries' && names.length === 2) return 'document'
    const depth = names.length - map - (names[0] === 'summaries' ? 2 : 1)
    if (depth === 0) return 'schemes'
    if (depth === 1) return 'scheme'
    if (field === 'auth:refs') return 'refs'
    return field === 'flows' && flow === undefined ? 'flows' : 'field'
  }
  return names.at(-1) === 'auth:refs' || names.at(-2) === 'auth:refs' ? 'refs' : 'document'
}

/** Kinds of documents that have a schema. */
export const KINDS = ['item', 'collection', 'catalog', 'wrapper'] as const

export type SchemaKind = (typeof KINDS)[number]

export { VERSIONS as SCHEMA_VERSIONS } from '../../stac/document.ts'
