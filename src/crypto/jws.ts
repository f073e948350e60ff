/** Signed JSON (RFC 7515), as far as clients make it. */
import { base64url } from './base64url.ts'
import type { PrivateKey } from './private-key.ts'

const utf8 = new TextEncoder()

/** A JWS in compact form (RFC 7515 §7.1); members keep their order. `header` names the algorithm of the key. */
export async function compactJws(key: PrivateKey, header: object, claims: object): Promise<string> {
  const input = `${encoded(header)}.${encoded(claims)}`
  return `${input}.${base64url(await key.sign(input))}`
}

function encoded(value: object): string {
  return base64url(utf8.encode(JSON.stringify(value)))
}
