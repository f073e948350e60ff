import { isObject, own } from '../../stac/document.ts'
import { rule } from '../rule.ts'

export const misplacedField = rule('misplaced-field', 'placement', {
  'misplaced-schemes': {
    levels: ['error', 'error', 'error'],
    messages: { misplaced: 'auth:schemes has no effect in {found}: move it to {place}' },
    fix: 'suggestion',
    claim: ({ keyword, name }) => keyword === 'false schema' && name === 'auth:schemes',
    document({ misplacedFields, kind, map, object }, report) {
      const place = kind === 'item' ? 'properties' : 'the root of the document'
      for (const { field, pointer, place: found, holder } of misplacedFields) {
        const free = kind === 'item' && holder === 'document' && !map && isObject(own(object, 'properties'))
        if (field === 'auth:schemes') report(pointer, 'misplaced', { place, found, fix: free && 'suggestion' })
      }
    },
  },
  'misplaced-refs': {
    levels: ['error', 'error', 'error'],
    messages: {
      misplaced: 'auth:refs has no effect in {place}: move it to the asset, alternate, link or scheme (1.2.0) that it protects',
    },
    claim: ({ keyword, name }) => keyword === 'false schema' && name === 'auth:refs',
    document({ misplacedFields, kind }, report) {
      for (const { field, pointer, place, holder } of misplacedFields) {
        const onDocument = holder === 'properties' || (holder === 'document' && (kind === 'collection' || kind === 'catalog'))
        if (field === 'auth:refs' && !onDocument) report(pointer, 'misplaced', { place })
      }
    },
  },
  'schemes-on-target': {
    levels: ['warn', 'error', 'error'],
    messages: { 'on-target': 'most clients ignore auth:schemes on assets and links: move it to {place}' },
    fix: 'suggestion',
    target(target, report) {
      if (!target.hasSchemes) return
      report(`${target.pointer}/auth:schemes`, 'on-target', {
        place: target.document.kind === 'item' ? 'properties' : 'the root of the document',
      })
    },
  },
  'refs-on-document': {
    levels: ['warn', 'error', 'error'],
    messages: { 'on-document': 'auth:refs on a whole document protects nothing: put it on assets and links' },
    document({ misplacedFields, kind }, report) {
      for (const { field, pointer, holder } of misplacedFields) {
        const onDocument = holder === 'properties' || (holder === 'document' && (kind === 'collection' || kind === 'catalog'))
        if (field === 'auth:refs' && onDocument) report(pointer, 'on-document')
      }
    },
  },
})
