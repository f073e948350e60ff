import { own } from '../../stac/document.ts'
import { SCHEME_TYPES } from '../../stac/scheme.ts'
import { nearMiss } from '../../text/suggest.ts'
import type { SchemeNode } from '../model.ts'
import { isDefinedType, RETIRED_TYPES } from '../model.ts'
import { schemeOfType, valueAt } from '../pointer.ts'
import { rule } from '../rule.ts'

export const schemeType = rule('scheme-type', 'schemes', {
  'missing-type': {
    levels: ['error', 'error', 'error'],
    messages: { missing: 'the scheme has no usable type: write one, such as http, apiKey, oauth2, openIdConnect, s3 or signedUrl' },
    fix: 'suggestion',
    claim({ pointer, missing, name, keyword, place }, { at, object }, report) {
      const scheme = schemeOfType(pointer)
      const absent = place === 'scheme' && missing === 'type'
      const unusable = place === 'field' && name === 'type' && (keyword === 'type' || keyword === 'not') && scheme !== pointer
      if (absent || unusable)
        report(at + pointer, 'missing', { fix: typeFrom(valueAt(object, absent ? pointer : scheme)) !== undefined && 'suggestion' })
      return absent || unusable
    },
  },
  'type-near-miss': {
    levels: ['error', 'error', 'off'],
    messages: { near: '"{type}" is not a type that the extension defines' },
    fix: 'suggestion',
    scheme(scheme, report) {
      const near = nearestType(scheme)
      if (near) report(`${scheme.pointer}/type`, 'near', { type: scheme.type, near })
    },
  },
  'custom-type': {
    levels: ['info', 'info', 'off'],
    messages: { custom: '"{type}" is a custom type, which only clients with a handler for it can use' },
    scheme(scheme, report) {
      const { type, pointer } = scheme
      if (!type || isDefinedType(type) || (RETIRED_TYPES as readonly string[]).includes(type)) return
      if (!nearestType(scheme)) report(`${pointer}/type`, 'custom', { type })
    },
  },
})

/** Returns the type that the fields of a scheme suggest. */
export function typeFrom(scheme: unknown): string | undefined {
  const flows = Object.values(own(scheme, 'flows') ?? {})
  if (flows.length > 0) return flows.some((flow) => own(flow, 'authorizationApi') !== undefined) ? 'signedUrl' : 'oauth2'
  if (own(scheme, 'openIdConnectUrl') !== undefined) return 'openIdConnect'
  if (own(scheme, 'in') !== undefined) return 'apiKey'
  return own(scheme, 'scheme') === undefined ? undefined : 'http'
}

/** Returns the defined type that a misspelt type probably means. `oauth1` is a custom type: OAuth 1.0 is another protocol. */
function nearestType({ type }: SchemeNode): string | undefined {
  return type && type !== 'oauth1' && !isDefinedType(type) ? nearMiss(type, [...RETIRED_TYPES, ...SCHEME_TYPES], ALIASES) : undefined
}

const ALIASES = {
  oauth: 'oauth2',
  oidc: 'openIdConnect',
  openid: 'openIdConnect',
  'openid-connect': 'openIdConnect',
  basic: 'http',
  bearer: 'http',
  digest: 'http',
  api_key: 'apiKey',
  presigned: 'signedUrl',
  aws: 's3',
  'aws-s3': 's3',
  S3: 's3',
}
