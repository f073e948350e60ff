/** Encodings of bytes: byte strings (one character up to U+00FF per byte, as in header fields), base64, base64url, hex; HMACs of texts. */

const utf8 = /* @__PURE__ */ new TextEncoder()

/** Returns the UTF-8 bytes of a text. */
export function octets(text: string): string {
  return Array.from(utf8.encode(text), (byte) => String.fromCharCode(byte)).join('')
}

/** Returns the bytes of a byte string. */
export function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0))
}

/** Returns the base64 of bytes (RFC 4648 §4). */
export function base64(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}

/** Returns the base64url of bytes without padding (RFC 4648 §5, RFC 7515 §2). */
export function base64url(bytes: Uint8Array): string {
  return base64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** Decodes base64 or base64url, padded or not; undefined for other text. */
export function fromBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** Compares in constant time for a given length. */
export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length
  for (const [index, byte] of one.entries()) difference |= byte ^ (other[index] ?? 0)
  return difference === 0
}

/** Returns the bytes as lower-case hex. */
export function hex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}

/** Returns the HMAC of a text in UTF-8 (RFC 2104). */
export async function hmac(hash: 'SHA-1' | 'SHA-256', key: Uint8Array, text: string): Promise<Uint8Array> {
  const imported = await crypto.subtle.importKey('raw', new Uint8Array(key), { name: 'HMAC', hash }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, new TextEncoder().encode(text)))
}
