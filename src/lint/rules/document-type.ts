import type { Rule, RuleDocs } from '../rule.ts'

/** The input is a STAC document, and its `type` names its kind. */
export const documentType: Rule = {
  meta: { id: 'document-type', section: 'run' },
  cases: [
    {
      meta: {
        code: 'unknown-document',
        severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
        messages: {
          unknown: 'this is not a document of STAC 1.0 or later: type must be Feature, Collection, Catalog or FeatureCollection',
        },
      },
    },
    {
      meta: {
        code: 'wrong-document-type',
        severity: { recommended: 'error', strict: 'error', schema: 'error' },
        messages: {
          missing: 'type is missing: this looks like {kind}, which has "type": "{likely}"',
          wrong: 'type is {type}: this looks like {kind}, which has "type": "{likely}"',
        },
      },
    },
  ],
}

export const docs: RuleDocs = {
  'unknown-document': {
    part: 'fields',
    why: 'Clients recognize a document by its type, not by its file name. This one is not a STAC document for them.',
    repair: [
      'If it is a STAC document, add type: Feature, Collection, Catalog or FeatureCollection. Before STAC 1.0, Catalogs and Collections had none.',
      'If it is not, exclude it with --ignore.',
    ],
  },
  'wrong-document-type': {
    part: 'fields',
    why: 'Clients recognize a document by its type, and read no schemes and references of a type that they do not know. The document uses the extension, so the linter checks it as the type that its members suggest.',
    repair: ['Write the type that the message suggests, with the same upper and lower case.'],
  },
}
