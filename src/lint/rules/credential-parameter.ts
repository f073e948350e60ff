import type { Rule } from '../rule.ts'
import { isCredentialHeader } from '../secrets.ts'

/** Credentials are described by schemes, not by parameters. */
export const credentialParameter: Rule = {
  meta: {
    id: 'credential-parameter',
    section: 'flows',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { credential: 'refer to a scheme instead (auth:refs on the scheme, 1.2.0)' },
  },
  parameter({ name, value, pointer }, report) {
    if (isCredentialHeader(name, value)) report(pointer, 'credential')
  },
}

/** Why the rule exists, for its page. */
export const docs = 'A header like Authorization as a parameter tells clients nothing about the credentials, and they refuse to fill it in.'
