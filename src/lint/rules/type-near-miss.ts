import { nearMiss } from '../../stac/near.ts'
import { SCHEME_TYPES } from '../../stac/scheme.ts'
import type { SchemeNode } from '../model.ts'
import type { Rule } from '../rule.ts'
import { isDefinedType, RETIRED_TYPES } from '../vocabulary.ts'

/** A type that is almost one of the defined types is a mistake, not a custom type. */
export const typeNearMiss: Rule = {
  meta: {
    id: 'type-near-miss',
    section: 'schemes',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { near: '"{type}" is not a defined type' },
    fix: 'suggestion',
  },
  scheme(scheme, report) {
    const near = nearType(scheme)
    if (near) report(`${scheme.pointer}/type`, 'near', { type: scheme.type, near })
  },
}

/** The defined type that a scheme's type misses narrowly. */
export function nearType({ type }: SchemeNode): string | undefined {
  return type && !isDefinedType(type) ? nearMiss(type, [...RETIRED_TYPES, ...SCHEME_TYPES], ALIASES) : undefined
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

/** Why the rule exists, for its page. */
export const docs =
  'The set of types is open, so validators accept any word; case matters. Names of HTTP schemes belong into the field scheme of type http.'
