import type { Rule, RuleDocs } from '../rule.ts'

/** An alternate of a protected asset says whether it is protected too. */
export const alternateWithoutRefs: Rule = {
  meta: { id: 'alternate-without-refs', section: 'references' },
  cases: [
    {
      meta: {
        code: 'alternate-without-refs',
        severity: { recommended: 'info', strict: 'warn', schema: 'off' },
        messages: {
          silent: 'the alternate "{name}" does not say whether it needs authentication, as its asset does: add auth:refs, or an empty list',
        },
      },
      target(target, report) {
        const { kind, asset, object, name } = target
        if (kind !== 'alternate' || !asset?.refs?.length) return
        if (!Object.hasOwn(object, 'auth:refs')) report(target.pointer, 'silent', { name })
      },
    },
  ],
}

export const docs: RuleDocs = {
  'alternate-without-refs':
    'Whether an alternate inherits the refs of its asset is open; clients decide differently. Saying it costs one line.',
}
