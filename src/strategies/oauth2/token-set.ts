/** The token set of a token response (RFC 6749 §5.1, OpenID Connect Core 1.0 §3.1.3.3), and its form in a store. */
export interface TokenSet {
  readonly accessToken: string
  /** `N_A` can only be used as input of another exchange (RFC 8693 §2.2.1). */
  readonly tokenType: 'Bearer' | 'DPoP' | 'N_A'
  /** Epoch milliseconds of the request. */
  readonly askedAt: number
  /** Epoch milliseconds; absent when unknown. */
  readonly expiresAt?: number
  readonly scopes?: readonly string[]
  readonly refreshToken?: string
  /** Verified before it is stored. */
  readonly idToken?: string
  /** True when a refresh returned no other ID token: this one is the last of the login. */
  readonly idTokenIsLast?: true
  /** How the server takes the client secret, when that is not as in RFC 6749 §2.3.1. */
  readonly secretEncoding?: 'none'
  /** SHA-256, in hex, of the user name, when it comes from another source than the credential. */
  readonly user?: string
  /** Thumbprint of the key that a `DPoP` token is bound to (RFC 9449 §6.1). */
  readonly boundTo?: string
}

/** Encodes a set as JSON for a store. */
export function encodeTokenSet(set: TokenSet): string {
  return JSON.stringify(set)
}

/** Decodes a set from a store; undefined for anything else. */
export function decodeTokenSet(text: string | undefined): TokenSet | undefined {
  if (text === undefined) return undefined
  let value: Readonly<Record<string, unknown>>
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const isSet =
    typeof value === 'object' &&
    value !== null &&
    typeof value.accessToken === 'string' &&
    ['Bearer', 'DPoP', 'N_A'].includes(String(value.tokenType)) &&
    typeof value.askedAt === 'number' &&
    ['number', 'undefined'].includes(typeof value.expiresAt) &&
    ['string', 'undefined'].includes(typeof value.refreshToken) &&
    ['string', 'undefined'].includes(typeof value.idToken) &&
    ['true', 'undefined'].includes(String(value.idTokenIsLast)) &&
    ['none', 'undefined'].includes(String(value.secretEncoding)) &&
    ['string', 'undefined'].includes(typeof value.boundTo) &&
    ['string', 'undefined'].includes(typeof value.user) &&
    (value.scopes === undefined || (Array.isArray(value.scopes) && value.scopes.every((scope) => typeof scope === 'string')))
  return isSet ? (value as unknown as TokenSet) : undefined
}
