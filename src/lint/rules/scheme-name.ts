import type { Rule } from '../rule.ts'

/** Names are safe to type, to print and to use as keys. */
export const schemeName: Rule = {
  meta: {
    id: 'scheme-name',
    section: 'schemes',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { bad: '"{name}" is a bad scheme name' },
  },
  scheme({ name, pointer }, report) {
    if (BAD.test(name)) report(pointer, 'bad', { name })
  },
}

const BAD = /^$|^\s|\s$|[\0-\x1f\x7f]|^(?:__proto__|constructor|prototype)$/

/** Why the rule exists, for its page. */
export const docs =
  'Blanks and control characters are lost when people copy names, and names of prototype members mislead programs that look names up carelessly.'
