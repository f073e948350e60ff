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
        messages: { differs: 'the scheme "{name}" differs from {document}: use the same definition or another name' },
      },
      document({ object, kind, name: document, run, maps }, report) {
        if (!run || kind === 'wrapper') return
        const where = ownString(object, 'id') ?? document ?? 'another document'
        for (const { summary, schemes } of maps) {
          if (summary) continue
          for (const { name, value, pointer } of schemes) {
            const other = run.otherDefinition(name, value, where)
            if (other !== undefined) report(pointer, 'differs', { name, document: `the one in ${other}` })
          }
        }
      },
    },
  ],
}

export const docs: RuleDocs = {
  'conflicting-scheme':
    'People give credentials to a name, and expect that it means the same service in the whole catalog. Descriptions may differ. Told once for each definition, in documents that are linted together; the schemes around a page of results are left out.',
}
