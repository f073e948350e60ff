/** Violations of the JSON Schema for the version and kind of a document, and of the one for a map of schemes. */
import { EXTENSION, type ExtensionVersion, own, VERSIONS } from '../../stac/document.ts'
import { namesOf } from '../pointer.ts'
import * as validators from './validators.ts'

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

/** A keyword that refuses a value, as the compiled schemas report it. */
interface SchemaError {
  readonly pointer: string
  readonly keyword: string
  /** The member that is missing, or the type that was expected. */
  readonly detail?: string
}

type Validator = { (value: unknown): boolean; errors?: readonly SchemaError[] | null }

const compiled: { readonly [Name in keyof typeof validators]: Validator } = validators

const NONE: readonly Violation[] = []

/**
 * Returns all violations in the value at the pointer, in no particular order. The schema of a document does not check the content of
 * `auth:schemes`: each map there has its own schema.
 */
export function violationsOf(value: unknown, schema: SchemaKind | 'schemes', version: ExtensionVersion, at = ''): readonly Violation[] {
  const isMap = schema === 'schemes'
  const validate = isMap ? SCHEMES[version] : DOCUMENTS[schema]
  const undeclared = isMap ? NONE : undeclaredIn(value, version)
  if (validate(value)) return undeclared
  // The errors inside a failed `if` are reported instead of it.
  const errors = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if')
  return [...undeclared, ...errors.map((error) => violation({ ...error, pointer: at + error.pointer }))]
}

const { item, collection, catalog, wrapper } = compiled

const DOCUMENTS: Readonly<Record<SchemaKind, Validator>> = { item, collection, catalog, wrapper }

const SCHEMES: Readonly<Record<ExtensionVersion, Validator>> = {
  '1.0.0': compiled.schemes_1_0_0,
  '1.1.0': compiled.schemes_1_1_0,
  '1.2.0': compiled.schemes_1_2_0,
}

/** The one keyword of the schemas of documents that depends on the version. */
function undeclaredIn(value: unknown, version: ExtensionVersion): readonly Violation[] {
  const list = own(value, 'stac_extensions')
  if (!Array.isArray(list) || list.includes(URLS[version])) return NONE
  return [violation({ pointer: '/stac_extensions', keyword: 'contains' })]
}

const URLS = Object.fromEntries(VERSIONS.map((version) => [version, `${EXTENSION}v${version}/schema.json`]))

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
