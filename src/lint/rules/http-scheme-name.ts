import { isRegisteredScheme, REGISTERED_SCHEMES } from '../../http/challenge.ts'
import { isToken } from '../../http/headers.ts'
import { ownString } from '../../stac/document.ts'
import { nearMiss } from '../../text/suggest.ts'
import type { Rule, RuleCase, RuleDocs } from '../rule.ts'

/** Authorization schemes are registered at IANA. */
const httpSchemeUnregistered: RuleCase = {
  meta: {
    code: 'http-scheme-unregistered',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { unregistered: '"{scheme}" is not a registered HTTP authentication scheme, so clients may not support it' },
    fix: 'suggestion',
  },
  scheme({ value, type, pointer }, report) {
    const scheme = type === 'http' ? ownString(value, 'scheme') : undefined
    if (!scheme || !isToken(scheme) || isRegisteredScheme(scheme)) return
    report(`${pointer}/scheme`, 'unregistered', { scheme, near: nearMiss(scheme, REGISTERED_SCHEMES) })
  },
}

/** Documents write scheme names in lower case. */
const httpSchemeCase: RuleCase = {
  meta: {
    code: 'http-scheme-case',
    severity: { recommended: 'info', strict: 'info', schema: 'off' },
    messages: { case: 'HTTP authentication schemes are written in lower case: write "{lower}"' },
    fix: 'safe',
  },
  scheme({ value, type, pointer }, report) {
    const scheme = type === 'http' ? ownString(value, 'scheme') : undefined
    const lower = scheme?.toLowerCase()
    if (lower !== undefined && lower !== scheme && isRegisteredScheme(lower)) report(`${pointer}/scheme`, 'case', { lower })
  },
}

export const httpSchemeName: Rule = {
  meta: { id: 'http-scheme-name', section: 'schemes' },
  cases: [httpSchemeUnregistered, httpSchemeCase],
}

export const docs: RuleDocs = {
  'http-scheme-unregistered': {
    part: 'authentication-scheme-object',
    why: 'Clients implement the HTTP authentication schemes in the registry of IANA. They do not know another name and cannot authenticate.',
    repair: [
      'Correct the spelling, if the message suggests a name.',
      'If the server uses a scheme of its own, say in description how it works.',
    ],
  },
  'http-scheme-case': {
    part: 'authentication-scheme-object',
    why: 'Names are compared without case (RFC 9110, section 11.1), but some clients compare them as written.',
    repair: ['Write the name in lower case.'],
  },
}
