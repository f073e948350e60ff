import { own } from '../../stac/document.ts'
import { hasOuterSchemes } from '../model.ts'
import { rule } from '../rule.ts'

/** A document that declares the extension or uses refs has schemes: its own, or those of its wrapper or a given parent. */
export const missingSchemes = rule('missing-schemes', 'placement', {
  'missing-schemes': {
    levels: ['error', 'error', 'error'],
    messages: {
      missing: 'the document declares the authentication extension or uses auth:refs, but has no auth:schemes: define the schemes',
    },
    claim({ missing, pointer, place }, document, report) {
      if (place !== 'document' || (missing !== 'auth:schemes' && !(missing === 'properties' && pointer === ''))) return false
      const { at, kind, object, declarations, targets } = document
      const used = targets.some((target) => own(target.object, 'auth:refs') !== undefined)
      const needed = used || (declarations.length > 0 && kind !== 'wrapper')
      // Schemes at the root of an Item are misplaced, not missing.
      const misplaced = kind === 'item' && own(object, 'auth:schemes') !== undefined
      if (needed && !misplaced && !hasOuterSchemes(document)) report(kind === 'item' ? `${at}/properties` : at, 'missing')
      return true
    },
  },
})
