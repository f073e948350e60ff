/** The names of HTTP authentication schemes that are registered at IANA (RFC 9110 §16.4.1). */

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

const SPELLING = /* @__PURE__ */ new Map<string, string>(/* @__PURE__ */ REGISTERED.map((name) => [name.toLowerCase(), name]))

/** Registered names in lower case, in the registry's order. */
export const REGISTERED_SCHEMES: readonly string[] = /* @__PURE__ */ REGISTERED.map((name) => name.toLowerCase())

/** True for a registered name, in any case. */
export function isRegisteredScheme(name: string): boolean {
  return SPELLING.has(name.toLowerCase())
}

/** The spelling that goes on the wire; an unregistered name stays as it is. */
export function spellingOf(name: string): string {
  return SPELLING.get(name.toLowerCase()) ?? name
}
