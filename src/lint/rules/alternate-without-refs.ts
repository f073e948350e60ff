import { rule } from '../rule.ts'

/** Requires `auth:refs` on an alternate of a protected asset. */
export const alternateWithoutRefs = rule('alternate-without-refs', 'references', {
  'alternate-without-refs': {
    levels: ['info', 'warn', 'off'],
    messages: {
      silent: 'the alternate "{name}" does not say whether it needs authentication, as its asset does: add auth:refs, or an empty list',
    },
    target(target, report) {
      const { kind, asset, object, name } = target
      if (kind !== 'alternate' || !asset?.refs?.length) return
      if (!Object.hasOwn(object, 'auth:refs')) report(target.pointer, 'silent', { name })
    },
  },
})
