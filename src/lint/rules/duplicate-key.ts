import type { Rule, RuleDocs } from '../rule.ts'

/** An object contains each name once. */
export const duplicateKey: Rule = {
  meta: { id: 'duplicate-key', section: 'run' },
  cases: [
    {
      meta: {
        code: 'duplicate-key',
        severity: { recommended: 'warn', strict: 'error', schema: 'off' },
        messages: { repeated: '"{name}" appears twice in one object, and only the later counts: remove one' },
      },
    },
  ],
}

export const docs: RuleDocs = {
  'duplicate-key': {
    part: 'fields',
    why: 'Parsers differ in the member that they use, so two clients may read two different documents. The mistake is visible in the text only.',
    repair: ['Compare the two members, and remove one.', 'If both are needed, merge their contents.'],
  },
}
