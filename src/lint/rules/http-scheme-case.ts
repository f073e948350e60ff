import { isRegisteredScheme } from '../../http/auth-scheme.ts'
import { ownString } from '../../stac/json.ts'
import type { Rule } from '../rule.ts'

/** Documents write scheme names in lower case. */
export const httpSchemeCase: Rule = {
  meta: {
    id: 'http-scheme-case',
    section: 'schemes',
    severity: { recommended: 'info', strict: 'info', schema: 'off' },
    messages: { case: 'write "{lower}"' },
    fix: 'safe',
  },
  scheme({ value, type, pointer }, report) {
    const scheme = type === 'http' ? ownString(value, 'scheme') : undefined
    const lower = scheme?.toLowerCase()
    if (lower !== undefined && lower !== scheme && isRegisteredScheme(lower)) report(`${pointer}/scheme`, 'case', { lower })
  },
}

/** Why the rule exists, for its page. */
export const docs = 'Names are compared without case, but not by every client.'
