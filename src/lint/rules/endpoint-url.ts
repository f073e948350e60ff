import { ownString } from '../../stac/document.ts'
import { discoveryUrl, flowEndpoints, isInsecure, isRelative, protocolOf } from '../model.ts'
import { rule } from '../rule.ts'

export const endpointUrl = rule('endpoint-url', 'flows', {
  'url-format': {
    levels: ['error', 'error', 'error'],
    messages: { format: '{field} must be an absolute URL that starts with https://' },
    claim({ keyword, pointer, name }, { at }, report) {
      if (keyword !== 'format') return false
      report(at + pointer, 'format', { field: name })
      return true
    },
  },
  'url-scheme': {
    levels: ['error', 'error', 'off'],
    messages: { scheme: '{field} must be an https URL: clients open no other kind' },
    scheme(scheme, report) {
      const url = discoveryUrl(scheme)
      if (url !== undefined && isOther(url)) report(`${scheme.pointer}/openIdConnectUrl`, 'scheme', { field: 'openIdConnectUrl' })
    },
    flow(flow, report) {
      for (const { field, address } of flowEndpoints(flow)) if (isOther(address)) report(`${flow.pointer}/${field}`, 'scheme', { field })
    },
  },
  'insecure-endpoint': {
    levels: ['warn', 'error', 'off'],
    messages: { insecure: '{field} starts with http:, so credentials would be sent unencrypted: use https' },
    fix: 'suggestion',
    scheme(scheme, report) {
      const url = discoveryUrl(scheme)
      if (url !== undefined && isInsecure(url)) report(`${scheme.pointer}/openIdConnectUrl`, 'insecure', { field: 'openIdConnectUrl' })
    },
    flow(flow, report) {
      for (const { field, address } of flowEndpoints(flow))
        if (isInsecure(address)) report(`${flow.pointer}/${field}`, 'insecure', { field })
    },
  },
  'relative-authorization-api': {
    levels: ['warn', 'warn', 'off'],
    messages: {
      relative: 'authorizationApi is relative, which means nothing in a copy of the document: write an absolute URL',
    },
    flow({ value, pointer, scheme }, report) {
      const api = scheme.type === 'signedUrl' ? ownString(value, 'authorizationApi') : undefined
      if (api !== undefined && isRelative(api)) report(`${pointer}/authorizationApi`, 'relative')
    },
  },
  'openid-discovery-url': {
    levels: ['warn', 'warn', 'off'],
    messages: { issuer: 'openIdConnectUrl looks like an issuer: append /.well-known/openid-configuration' },
    fix: 'suggestion',
    scheme(scheme, report) {
      const url = discoveryUrl(scheme)
      if (url === undefined || !protocolOf(url)?.startsWith('http') || url.includes('/.well-known/openid-configuration')) return
      report(`${scheme.pointer}/openIdConnectUrl`, 'issuer')
    },
  },
})

function isOther(address: string): boolean {
  const scheme = protocolOf(address)
  return scheme !== undefined && scheme !== 'https' && scheme !== 'http'
}
