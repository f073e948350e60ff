import { rule } from '../rule.ts'

/** A document defines the schemes that it uses, instead of relying on its wrapper or parents. */
export const schemeOutsideDocument = rule('scheme-outside-document', 'references', {
  'scheme-outside-document': {
    levels: ['warn', 'error', 'off'],
    messages: {
      outside: 'the scheme "{ref}" is defined in {where}: copy it into the document, for clients that read it alone',
    },
    fix: 'suggestion',
    target(target, report) {
      const { refs, document } = target
      if (!refs || (!document.wrapper && document.parents.length === 0)) return
      for (const [index, ref] of refs.entries()) {
        const where = target.definition(ref)?.where
        if (where !== 'wrapper' && where !== 'parent') continue
        report(`${target.pointer}/auth:refs/${index}`, 'outside', {
          ref: String(ref),
          where: where === 'wrapper' ? 'the list around this document' : 'a parent',
          fix: where === 'wrapper' && 'suggestion',
        })
      }
    },
  },
})
