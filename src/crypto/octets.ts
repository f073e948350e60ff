/** Byte strings: texts that have one character, up to U+00FF, for each byte; header fields are such texts. */

const utf8 = new TextEncoder()

/** The UTF-8 bytes of a text. */
export function octets(text: string): string {
  return Array.from(utf8.encode(text), (byte) => String.fromCharCode(byte)).join('')
}

/** The bytes of a byte string. */
export function bytesOf(octets: string): Uint8Array {
  return Uint8Array.from(octets, (char) => char.charCodeAt(0))
}
