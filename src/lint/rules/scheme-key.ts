import { REGISTERED_SCHEMES } from '../../http/challenge.ts'
import { SCHEME_TYPES } from '../../stac/scheme.ts'
import type { Rule, RuleCase, RuleDocs } from '../rule.ts'

/** Names are safe to type, to print and to use as keys. */
const schemeName: RuleCase = {
  meta: {
    code: 'scheme-name',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { bad: '"{name}" is a bad name for a scheme: use letters, digits, hyphens and underscores' },
  },
  scheme({ name, pointer }, report) {
    if (BAD.test(name)) report(pointer, 'bad', { name })
  },
}

const BAD = /^$|^\s|\s$|[\0-\x1f\x7f]|^(?:__proto__|constructor|prototype)$/

/** A scheme that has the name of a type is of that type. */
const schemeNameType: RuleCase = {
  meta: {
    code: 'scheme-name-type',
    severity: { recommended: 'info', strict: 'info', schema: 'off' },
    messages: { differs: 'the scheme "{name}" is of type {type}, which its name does not suggest: use another name' },
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

export const schemeKey: Rule = {
  meta: { id: 'scheme-key', section: 'schemes' },
  cases: [schemeName, schemeNameType],
}

export const docs: RuleDocs = {
  'scheme-name': {
    part: 'fields',
    why: 'Spaces and control characters are lost when users copy the name into their credential file, and the credential is not found. Names such as constructor mislead programs that look them up in a plain object.',
    repair: [
      'Rename the scheme with letters, digits, hyphens and underscores.',
      'Rename it in every auth:refs as well.',
      'Tell users who have the old name in their credential file.',
    ],
  },
  'scheme-name-type': {
    part: 'authentication-scheme-object',
    why: 'Any name is allowed, but users select credentials by it. "bearer" for an OAuth 2.0 login makes them look for a token instead of a login.',
    repair: ['Choose a name of the service, such as portal, or of the type.', 'Rename it in every auth:refs as well.'],
  },
}
