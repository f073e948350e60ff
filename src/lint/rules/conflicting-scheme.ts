import { ownString } from '../../stac/document.ts'
import { rule } from '../rule.ts'
import { homeOf, siteOf } from './foreign-host-ref.ts'

/** A name means the same scheme in all documents of a provider: those whose own URLs have the same site, or none. */
export const conflictingScheme = rule('conflicting-scheme', 'schemes', {
  'conflicting-scheme': {
    levels: ['warn', 'warn', 'off'],
    messages: { differs: 'the scheme "{name}" differs from that in {other}: use one definition or two names' },
    document(model, report) {
      const { object, kind, name: document, run, maps } = model
      if (!run || kind === 'wrapper' || maps.length === 0) return
      const home = siteOf(homeOf(model), model)
      const where = nameOfDocument(ownString(object, 'id'), document)
      for (const { summary, schemes } of maps) {
        if (summary) continue
        for (const { name, value, pointer } of schemes) {
          const other = run.otherDefinition({ name, scheme: value, where, home })
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
