import { isObject, type JsonObject, own, pointer as pointerTo, type StacDocument } from '../../stac/document.ts'
import { nearMiss } from '../../text/suggest.ts'
import { isProtected, type LintDocument, type TargetNode } from '../model.ts'
import { type Report, rule } from '../rule.ts'
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
    document(document, report) {
      const { object, schemes, targets, at } = document
      const isMisspelt = (schemes.some(({ type }) => type === 's3') || targets.some(isInStore)) && reportSchemes(object, at, report)
      const maps = mapsFor(document)
      for (const target of targets) {
        if (isProtected(target) && isInStore(target)) check(target, maps, isMisspelt, report)
      }
    },
  },
})

function isInStore({ types }: TargetNode): boolean {
  return types.includes('s3')
}

/** Reports misspelt `storage:schemes` of a document; returns true if there is one. */
function reportSchemes(object: StacDocument, at: string, report: Report): boolean {
  let isFound = false
  for (const [holder, place] of [[own(object, 'properties'), '/properties'] as const, [object, ''] as const]) {
    const field = misspelt(holder, 'storage:schemes')
    if (field === undefined) continue
    report(pointerTo(at + place, field), 'misspelt', { field, near: 'storage:schemes' })
    isFound = true
  }
  return isFound
}

function check({ object, pointer }: TargetNode, maps: readonly JsonObject[], isMisspelt: boolean, report: Report): void {
  const field = misspelt(object, 'storage:refs')
  if (field !== undefined) report(pointerTo(pointer, field), 'misspelt', { field, near: 'storage:refs' })
  const refs = own(object, 'storage:refs')
  if (!Array.isArray(refs) || (isMisspelt && maps.length === 0)) return
  for (const [index, ref] of refs.entries()) {
    if (typeof ref !== 'string' || maps.some((map) => Object.hasOwn(map, ref))) continue
    const near = nearMiss(
      ref,
      maps.flatMap((map) => Object.keys(map)),
    )
    report(`${pointer}/storage:refs/${index}`, maps.length > 0 ? 'undefined' : 'missing', { ref, near })
    if (maps.length === 0) return
  }
}

/** Returns the name under which an object has the field, if it does not have the field itself. */
export function misspelt(holder: unknown, field: 'storage:schemes' | 'storage:refs'): string | undefined {
  if (!isObject(holder) || own(holder, field) !== undefined) return undefined
  for (const name in holder) if (nearestStorageField(name) === field && Object.hasOwn(holder, name)) return name
  return undefined
}

/** Returns the maps of storages that the targets of a document may use: its own, and those of its wrapper and its parents. */
function mapsFor({ object, wrapper, parents }: LintDocument): readonly JsonObject[] {
  const found: JsonObject[] = []
  for (const document of [object, wrapper, ...parents]) {
    for (const holder of [own(document, 'properties'), document]) {
      const map = own(holder, 'storage:schemes')
      if (isObject(map)) found.push(map)
    }
  }
  return found
}
