/** Words of the extension (1.0.0 to 1.2.0) and of the registries it points to. */
import { SCHEME_TYPES } from '../stac/scheme.ts'

/** Types that only 1.0.0 defines. */
export const RETIRED_TYPES = ['planetaryComputer', 'earthdata'] as const

/** Keys of `flows` that the extension defines for `oauth2`. */
export const FLOW_NAMES = ['authorizationCode', 'implicit', 'password', 'clientCredentials', 'tokenExchange'] as const

/** Fields of a Scheme Object that belong to certain types only. */
export const FIELD_TYPES: Readonly<Record<string, readonly string[]>> = {
  name: ['apiKey'],
  in: ['apiKey'],
  scheme: ['http'],
  flows: ['oauth2', 'signedUrl'],
  openIdConnectUrl: ['openIdConnect'],
}

export const SCHEME_FIELDS = ['type', 'description', 'auth:refs', ...Object.keys(FIELD_TYPES)]
export const OAUTH2_FIELDS = ['authorizationUrl', 'tokenUrl', 'refreshUrl', 'scopes', 'subjectTokenType']
export const SIGNED_FIELDS = ['method', 'authorizationApi', 'parameters', 'responseField']
export const PARAMETER_FIELDS = ['in', 'required', 'description', 'schema']

/** Fields with the URL of a service. */
export const FLOW_URLS = ['authorizationUrl', 'tokenUrl', 'refreshUrl', 'authorizationApi'] as const

/** True for a type that the extension defines in every version. */
export function isDefinedType(type: string | undefined): boolean {
  return (SCHEME_TYPES as readonly (string | undefined)[]).includes(type)
}
