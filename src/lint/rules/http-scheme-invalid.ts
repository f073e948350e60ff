import { isToken } from '../../http/field-name.ts'
import { ownString } from '../../stac/json.ts'
import type { Rule } from '../rule.ts'

/** The field `scheme` is one word. */
export const httpSchemeInvalid: Rule = {
  meta: {
    id: 'http-scheme-invalid',
    section: 'schemes',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { invalid: '"{scheme}" is no authorization scheme name' },
  },
  scheme({ value, type, pointer }, report) {
    const scheme = type === 'http' ? ownString(value, 'scheme') : undefined
    if (scheme !== undefined && !isToken(scheme))
      report(`${pointer}/scheme`, 'invalid', { scheme: scheme.replace(/^(\s*\S+)\s.*$/s, '$1 …') })
  },
}

/** Why the rule exists, for its page. */
export const docs =
  'It is the first word of an Authorization header (RFC 9110, section 11.1): a token without blanks, and without the credentials.'
