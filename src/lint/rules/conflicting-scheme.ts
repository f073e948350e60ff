import { ownString } from '../../stac/document.ts'
import type { Rule, RuleDocs } from '../rule.ts'

/** A name means the same scheme in all documents of a run. */
export const conflictingScheme: Rule = {
  meta: { id: 'conflicting-scheme', section: 'schemes' },
  cases: [
    {
      meta: {
        code: 'conflicting-scheme',
        severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
        messages: { differs: 'the scheme "{name}" differs from that in {other}: use one definition or two names' },
      },
      document({ object, kind, name: document, run, maps }, report) {
        if (!run || kind === 'wrapper') return
        const where = nameOfDocument(ownString(object, 'id'), document)
        for (const { summary, schemes } of maps) {
          if (summary) continue
          for (const { name, value, pointer } of schemes) {
            const other = run.otherDefinition(name, value, where)
            if (other !== undefined) report(pointer, 'differs', { name, other })
          }
        }
      },
    },
  ],
}

/** Returns how a message names another document: an id alone does not say which file has it. */
export function nameOfDocument(id: string | undefined, document: string | undefined): string {
  return `${id ?? 'a document'}${document ? ` (${document})` : ''}`
}

export const docs: RuleDocs = {
  'conflicting-scheme': {
    part: 'fields',
    why: 'Users set up one credential for a name and expect it to mean the same service in the whole catalog. With two definitions, a client asks twice, or sends a credential that the other service refuses. Each definition is reported once; a different description is not a difference, and the schemes of a page of results are not compared.',
    repair: [
      'Compare the two definitions; the message names the other document.',
      'If they are the same service, copy the correct definition to both documents.',
      'If they are two services, rename one scheme and the references to it.',
    ],
  },
}
