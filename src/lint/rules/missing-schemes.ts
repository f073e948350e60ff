import { own } from '../../stac/document.ts'
import { hasOuterSchemes } from '../model.ts'
import type { Rule, RuleDocs } from '../rule.ts'

/** A document that declares the extension or uses refs has schemes: its own, or those of its wrapper or a given parent. */
export const missingSchemes: Rule = {
  meta: { id: 'missing-schemes', section: 'placement' },
  cases: [
    {
      meta: {
        code: 'missing-schemes',
        severity: { recommended: 'error', strict: 'error', schema: 'error' },
        messages: {
          missing: 'the document declares the authentication extension or uses auth:refs, but has no auth:schemes: define the schemes',
        },
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
  ],
}

export const docs: RuleDocs = {
  'missing-schemes': {
    part: 'fields',
    why: 'A reference is only a name. Without the scheme a client knows neither how to authenticate nor where, and cannot download the asset. Schemes are often lost when documents are copied or taken from an API response.',
    repair: [
      'Add auth:schemes: to properties in an Item, to the root in a Collection or Catalog.',
      'Define every name that auth:refs uses.',
      'If nothing is protected, remove the extension from stac_extensions.',
    ],
  },
}
