import { ownString } from '../../stac/json.ts'
import { nearMiss } from '../../stac/near.ts'
import type { Rule } from '../rule.ts'

/** A parameter goes into the query, a header or the body. */
export const parameterIn: Rule = {
  meta: {
    id: 'parameter-in',
    section: 'flows',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { place: 'in must be query, header or body' },
  },
  parameter({ value, pointer }, report) {
    const place = ownString(value, 'in')
    if (place !== undefined && !PLACES.includes(place)) report(`${pointer}/in`, 'place', { near: nearMiss(place, PLACES) })
  },
}

const PLACES = ['query', 'header', 'body']

/** Why the rule exists, for its page. */
export const docs = 'Clients know three places for a parameter of a signing API. Published schemas let any word pass.'
