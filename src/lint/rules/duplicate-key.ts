import type { Rule } from '../rule.ts'

/** A name stands once in an object. */
export const duplicateKey: Rule = {
  meta: {
    id: 'duplicate-key',
    section: 'run',
    severity: { recommended: 'warn', strict: 'error', schema: 'off' },
    messages: { repeated: '"{name}" stands twice in one object; the later one counts' },
  },
}

/** Why the rule exists, for its page. */
export const docs = 'Parsers differ in which one they take, so two readers may see two different documents. Only visible in the text.'
