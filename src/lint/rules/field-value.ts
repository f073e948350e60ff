import { isForbiddenHeader, isToken } from '../../http/headers.ts'
import { ownString } from '../../stac/document.ts'
import { nearMiss } from '../../text/suggest.ts'
import type { Rule, RuleCase, RuleDocs } from '../rule.ts'

/** `in` of an API key is query, header or cookie. */
const apikeyIn: RuleCase = {
  meta: {
    code: 'apikey-in',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { place: '"in" of an API key must be query, header or cookie, not "{value}"' },
    fix: 'safe',
  },
  scheme({ value, type, pointer }, report) {
    const place = type === 'apiKey' ? ownString(value, 'in') : undefined
    if (place === undefined || KEY_PLACES.includes(place)) return
    const near = nearMiss(place, KEY_PLACES)
    const plain = place.toLowerCase().replace(/s$/, '') === near
    report(`${pointer}/in`, 'place', { value: place, near, fix: near !== undefined && (plain ? 'safe' : 'suggestion') })
  },
}

const KEY_PLACES = ['query', 'header', 'cookie']

/** The name of an API key is valid and harmless where it is sent. */
const apikeyName: RuleCase = {
  meta: {
    code: 'apikey-name',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { name: '"{name}" cannot be the name of a {place}: write the name that the service expects' },
  },
  scheme({ value, type, pointer }, report) {
    const name = type === 'apiKey' ? ownString(value, 'name') : undefined
    const place = ownString(value, 'in')
    if (name === undefined) return
    const good = place === 'header' ? !isForbiddenHeader(name) : place === 'cookie' ? isToken(name) : QUERY.test(name)
    if (!good) report(`${pointer}/name`, 'name', { name, place: KEY_PLACES.includes(place ?? '') ? place : 'parameter' })
  },
}

const QUERY = /^[^\s\0-\x1f\x7f]+$/

/** `scheme` is the name of an HTTP authentication scheme: a token (RFC 9110 §5.6.2). */
const httpSchemeInvalid: RuleCase = {
  meta: {
    code: 'http-scheme-invalid',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { invalid: '"{scheme}" is not the name of an HTTP authentication scheme: write one word, such as basic or bearer' },
  },
  scheme({ value, type, pointer }, report) {
    const scheme = type === 'http' ? ownString(value, 'scheme') : undefined
    if (scheme !== undefined && !isToken(scheme))
      report(`${pointer}/scheme`, 'invalid', { scheme: scheme.replace(/^(\s*\S+)\s.*$/s, '$1 …') })
  },
}

/** `in` of a parameter is query, header or body. */
const parameterIn: RuleCase = {
  meta: {
    code: 'parameter-in',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { place: '"in" of a parameter must be query, header or body, not "{value}"' },
  },
  parameter({ value, pointer }, report) {
    const place = ownString(value, 'in')
    if (place !== undefined && !PARAMETER_PLACES.includes(place))
      report(`${pointer}/in`, 'place', { value: place, near: nearMiss(place, PARAMETER_PLACES) })
  },
}

const PARAMETER_PLACES = ['query', 'header', 'body']

/** A GET request has no parameters in its body. */
const parameterBodyWithGet: RuleCase = {
  meta: {
    code: 'parameter-body-with-get',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { body: 'a parameter cannot go into the body of a GET request: use "in": "query", or the method POST' },
  },
  parameter({ value, pointer, flow }, report) {
    if (ownString(value, 'in') === 'body' && ownString(flow.value, 'method')?.toUpperCase() === 'GET') report(`${pointer}/in`, 'body')
  },
}

/** A signing API is called with GET or POST. */
const signedMethod: RuleCase = {
  meta: {
    code: 'signed-method',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { method: '"method" must be GET or POST, not "{method}"' },
  },
  flow({ value, pointer, scheme }, report) {
    const method = scheme.type === 'signedUrl' ? ownString(value, 'method') : undefined
    if (method !== undefined && !/^(?:get|post)$/i.test(method)) report(`${pointer}/method`, 'method', { method })
  },
}

/** Methods are written in upper case. */
const methodCase: RuleCase = {
  meta: {
    code: 'method-case',
    severity: { recommended: 'info', strict: 'info', schema: 'off' },
    messages: { case: '"method" is written in upper case: write "{upper}"' },
    fix: 'safe',
  },
  flow({ value, pointer, scheme }, report) {
    const method = scheme.type === 'signedUrl' ? ownString(value, 'method') : undefined
    const upper = method?.toUpperCase()
    if (upper !== method && (upper === 'GET' || upper === 'POST')) report(`${pointer}/method`, 'case', { upper })
  },
}

export const fieldValue: Rule = {
  meta: { id: 'field-value', section: 'schemes' },
  cases: [apikeyIn, apikeyName, httpSchemeInvalid, parameterIn, parameterBodyWithGet, signedMethod, methodCase],
}

export const docs: RuleDocs = {
  'apikey-in': {
    part: 'authentication-scheme-object',
    why: 'Clients can put a key into the query, a header or a cookie. With any other word they do not send it, and published schemas accept every word.',
    repair: ['Look up in the documentation of the service where it expects the key.', 'Write query, header or cookie.'],
  },
  'apikey-name': {
    part: 'authentication-scheme-object',
    why: 'A header or cookie with this name cannot be sent (RFC 9110, RFC 6265), or it is a header that clients never set for a catalog, such as Host.',
    repair: [
      'Write the name that the service expects, without spaces and colons.',
      'For a key in Authorization, consider a scheme of type http.',
    ],
  },
  'http-scheme-invalid': {
    part: 'authentication-scheme-object',
    why: 'The name is the first word of the Authorization header (RFC 9110, section 11.1). With spaces, or with the credential in it, clients cannot build the header.',
    repair: ['Write the name alone, such as basic or bearer.', 'If it contained a token, revoke the token: everybody can read it here.'],
  },
  'parameter-in': {
    part: 'parameter-object',
    why: 'Clients can put a parameter into the query, a header or the body. With any other word they do not send it, and published schemas accept every word.',
    repair: ['Look up in the documentation of the signing API where it expects the parameter.', 'Write query, header or body.'],
  },
  'parameter-body-with-get': {
    part: 'parameter-object',
    why: 'Clients and servers drop the body of a GET request, so the parameter never arrives.',
    repair: ['If the signing API accepts POST, change the method of the flow to POST.', 'Otherwise write "in": "query".'],
  },
  'signed-method': {
    part: 'signed-url-object',
    why: 'Clients call a signing API with GET or POST only.',
    repair: ['Write the method that the signing API documents, GET or POST.', 'If it needs another one, let it accept POST as well.'],
  },
  'method-case': {
    part: 'signed-url-object',
    why: 'HTTP methods are case-sensitive (RFC 9110, section 9.1), and not every client corrects them.',
    repair: ['Write the method in upper case.'],
  },
}
