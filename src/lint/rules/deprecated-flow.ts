import type { Rule } from '../rule.ts'

/** New catalogs do not offer flows that current practice advises against. */
export const deprecatedFlow: Rule = {
  meta: {
    id: 'deprecated-flow',
    section: 'flows',
    severity: { recommended: 'info', strict: 'warn', schema: 'off' },
    messages: { deprecated: 'RFC 9700 advises against {flow}' },
  },
  flow({ name, scheme, pointer }, report) {
    if (scheme.type === 'oauth2' && (name === 'implicit' || name === 'password')) report(pointer, 'deprecated', { flow: name })
  },
}

/** Why the rule exists, for its page. */
export const docs =
  'The implicit flow puts tokens into addresses, the password flow gives the user’s password to every client (RFC 9700, section 2.1.2 and 2.4).'
