import { isObject, own } from '../../stac/json.ts'
import type { Rule } from '../rule.ts'

/** There is at least one flow. */
export const flowsEmpty: Rule = {
  meta: {
    id: 'flows-empty',
    section: 'flows',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { empty: 'at least one flow is needed' },
  },
  scheme({ value, type, pointer }, report) {
    const flows = type === 'oauth2' || type === 'signedUrl' ? own(value, 'flows') : undefined
    if (isObject(flows) && Object.keys(flows).length === 0) report(`${pointer}/flows`, 'empty')
  },
}

/** Why the rule exists, for its page. */
export const docs = 'Without a flow there is no way to a token or a signed URL.'
