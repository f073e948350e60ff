import { own } from '../../stac/json.ts'
import type { Rule } from '../rule.ts'

/** Only a token exchange has a subject token. */
export const subjectTokenType: Rule = {
  meta: {
    id: 'subject-token-type',
    section: 'flows',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { unused: 'only tokenExchange uses it' },
    fix: 'suggestion',
  },
  flow({ name, value, pointer, scheme }, report) {
    if (scheme.type === 'oauth2' && name !== 'tokenExchange' && own(value, 'subjectTokenType') !== undefined) {
      report(`${pointer}/subjectTokenType`, 'unused')
    }
  },
}

/** Why the rule exists, for its page. */
export const docs = 'The other flows send no subject token, so its type says nothing there.'
