import { isForbiddenHeader, isToken } from '../../http/headers.ts'
import { ownString } from '../../stac/document.ts'
import { nearMiss } from '../../text/suggest.ts'
import { rule } from '../rule.ts'

export const fieldValue = rule('field-value', 'schemes', {
  'apikey-in': {
    levels: ['error', 'error', 'off'],
    messages: { place: '"in" of an API key must be query, header or cookie, not "{value}"' },
    fix: 'safe',
    scheme({ value, type, pointer }, report) {
      const place = type === 'apiKey' ? ownString(value, 'in') : undefined
      if (place === undefined || KEY_PLACES.includes(place)) return
      const near = nearMiss(place, KEY_PLACES)
      const plain = place.toLowerCase().replace(/s$/, '') === near
      report(`${pointer}/in`, 'place', { value: place, near, fix: near !== undefined && (plain ? 'safe' : 'suggestion') })
    },
  },
  'apikey-name': {
    levels: ['error', 'error', 'off'],
    messages: { name: '"{name}" cannot be the name of a {place}: write the name that the service expects' },
    scheme({ value, type, pointer }, report) {
      const name = type === 'apiKey' ? ownString(value, 'name') : undefined
      const place = ownString(value, 'in')
      if (name === undefined) return
      const good = place === 'header' ? !isForbiddenHeader(name) : place === 'cookie' ? isToken(name) : QUERY.test(name)
      if (!good) report(`${pointer}/name`, 'name', { name, place: KEY_PLACES.includes(place ?? '') ? place : 'parameter' })
    },
  },
  'http-scheme-invalid': {
    levels: ['error', 'error', 'off'],
    messages: { invalid: '"{scheme}" is not the name of an HTTP authentication scheme: write one word, such as basic or bearer' },
    scheme({ value, type, pointer }, report) {
      const scheme = type === 'http' ? ownString(value, 'scheme') : undefined
      if (scheme !== undefined && !isToken(scheme))
        report(`${pointer}/scheme`, 'invalid', { scheme: scheme.replace(/^(\s*\S+)\s.*$/s, '$1 …') })
    },
  },
  'parameter-in': {
    levels: ['error', 'error', 'off'],
    messages: { place: '"in" of a parameter must be query, header or body, not "{value}"' },
    parameter({ value, pointer }, report) {
      const place = ownString(value, 'in')
      if (place !== undefined && !PARAMETER_PLACES.includes(place))
        report(`${pointer}/in`, 'place', { value: place, near: nearMiss(place, PARAMETER_PLACES) })
    },
  },
  'parameter-body-with-get': {
    levels: ['error', 'error', 'off'],
    messages: { body: 'a parameter cannot go into the body of a GET request: use "in": "query", or the method POST' },
    parameter({ value, pointer, flow }, report) {
      if (ownString(value, 'in') === 'body' && ownString(flow.value, 'method')?.toUpperCase() === 'GET') report(`${pointer}/in`, 'body')
    },
  },
  'signed-method': {
    levels: ['error', 'error', 'off'],
    messages: { method: '"method" must be GET or POST, not "{method}"' },
    flow({ value, pointer, scheme }, report) {
      const method = scheme.type === 'signedUrl' ? ownString(value, 'method') : undefined
      if (method !== undefined && !/^(?:get|post)$/i.test(method)) report(`${pointer}/method`, 'method', { method })
    },
  },
})

const KEY_PLACES = ['query', 'header', 'cookie']

const QUERY = /^[^\s\0-\x1f\x7f]+$/

const PARAMETER_PLACES = ['query', 'header', 'body']
