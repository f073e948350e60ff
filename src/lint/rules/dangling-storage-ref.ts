import { isObject, type JsonObject, own, type StacDocument } from '../../stac/document.ts'
import { nearMiss } from '../../text/suggest.ts'
import type { LintDocument, TargetNode } from '../model.ts'
import { rule } from '../rule.ts'

/** Each name in `storage:refs` of a target in an object store is a key of `storage:schemes` in scope. */
export const danglingStorageRef = rule('dangling-storage-ref', 'references', {
  'dangling-storage-ref': {
    levels: ['warn', 'warn', 'off'],
    messages: {
      undefined: 'storage:refs names "{ref}", which storage:schemes does not define, so endpoint and region are unknown',
      missing: 'storage:refs names "{ref}", but no document in reach has storage:schemes, so endpoint and region are unknown',
      misspelt: 'storage:refs names "{ref}", but the field with the schemes is written "{field}": write storage:schemes',
    },
    protectedTarget(target, report) {
      const refs = own(target.object, 'storage:refs')
      if (!Array.isArray(refs) || refs.length === 0 || !target.types.includes('s3')) return
      const maps = mapsFor(target)
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
    },
  },
})

/** Returns the maps of storages that a target may use: of its document, its wrapper and its parents. */
function mapsFor({ document: { object, wrapper, parents } }: TargetNode): readonly JsonObject[] {
  const documents = [object, ...(wrapper ? [wrapper] : []), ...parents]
  return documents.flatMap((document) => holdersIn(document).map((holder) => own(holder, 'storage:schemes'))).filter(isObject)
}

function holdersIn(document: StacDocument): readonly unknown[] {
  return [own(document, 'properties'), document]
}

function misspeltField({ object }: LintDocument): string | undefined {
  const names = holdersIn(object).flatMap((holder) => Object.keys(holder ?? {}))
  return names.find((name) => name.startsWith('storage') && nearMiss(name, ['storage:schemes']) !== undefined)
}
