import { own, ownString } from '../../stac/json.ts'
import type { Rule } from '../rule.ts'

/** What a scheme takes its input from yields a token. */
export const chainInputType: Rule = {
  meta: {
    id: 'chain-input-type',
    section: 'flows',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { 'no-token': '{type} yields no token' },
  },
  scheme({ value, pointer, map: { value: siblings } }, report) {
    const refs = own(value, 'auth:refs')
    if (!Array.isArray(refs)) return
    for (const [index, ref] of refs.entries()) {
      const input = typeof ref === 'string' ? own(siblings, ref) : undefined
      const type = ownString(input, 'type') ?? ''
      const bearer = type === 'http' && ownString(input, 'scheme')?.toLowerCase() === 'bearer'
      if (TOKENLESS.has(type) && !bearer) report(`${pointer}/auth:refs/${index}`, 'no-token', { type })
    }
  },
}

const TOKENLESS = new Set(['http', 'apiKey', 's3', 'signedUrl'])

/** Why the rule exists, for its page. */
export const docs = 'A token comes from oauth2, openIdConnect or a bearer scheme. Keys, passwords and signatures cannot be exchanged.'
