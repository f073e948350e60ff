import { isObject, type JsonObject, own, pointer as pointerTo, type StacDocument } from '../../stac/document.ts'
import { nearMiss } from '../../text/suggest.ts'
import type { TargetNode } from '../model.ts'
import { rule } from '../rule.ts'
import { nearestStorageField } from './auth-field-name.ts'

/** Each name in `storage:refs` of a target in an object store is a key of `storage:schemes` in scope. */
export const danglingStorageRef = rule('dangling-storage-ref', 'references', {
  'dangling-storage-ref': {
    levels: ['warn', 'warn', 'off'],
    messages: {
      undefined: 'storage:refs names "{ref}", which storage:schemes does not define, so endpoint and region are unknown',
      missing: 'storage:refs names "{ref}", but no document in reach has storage:schemes, so endpoint and region are unknown',
      misspelt: '"{field}" is not a field of the storage extension, so endpoint and region are unknown',
    },
    fix: 'suggestion',
    document({ object, schemes, targets, at }, report) {
      for (const [holder, place] of holdersOf(object)) {
        const field = misspelt(holder, 'storage:schemes')
        if (field !== undefined && (schemes.some(({ type }) => type === 's3') || targets.some(isInStore)))
          report(pointerTo(at + place, field), 'misspelt', { field, near: 'storage:schemes' })
      }
    },
    protectedTarget(target, report) {
      if (!isInStore(target)) return
      const { object, document, pointer } = target
      const field = misspelt(object, 'storage:refs')
      if (field !== undefined) report(pointerTo(pointer, field), 'misspelt', { field, near: 'storage:refs' })
      const refs = own(object, 'storage:refs')
      if (!Array.isArray(refs) || refs.length === 0) return
      const maps = mapsFor(target)
      if (maps.length === 0 && holdersOf(document.object).some(([holder]) => misspelt(holder, 'storage:schemes') !== undefined)) return
      for (const [index, ref] of refs.entries()) {
        if (typeof ref !== 'string' || maps.some((map) => Object.hasOwn(map, ref))) continue
        const near = nearMiss(
          ref,
          maps.flatMap((map) => Object.keys(map)),
        )
        report(`${pointer}/storage:refs/${index}`, maps.length > 0 ? 'undefined' : 'missing', { ref, near })
        if (maps.length === 0) return
      }
    },
  },
})

function isInStore({ types }: TargetNode): boolean {
  return types.includes('s3')
}

/** Returns the name under which an object has the field, if it does not have the field itself. */
export function misspelt(holder: unknown, field: 'storage:schemes' | 'storage:refs'): string | undefined {
  if (own(holder, field) !== undefined) return undefined
  return Object.keys(holder ?? {}).find((name) => nearestStorageField(name) === field)
}

/** Returns the maps of storages that a target may use: of its document, its wrapper and its parents. */
function mapsFor({ document: { object, wrapper, parents } }: TargetNode): readonly JsonObject[] {
  const documents = [object, ...(wrapper ? [wrapper] : []), ...parents]
  return documents.flatMap((document) => holdersOf(document).map(([holder]) => own(holder, 'storage:schemes'))).filter(isObject)
}

function holdersOf(document: StacDocument): readonly (readonly [holder: unknown, place: string])[] {
  return [
    [own(document, 'properties'), '/properties'],
    [document, ''],
  ]
}
