/**
 * The Authentication Scheme Object of the authentication extension (1.2.0 is the
 * model; 1.0.0 and 1.1.0 are converted to it). Data only: it is untrusted and is checked before use.
 */
import { isObject, type JsonObject, ownString } from './document.ts'

interface SchemeFields {
  /** CommonMark text for people. */
  readonly description?: string
  /** Schemes that may supply this scheme's input (1.2.0). */
  readonly 'auth:refs'?: readonly string[]
}

/** Simple HTTP authentication; `scheme` is an HTTP authentication scheme of the IANA registry, compared without case. */
export interface HttpScheme extends SchemeFields {
  /** Always `http`. */
  readonly type: 'http'
  /** Name of the HTTP authentication scheme: `basic`, `bearer`, `digest`, … (RFC 9110 §11.1). */
  readonly scheme: string
}

/** A key in a header, a query parameter or a cookie. */
export interface ApiKeyScheme extends SchemeFields {
  /** Always `apiKey`. */
  readonly type: 'apiKey'
  /** Name of the header, query parameter or cookie. */
  readonly name: string
  /** Where the key is sent. */
  readonly in: 'header' | 'query' | 'cookie'
}

/** OAuth2 Flow Object; URLs are absolute, `scopes` maps a scope to its description. */
export interface OAuth2Flow {
  /** The authorization endpoint (RFC 6749 §3.1). */
  readonly authorizationUrl?: string
  /** The token endpoint (RFC 6749 §3.2). */
  readonly tokenUrl?: string
  /** The endpoint that refreshes tokens, if it differs from the token endpoint. */
  readonly refreshUrl?: string
  /** The scopes (RFC 6749 §3.3), each with its description. */
  readonly scopes?: { readonly [scope: string]: string }
  /** Type of the token that is exchanged (RFC 8693 §3), for the flow `tokenExchange`. */
  readonly subjectTokenType?: string
}

/** A scheme of type `oauth2`, with its flows. */
export interface OAuth2Scheme extends SchemeFields {
  /** Always `oauth2`. */
  readonly type: 'oauth2'
  /** The flows by name: `authorizationCode`, `clientCredentials`, …. */
  readonly flows: { readonly [flow: string]: OAuth2Flow }
}

/** A scheme of type `openIdConnect`, with the URL of the discovery document. */
export interface OpenIdConnectScheme extends SchemeFields {
  /** Always `openIdConnect`. */
  readonly type: 'openIdConnect'
  /** URL of the discovery document (OpenID Connect Discovery 1.0 §4). */
  readonly openIdConnectUrl: string
}

/** Parameter Object of a signing API. */
export interface SigningParameter {
  /** Where the parameter is sent. */
  readonly in: 'query' | 'header' | 'body'
  /** True when a request without it is refused. */
  readonly required: boolean
  /** Text for people. */
  readonly description?: string
  /** JSON Schema draft-07. It checks a value, it never supplies one. */
  readonly schema?: JsonObject
}

/** Signed URL Object. */
export interface SignedUrlFlow {
  /** HTTP method of the signing request. */
  readonly method: string
  /** URL of the signing API. */
  readonly authorizationApi?: string
  /** The parameters of the signing request by name. */
  readonly parameters?: { readonly [name: string]: SigningParameter }
  /** Name of the member of the response that contains the signed URL. */
  readonly responseField?: string
}

/** A scheme of type `signedUrl`, with the flows of its signing API. */
export interface SignedUrlScheme extends SchemeFields {
  /** Always `signedUrl`. */
  readonly type: 'signedUrl'
  /** The flows of the signing API by name. */
  readonly flows: { readonly [flow: string]: SignedUrlFlow }
}

/** Object-store signature with credentials of the user's environment. */
export interface S3Scheme extends SchemeFields {
  /** Always `s3`. */
  readonly type: 's3'
}

/** Any other type; its fields are free. */
export interface CustomScheme extends SchemeFields {
  /** Name of the type. */
  readonly type: string
  readonly [field: string]: unknown
}

/** A value of `auth:schemes`, by its `type` (authentication extension 1.0.0 to 1.2.0). */
export type AuthScheme = HttpScheme | ApiKeyScheme | OAuth2Scheme | OpenIdConnectScheme | SignedUrlScheme | S3Scheme | CustomScheme

/** The types that the extension defines. */
export const SCHEME_TYPES = ['http', 's3', 'signedUrl', 'oauth2', 'apiKey', 'openIdConnect'] as const

/** Returns true for a scheme of type `http`. */
export const isHttpScheme = (scheme: unknown): scheme is HttpScheme => ofType(scheme, 'http') && typeof scheme.scheme === 'string'

/** Returns true for a scheme of type `apiKey`. */
export const isApiKeyScheme = (scheme: unknown): scheme is ApiKeyScheme =>
  ofType(scheme, 'apiKey') && typeof scheme.name === 'string' && (scheme.in === 'header' || scheme.in === 'query' || scheme.in === 'cookie')

/** Returns true for a scheme of type `oauth2`. */
export const isOAuth2Scheme = (scheme: unknown): scheme is OAuth2Scheme => ofType(scheme, 'oauth2') && mapOfObjects(scheme.flows)

/** Returns true for a scheme of type `openIdConnect`. */
export const isOpenIdConnectScheme = (scheme: unknown): scheme is OpenIdConnectScheme =>
  ofType(scheme, 'openIdConnect') && typeof scheme.openIdConnectUrl === 'string'

/** Returns true for a scheme of type `signedUrl`. */
export const isSignedUrlScheme = (scheme: unknown): scheme is SignedUrlScheme => ofType(scheme, 'signedUrl') && mapOfObjects(scheme.flows)

/** Returns true for a scheme of type `s3`. */
export const isS3Scheme = (scheme: unknown): scheme is S3Scheme => ofType(scheme, 's3')

/**
 * Returns a scheme in the form of 1.2.0: the types that only 1.0.0 defined become a signing API without URL and a bearer
 * token. Neither has a built-in URL; the user's credential supplies it.
 */
export function modernScheme(scheme: JsonObject): JsonObject {
  switch (scheme.type) {
    case 'planetaryComputer':
      return {
        type: 'signedUrl',
        flows: { planetaryComputer: { method: 'GET', responseField: 'href', parameters: { href: { in: 'query', required: true } } } },
      }
    case 'earthdata':
      return { type: 'http', scheme: 'bearer' }
    default:
      return scheme
  }
}

/** True for custom types that mean that no authentication is needed. */
export function isPublicType(type: string): boolean {
  return /^(?:none|public|anonymous|open)$/i.test(type)
}

function ofType(scheme: unknown, type: string): scheme is JsonObject {
  return ownString(scheme, 'type') === type
}

function mapOfObjects(flows: unknown): boolean {
  return isObject(flows) && Object.values(flows).every(isObject)
}
