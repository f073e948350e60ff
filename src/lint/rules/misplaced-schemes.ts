import { isObject, own } from '../../stac/json.ts'
import type { Rule } from '../rule.ts'

/** `auth:schemes` stands at the root, or in an Item's `properties`, and not somewhere inside. */
export const misplacedSchemes: Rule = {
  meta: {
    id: 'misplaced-schemes',
    section: 'placement',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { misplaced: 'auth:schemes belongs into {place}, not on {found}' },
    fix: 'suggestion',
  },
  claim: ({ keyword, name }) => keyword === 'false schema' && name === 'auth:schemes',
  document({ strays, kind, map, object }, report) {
    const place = kind === 'item' ? 'properties' : 'the root of the document'
    for (const { field, pointer, place: found, holder } of strays) {
      const free = kind === 'item' && holder === 'document' && !map && isObject(own(object, 'properties'))
      if (field === 'auth:schemes') report(pointer, 'misplaced', { place, found, fix: free && 'suggestion' })
    }
  },
}

/** Why the rule exists, for its page. */
export const docs = 'Clients look for schemes in one place per kind of document. Schemes elsewhere are never found.'
