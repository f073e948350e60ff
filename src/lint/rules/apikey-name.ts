import { isForbiddenHeader, isToken } from '../../http/field-name.ts'
import { ownString } from '../../stac/json.ts'
import type { Rule } from '../rule.ts'

/** The name of a key can be used in the place where it goes, and does no harm there. */
export const apikeyName: Rule = {
  meta: {
    id: 'apikey-name',
    section: 'schemes',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { name: '"{name}" is no {place} name' },
  },
  scheme({ value, type, pointer }, report) {
    const name = type === 'apiKey' ? ownString(value, 'name') : undefined
    const place = ownString(value, 'in')
    if (name === undefined) return
    const good = place === 'header' ? !isForbiddenHeader(name) : place === 'cookie' ? isToken(name) : QUERY.test(name)
    if (!good) report(`${pointer}/name`, 'name', { name, place: PLACES.has(place ?? '') ? place : 'parameter' })
  },
}

const PLACES = new Set(['header', 'query', 'cookie'])
const QUERY = /^[^\s\0-\x1f\x7f]+$/

/** Why the rule exists, for its page. */
export const docs =
  'Header and cookie names are tokens (RFC 9110, RFC 6265). Headers that frame or route a request are never set because a catalog says so.'
