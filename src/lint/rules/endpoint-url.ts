import { ownString } from '../../stac/document.ts'
import { isInsecure, protocolOf } from '../model.ts'
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
    endpoint({ field, address, pointer }, report) {
      if (!['https', 'http', undefined].includes(protocolOf(address))) report(pointer, 'scheme', { field })
    },
  },
  'insecure-endpoint': {
    levels: ['warn', 'error', 'off'],
    messages: { insecure: '{field} starts with http:, so credentials would be sent unencrypted: use https' },
    fix: 'suggestion',
    endpoint({ field, address, pointer }, report) {
      if (isInsecure(address)) report(pointer, 'insecure', { field })
    },
  },
  'relative-authorization-api': {
    levels: ['warn', 'warn', 'error'],
    messages: {
      relative: 'authorizationApi is relative, which means nothing in a copy of the document: write an absolute URL',
    },
    flow({ value, pointer, scheme }, report) {
      const { version, preset } = scheme.map
      // The schema of 1.0.0 has no format for it.
      if (preset === 'schema' && version === '1.0.0') return
      const api = scheme.type === 'signedUrl' ? ownString(value, 'authorizationApi') : undefined
      if (/^(?:\.{0,2}\/|\?)/.test(api ?? '')) report(`${pointer}/authorizationApi`, 'relative')
    },
  },
  'openid-discovery-url': {
    levels: ['warn', 'warn', 'off'],
    messages: { issuer: 'openIdConnectUrl looks like an issuer: append /.well-known/openid-configuration' },
    fix: 'suggestion',
    endpoint({ field, address, pointer }, report) {
      if (field !== 'openIdConnectUrl' || !protocolOf(address)?.startsWith('http')) return
      if (!address.includes('/.well-known/openid-configuration')) report(pointer, 'issuer')
    },
  },
})
