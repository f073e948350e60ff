import { own } from '../../stac/json.ts'
import type { Rule, RuleDocs } from '../rule.ts'

/** Schemes are there to be referred to. */
export const unusedScheme: Rule = {
  meta: { id: 'unused-scheme', section: 'references' },
  cases: [
    {
      meta: {
        code: 'unused-scheme',
        severity: { recommended: 'info', strict: 'warn', schema: 'off' },
        messages: { unused: 'no auth:refs names the scheme "{name}": refer to it, or remove it' },
        fix: 'suggestion',
      },
      document({ schemes, targets, refLists, kind, object }, report) {
        if (schemes.length === 0 || kind === 'wrapper' || own(object, 'conformsTo') !== undefined) return
        const used = new Set<unknown>()
        for (const { names } of refLists) addAll(used, names)
        for (const { list, object: target } of targets) if (!list) addAll(used, own(target, 'auth:refs'))
        for (const { value } of schemes) addAll(used, own(value, 'auth:refs'))
        for (const { name, pointer, map } of schemes) if (!map.summary && !used.has(name)) report(pointer, 'unused', { name })
      },
    },
  ],
}

/** A lone name is a mistake of its own, but it is a use. */
function addAll(used: Set<unknown>, refs: unknown): void {
  if (Array.isArray(refs)) for (const ref of refs) used.add(ref)
  else used.add(refs)
}

export const docs: RuleDocs = {
  'unused-scheme':
    'A scheme that nothing refers to protects nothing; often the refs were forgotten. API landing pages and wrappers are left out: their schemes serve others.',
}
