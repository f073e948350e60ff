import { ownString } from '../../stac/document.ts'
import { rule } from '../rule.ts'

/** A name means the same scheme in all documents of a run. */
export const conflictingScheme = rule('conflicting-scheme', 'schemes', {
  'conflicting-scheme': {
    levels: ['warn', 'warn', 'off'],
    messages: { differs: 'the scheme "{name}" differs from that in {other}: use one definition or two names' },
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
})

/** Returns how a message names another document: an id alone does not say which file has it. */
export function nameOfDocument(id: string | undefined, document: string | undefined): string {
  return `${id ?? 'a document'}${document ? ` (${document})` : ''}`
}
