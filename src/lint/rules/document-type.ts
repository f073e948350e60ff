import type { Rule, RuleDocs } from '../rule.ts'

/** What is linted is a STAC document, and its `type` says which kind. */
export const documentType: Rule = {
  meta: { id: 'document-type', section: 'run' },
  cases: [
    {
      meta: {
        code: 'unknown-document',
        severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
        messages: { unknown: 'JSON, but no Item, Collection, Catalog or list of them' },
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
  'unknown-document': 'The kind of a document is told by its member type, never by its file name.',
  'wrong-document-type':
    'Clients tell what a document is by its type and read no schemes and references of one that they do not know. The document uses the Authentication extension, so it is judged as what it most likely is.',
}
