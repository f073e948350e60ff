import { isRegisteredScheme, REGISTERED_SCHEMES } from '../../http/auth-scheme.ts'
import { isToken } from '../../http/field-name.ts'
import { ownString } from '../../stac/json.ts'
import { nearMiss } from '../../stac/near.ts'
import type { Rule } from '../rule.ts'

/** Authorization schemes are registered at IANA. */
export const httpSchemeUnregistered: Rule = {
  meta: {
    id: 'http-scheme-unregistered',
    section: 'schemes',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { unregistered: '"{scheme}" is not registered at IANA' },
    fix: 'suggestion',
  },
  scheme({ value, type, pointer }, report) {
    const scheme = type === 'http' ? ownString(value, 'scheme') : undefined
    if (!scheme || !isToken(scheme) || isRegisteredScheme(scheme)) return
    report(`${pointer}/scheme`, 'unregistered', { scheme, near: nearMiss(scheme, REGISTERED_SCHEMES) })
  },
}

/** Why the rule exists, for its page. */
export const docs = 'Clients implement registered schemes. A word outside of the registry is a typing error, or needs a client of its own.'
