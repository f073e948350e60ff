import type { Rule, RuleDocs } from '../rule.ts'

/** A name stands once in an object. */
export const duplicateKey: Rule = {
  meta: { id: 'duplicate-key', section: 'run' },
  cases: [
    {
      meta: {
        code: 'duplicate-key',
        severity: { recommended: 'warn', strict: 'error', schema: 'off' },
        messages: { repeated: '"{name}" appears twice in one object, and only the later one counts: remove one' },
      },
    },
  ],
}

export const docs: RuleDocs = {
  'duplicate-key': 'Parsers differ in which one they take, so two readers may see two different documents. Only visible in the text.',
}
