import type { Rule, RuleDocs } from '../rule.ts'

/** A document defines the schemes that it uses, instead of relying on its wrapper or parents. */
export const schemeOutsideDocument: Rule = {
  meta: { id: 'scheme-outside-document', section: 'references' },
  cases: [
    {
      meta: {
        code: 'scheme-outside-document',
        severity: { recommended: 'warn', strict: 'error', schema: 'off' },
        messages: {
          outside: 'the scheme "{ref}" is defined in {where}: copy it into the document, for clients that read it alone',
        },
        fix: 'suggestion',
      },
      target(target, report) {
        const { refs, definitions } = target
        for (let index = 0; index < definitions.length; index++) {
          const where = definitions[index]?.where
          if (where !== 'wrapper' && where !== 'parent') continue
          report(`${target.pointer}/auth:refs/${index}`, 'outside', {
            ref: String(refs?.[index]),
            where: where === 'wrapper' ? 'the list around this document' : 'a parent',
            fix: where === 'wrapper' && 'suggestion',
          })
        }
      },
    },
  ],
}

export const docs: RuleDocs = {
  'scheme-outside-document': {
    part: 'fields',
    why: 'A document is also read alone: saved to disk, linked from another catalog, or taken from a search result. The schemes of its FeatureCollection or Collection are missing then, and clients cannot use its references.',
    repair: [
      'Copy the definition of the scheme to properties of the Item, or to the root of the Collection or Catalog.',
      'In a server, copy it when the response is written, not only to the page around the Items.',
      'Declare the extension in stac_extensions of the same document.',
    ],
  },
}
