import { ownString } from '../../stac/json.ts'
import { isRelative } from '../address.ts'
import type { Rule } from '../rule.ts'

/** The signing API can be found from anywhere. */
export const relativeAuthorizationApi: Rule = {
  meta: {
    id: 'relative-authorization-api',
    section: 'flows',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { relative: 'only clients that know where the document came from can use it' },
  },
  flow({ value, pointer, scheme }, report) {
    const api = scheme.type === 'signedUrl' ? ownString(value, 'authorizationApi') : undefined
    if (api !== undefined && isRelative(api)) report(`${pointer}/authorizationApi`, 'relative')
  },
}

/** Why the rule exists, for its page. */
export const docs =
  'A relative address works while the document is at home, and fails as soon as it is copied or read from a search response.'
