/** The axes of the schemas. */

/** Kinds of documents that have a schema. */
export const KINDS = ['item', 'collection', 'catalog', 'wrapper'] as const
export type SchemaKind = (typeof KINDS)[number]

export { VERSIONS as SCHEMA_VERSIONS } from '../../stac/version.ts'
