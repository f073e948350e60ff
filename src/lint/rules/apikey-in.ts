import { ownString } from '../../stac/json.ts'
import { nearMiss } from '../../stac/near.ts'
import type { Rule } from '../rule.ts'

/** A key goes into the query, a header or a cookie. */
export const apikeyIn: Rule = {
  meta: {
    id: 'apikey-in',
    section: 'schemes',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { place: 'in must be query, header or cookie' },
    fix: 'safe',
  },
  scheme({ value, type, pointer }, report) {
    const place = type === 'apiKey' ? ownString(value, 'in') : undefined
    if (place === undefined || PLACES.includes(place)) return
    const near = nearMiss(place, PLACES)
    const plain = place.toLowerCase().replace(/s$/, '') === near
    report(`${pointer}/in`, 'place', { near, fix: near !== undefined && (plain ? 'safe' : 'suggestion') })
  },
}

const PLACES = ['query', 'header', 'cookie']

/** Why the rule exists, for its page. */
export const docs = 'Clients know three places for a key. Published schemas let any word pass.'
