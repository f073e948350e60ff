/** All that the schemas refuse, without any rule. */
import { type SchemaKind, type Violation, violationsOf } from '../../src/lint/schema/violation.ts'
import { type ExtensionVersion, isObject, own, pointer } from '../../src/stac/document.ts'

/** The violations of the document, and those of each map of schemes in it. */
export function allViolations(document: unknown, kind: SchemaKind, version: ExtensionVersion): readonly Violation[] {
  const holder = kind === 'item' ? own(document, 'properties') : document
  const summaries = kind === 'collection' ? own(own(document, 'summaries'), 'auth:schemes') : undefined
  const maps: readonly (readonly [string, unknown])[] = [
    [kind === 'item' ? '/properties/auth:schemes' : '/auth:schemes', own(holder, 'auth:schemes')],
    ...(Array.isArray(summaries) ? summaries : []).map((map, index) => [pointer('/summaries/auth:schemes', index), map] as const),
  ]
  return [
    ...violationsOf(document, kind, version),
    ...maps.flatMap(([at, map]) => (isObject(map) ? violationsOf(map, 'schemes', version, at) : [])),
  ]
}
