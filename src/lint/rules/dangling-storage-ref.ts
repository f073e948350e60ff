import { isObject, type JsonObject, own, type StacDocument } from '../../stac/document.ts'
import { nearMiss } from '../../text/suggest.ts'
import { isProtected, type LintDocument, type TargetNode } from '../model.ts'
import { type Report, rule } from '../rule.ts'

/** Each name in `storage:refs` of a target in an object store is a key of `storage:schemes` in scope. */
export const danglingStorageRef = rule('dangling-storage-ref', 'references', {
  'dangling-storage-ref': {
    levels: ['warn', 'warn', 'off'],
    messages: {
      undefined: 'storage:refs names "{ref}", which storage:schemes does not define, so endpoint and region are unknown',
      missing: 'storage:refs names "{ref}", but no document in reach has storage:schemes, so endpoint and region are unknown',
      misspelt: 'storage:refs names "{ref}", but the field with the schemes is written "{field}": write storage:schemes',
    },
    document(document, report) {
      const maps = mapsFor(document)
      for (const target of document.targets) {
        const refs = own(target.object, 'storage:refs')
        if (Array.isArray(refs) && isProtected(target) && target.types.includes('s3')) check(target, refs, maps, report)
      }
    },
  },
})

function check(target: TargetNode, refs: readonly unknown[], maps: readonly JsonObject[], report: Report): void {
  for (const [index, ref] of refs.entries()) {
    if (typeof ref !== 'string' || maps.some((map) => Object.hasOwn(map, ref))) continue
    const field = maps.length === 0 ? misspeltField(target.document) : undefined
    const message = maps.length > 0 ? 'undefined' : field === undefined ? 'missing' : 'misspelt'
    const near = nearMiss(
      ref,
      maps.flatMap((map) => Object.keys(map)),
    )
    report(`${target.pointer}/storage:refs/${index}`, message, { ref, ...(field !== undefined && { field }), ...(near && { near }) })
    if (maps.length === 0) return
  }
}

/** Returns the maps of storages that the targets of a document may use: its own, and those of its wrapper and its parents. */
function mapsFor({ object, wrapper, parents }: LintDocument): readonly JsonObject[] {
  const found: JsonObject[] = []
  for (const document of [object, wrapper, ...parents]) {
    for (const holder of holdersIn(document)) {
      const map = own(holder, 'storage:schemes')
      if (isObject(map)) found.push(map)
    }
  }
  return found
}

function holdersIn(document: StacDocument | undefined): readonly unknown[] {
  return [own(document, 'properties'), document]
}

function misspeltField({ object }: LintDocument): string | undefined {
  const names = holdersIn(object).flatMap((holder) => Object.keys(holder ?? {}))
  return names.find((name) => name.startsWith('storage') && nearMiss(name, ['storage:schemes']) !== undefined)
}
