import type { Rule } from '../rule.ts'

/** A name stands once in a list. */
export const duplicateRef: Rule = {
  meta: {
    id: 'duplicate-ref',
    section: 'references',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { twice: '"{ref}" is listed twice' },
    fix: 'safe',
  },
  target({ refs, pointer }, report) {
    if (!refs || refs.length < 2) return
    const seen = new Set<unknown>()
    for (const [index, ref] of refs.entries()) {
      if (typeof ref === 'string' && seen.has(ref)) report(`${pointer}/auth:refs/${index}`, 'twice', { ref })
      seen.add(ref)
    }
  },
}

/** Why the rule exists, for its page. */
export const docs = 'References are alternatives, so a repetition adds nothing. Proxies that add refs on every pass leave them behind.'
