import { ownString } from '../../stac/document.ts'
import { discoveryUrl, flowEndpoints, isInsecure, isRelative, protocolOf } from '../model.ts'
import type { Rule, RuleCase, RuleDocs } from '../rule.ts'

/** URLs of services are absolute. */
const urlFormat: RuleCase = {
  meta: {
    code: 'url-format',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { format: '{field} must be an absolute URL that starts with https://' },
  },
  claim({ keyword, pointer, name }, { at }, report) {
    if (keyword !== 'format') return false
    report(at + pointer, 'format', { field: name })
    return true
  },
}

/** Services are reached over https. */
const urlScheme: RuleCase = {
  meta: {
    code: 'url-scheme',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { scheme: '{field} must be an https URL: clients open no other kind' },
  },
  scheme(scheme, report) {
    const url = discoveryUrl(scheme)
    if (url !== undefined && isOther(url)) report(`${scheme.pointer}/openIdConnectUrl`, 'scheme', { field: 'openIdConnectUrl' })
  },
  flow(flow, report) {
    for (const { field, address } of flowEndpoints(flow)) if (isOther(address)) report(`${flow.pointer}/${field}`, 'scheme', { field })
  },
}

function isOther(address: string): boolean {
  const scheme = protocolOf(address)
  return scheme !== undefined && scheme !== 'https' && scheme !== 'http'
}

/** Secrets are sent over https only. */
const insecureEndpoint: RuleCase = {
  meta: {
    code: 'insecure-endpoint',
    severity: { recommended: 'warn', strict: 'error', schema: 'off' },
    messages: { insecure: '{field} starts with http:, so credentials would be sent unencrypted: use https' },
    fix: 'suggestion',
  },
  scheme(scheme, report) {
    const url = discoveryUrl(scheme)
    if (url !== undefined && isInsecure(url)) report(`${scheme.pointer}/openIdConnectUrl`, 'insecure', { field: 'openIdConnectUrl' })
  },
  flow(flow, report) {
    for (const { field, address } of flowEndpoints(flow)) if (isInsecure(address)) report(`${flow.pointer}/${field}`, 'insecure', { field })
  },
}

/** The URL of the signing API is absolute, so that copies of the document work. */
const relativeAuthorizationApi: RuleCase = {
  meta: {
    code: 'relative-authorization-api',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: {
      relative: 'authorizationApi is relative, which means nothing in a copy of the document: write an absolute URL',
    },
  },
  flow({ value, pointer, scheme }, report) {
    const api = scheme.type === 'signedUrl' ? ownString(value, 'authorizationApi') : undefined
    if (api !== undefined && isRelative(api)) report(`${pointer}/authorizationApi`, 'relative')
  },
}

/** `openIdConnectUrl` is the URL of a discovery document, not of an issuer. */
const openidDiscoveryUrl: RuleCase = {
  meta: {
    code: 'openid-discovery-url',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { issuer: 'openIdConnectUrl looks like an issuer: append /.well-known/openid-configuration' },
    fix: 'suggestion',
  },
  scheme(scheme, report) {
    const url = discoveryUrl(scheme)
    if (url === undefined || !protocolOf(url)?.startsWith('http') || url.includes('/.well-known/openid-configuration')) return
    report(`${scheme.pointer}/openIdConnectUrl`, 'issuer')
  },
}

export const endpointUrl: Rule = {
  meta: { id: 'endpoint-url', section: 'flows' },
  cases: [urlFormat, urlScheme, insecureEndpoint, relativeAuthorizationApi, openidDiscoveryUrl],
}

export const docs: RuleDocs = {
  'url-format': {
    part: 'oauth2-flow-object',
    why: 'Documents are read from many places, so a URL without scheme and host leads nowhere, and neither does a placeholder.',
    repair: ['Write the whole URL, with https:// and the host.', 'Replace placeholders before you publish the document.'],
  },
  'url-scheme': {
    part: 'oauth2-flow-object',
    why: 'A client never opens a javascript: or file: URL because a catalog names it, so the flow cannot start.',
    repair: ['Write the https URL of the service.'],
  },
  'insecure-endpoint': {
    part: 'oauth2-flow-object',
    why: 'Everybody on the network path can read client secrets, codes and tokens that are sent over plain http, so clients refuse the URL. Loopback addresses are left out.',
    repair: [
      'Check that the service answers over https, and write the https URL.',
      'If it does not, use another service: clients send no secret to this one.',
    ],
  },
  'relative-authorization-api': {
    part: 'signed-url-object',
    why: 'A relative URL depends on where the document was read. It fails as soon as the document is saved or read from a search result.',
    repair: ['Write the absolute URL of the signing API.'],
  },
  'openid-discovery-url': {
    part: 'authentication-scheme-object',
    why: 'Clients read openIdConnectUrl as it is written. The URL of the issuer returns a web page or 404 instead of the discovery document, and the login cannot start.',
    repair: [
      'Append /.well-known/openid-configuration to the URL of the issuer.',
      'Open the URL: it must return JSON with authorization_endpoint and token_endpoint.',
    ],
  },
}
