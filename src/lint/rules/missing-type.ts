import type { Rule } from '../rule.ts'

/** Every scheme has a type. */
export const missingType: Rule = {
  meta: {
    id: 'missing-type',
    section: 'schemes',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { missing: 'type is required' },
    fix: 'suggestion',
  },
  claim({ pointer, missing, name, keyword, place }, { at }, report) {
    const absent = place === 'scheme' && missing === 'type'
    const unusable = place === 'field' && name === 'type' && (keyword === 'type' || keyword === 'not') && TYPE.test(pointer)
    if (absent || unusable) report(at + pointer, 'missing')
    return absent || unusable
  },
}

const TYPE = /\/auth:schemes(?:\/\d+)?\/[^/]*\/type$/

/** Why the rule exists, for its page. */
export const docs = 'The type decides how everything else in the scheme is read.'
