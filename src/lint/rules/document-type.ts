import { rule } from '../rule.ts'

/** The input is a STAC document, and its `type` names its kind. */
export const documentType = rule('document-type', 'run', {
  'unknown-document': {
    levels: ['warn', 'warn', 'off'],
    messages: {
      unknown: 'not a STAC document: {found}, not Feature, Collection, Catalog or FeatureCollection',
    },
  },
  'empty-list': {
    levels: ['error', 'error', 'error'],
    messages: { empty: 'the list is empty: it has no document' },
  },
  'wrong-document-type': {
    levels: ['error', 'error', 'error'],
    messages: {
      missing: 'type is missing: this looks like {kind}, which has "type": "{likely}"',
      wrong: 'type is {type}: this looks like {kind}, which has "type": "{likely}"',
    },
  },
})
