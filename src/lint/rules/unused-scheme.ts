import { kindOf, own, ownString, type StacDocument } from '../../stac/document.ts'
import { rule } from '../rule.ts'

/** Every scheme is referred to. */
export const unusedScheme = rule('unused-scheme', 'references', {
  'unused-scheme': {
    levels: ['info', 'warn', 'off'],
    messages: {
      unused: 'no auth:refs names the scheme "{name}": refer to it, or remove it',
      below: 'no auth:refs of this document names the scheme "{name}": remove it unless a document below uses it',
    },
    fix: 'suggestion',
    document({ schemes, targets, kind, object }, report) {
      if (schemes.length === 0 || kind === 'wrapper' || own(object, 'conformsTo') !== undefined) return
      const used = new Set<unknown>()
      for (const { refs, object: target } of targets) addAll(used, refs ?? own(target, 'auth:refs'))
      for (const { value } of schemes) addAll(used, own(value, 'auth:refs'))
      const [message, uncertain] = childrenOf(object).length > 0 ? (['below', true] as const) : (['unused', false] as const)
      for (const { name, pointer, map } of schemes) if (!map.summary && !used.has(name)) report(pointer, message, { name, uncertain })
    },
  },
})

/** Relations of links that lead to documents which may use the schemes of this one. */
const CHILDREN: ReadonlySet<string | undefined> = new Set(['child', 'item', 'items', 'data', 'children', 'search'])

/** Returns the URLs, as written, of the documents below a Catalog or Collection; an Item has none. */
export function childrenOf(document: unknown): readonly string[] {
  const links = own(document, 'links')
  if (!Array.isArray(links) || kindOf(document as StacDocument) === 'item') return []
  return links.filter((link) => CHILDREN.has(ownString(link, 'rel'))).map((link) => ownString(link, 'href') ?? '')
}

/** Adds refs to the used names. A single name instead of a list is a mistake that another rule reports, but it counts as a use. */
function addAll(used: Set<unknown>, refs: unknown): void {
  if (Array.isArray(refs)) for (const ref of refs) used.add(ref)
  else used.add(refs)
}
