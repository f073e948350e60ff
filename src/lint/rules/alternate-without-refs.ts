import type { Rule, RuleDocs } from '../rule.ts'

/** Requires `auth:refs` on an alternate of a protected asset. */
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
  'alternate-without-refs': {
    part: 'fields',
    why: 'The extension does not say whether an alternate asset inherits the refs of its asset, so clients decide differently: some send no credential and get 401, others ask users for a credential that is not needed.',
    repair: [
      'Request the URL of the alternate without a credential.',
      'If the server refuses it, add auth:refs with the names of the schemes that work for this URL.',
      'If it is public, add "auth:refs": [].',
    ],
  },
}
