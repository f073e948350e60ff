import { REGISTERED_SCHEMES } from '../../http/auth-scheme.ts'
import { SCHEME_TYPES } from '../../stac/scheme.ts'
import type { Rule } from '../rule.ts'

/** A name that is the word for a type names a scheme of that type. */
export const schemeNameType: Rule = {
  meta: {
    id: 'scheme-name-type',
    section: 'schemes',
    severity: { recommended: 'info', strict: 'info', schema: 'off' },
    messages: { differs: '"{name}" is of type {type}' },
  },
  scheme({ name, type, pointer }, report) {
    const meant = TYPES.get(name.toLowerCase())
    if (!type || !meant || meant === type || (name.toLowerCase() === 'oauth' && type === 'oauth2')) return
    report(pointer, 'differs', { name, type })
  },
}

const TYPES = new Map<string, string>([
  ...REGISTERED_SCHEMES.map((scheme) => [scheme, 'http'] as const),
  ...SCHEME_TYPES.map((type) => [type.toLowerCase(), type] as const),
])

/** Why the rule exists, for its page. */
export const docs = 'Names are free, but people read them: "bearer" for an OAuth 2.0 login misleads.'
