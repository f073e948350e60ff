import type { Rule } from '../rule.ts'

/** Addresses are absolute. */
export const urlFormat: Rule = {
  meta: {
    id: 'url-format',
    section: 'flows',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { format: '{field} must be an absolute URL' },
  },
  claim({ keyword, pointer, name }, { at }, report) {
    if (keyword !== 'format') return false
    report(at + pointer, 'format', { field: name })
    return true
  },
}

/** Why the rule exists, for its page. */
export const docs =
  'A document is read from many places, so an address without scheme and host leads nowhere, and neither does a placeholder.'
