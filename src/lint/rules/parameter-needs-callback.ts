import { own } from '../../stac/json.ts'
import type { Rule } from '../rule.ts'
import { isCredentialHeader } from '../secrets.ts'

/** Values that clients cannot find by themselves are few. */
export const parameterNeedsCallback: Rule = {
  meta: {
    id: 'parameter-needs-callback',
    section: 'flows',
    severity: { recommended: 'info', strict: 'info', schema: 'off' },
    messages: { value: 'clients need a value for "{name}"' },
  },
  parameter({ name, value, pointer }, report) {
    if (own(value, 'required') === true && !KNOWN.has(name) && !isCredentialHeader(name, value)) report(pointer, 'value', { name })
  },
}

const KNOWN = new Set(['href', 'url', 'bucket', 'key'])

/** Why the rule exists, for its page. */
export const docs =
  'Clients take href, url, bucket and key from the address of the asset. Values of other required parameters must come from the user.'
