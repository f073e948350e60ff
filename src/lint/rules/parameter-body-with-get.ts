import { ownString } from '../../stac/json.ts'
import type { Rule } from '../rule.ts'

/** A request without a body has no parameter in it. */
export const parameterBodyWithGet: Rule = {
  meta: {
    id: 'parameter-body-with-get',
    section: 'flows',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { body: 'a GET request has no body' },
  },
  parameter({ value, pointer, flow }, report) {
    if (ownString(value, 'in') === 'body' && ownString(flow.value, 'method')?.toUpperCase() === 'GET') report(`${pointer}/in`, 'body')
  },
}

/** Why the rule exists, for its page. */
export const docs = 'Clients and servers drop the body of a GET request, so the parameter never arrives.'
