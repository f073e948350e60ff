import { fromBase64url } from '../../crypto/base64url.ts'
import { isObject, type JsonObject } from '../../stac/json.ts'

/** The claims of an ID token that was verified before (OpenID Connect Core 1.0 §2); none for a text that is no such token. */
export function idTokenClaims(token: string): JsonObject {
  const bytes = fromBase64url(token.split('.')[1] ?? '')
  try {
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return isObject(claims) ? claims : {}
  } catch {
    return {}
  }
}

/** When it ends, in epoch milliseconds; undefined when it does not say. */
export function endOfIdToken(token: string): number | undefined {
  const { exp } = idTokenClaims(token)
  return typeof exp === 'number' ? exp * 1000 : undefined
}
