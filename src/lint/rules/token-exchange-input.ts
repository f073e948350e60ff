import { isObject, own } from '../../stac/json.ts'
import type { Rule } from '../rule.ts'

/** A token exchange has something to exchange. */
export const tokenExchangeInput: Rule = {
  meta: {
    id: 'token-exchange-input',
    section: 'flows',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { missing: 'tokenExchange needs auth:refs' },
  },
  claim({ keyword, missing, name, pointer }, { at }, report) {
    if (missing !== 'auth:refs' && !(keyword === 'minItems' && name === 'auth:refs')) return false
    report(at + pointer, 'missing')
    return true
  },
  // The schemas of older versions know nothing of the exchange, so that preset does not either.
  scheme({ value, type, pointer, map: { version, preset } }, report) {
    if (type !== 'oauth2' || version === '1.2.0' || preset === 'schema') return
    const flows = own(value, 'flows')
    const refs = own(value, 'auth:refs')
    if (!isObject(flows) || !Object.hasOwn(flows, 'tokenExchange')) return
    if (refs === undefined) report(pointer, 'missing')
    else if (Array.isArray(refs) && refs.length === 0) report(`${pointer}/auth:refs`, 'missing')
  },
}

/** Why the rule exists, for its page. */
export const docs = 'The exchange (RFC 8693) trades the token of another scheme; auth:refs of the scheme name where it comes from.'
