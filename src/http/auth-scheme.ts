/** The IANA registry of HTTP authentication schemes, in the registry's spelling. */
const REGISTERED = [
  'Basic',
  'Bearer',
  'Concealed',
  'Digest',
  'DPoP',
  'GNAP',
  'HOBA',
  'Mutual',
  'Negotiate',
  'OAuth',
  'PrivateToken',
  'SCRAM-SHA-1',
  'SCRAM-SHA-256',
  'vapid',
] as const

const SPELLING = new Map<string, string>(REGISTERED.map((name) => [name.toLowerCase(), name]))

/** Registered names in lower case, in the registry's order. */
export const REGISTERED_SCHEMES: readonly string[] = [...SPELLING.keys()]

/** True for a registered name, in any case. */
export function isRegisteredScheme(name: string): boolean {
  return SPELLING.has(name.toLowerCase())
}

/** The spelling that goes on the wire; an unregistered name stays as it is. */
export function spellingOf(name: string): string {
  return SPELLING.get(name.toLowerCase()) ?? name
}

/**
 * True for an access token (VSCHAR, RFC 6749 Appendix A.12) that can stand behind a scheme name in a header. Providers go beyond the
 * token68 of RFC 6750, so only blanks and what a field value cannot hold are refused.
 */
export function isAccessToken(text: string): boolean {
  return /^[\x21-\x7e]{1,16384}$/.test(text)
}
