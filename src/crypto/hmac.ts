/** Returns the HMAC of a text in UTF-8 (RFC 2104). */
export async function hmac(hash: 'SHA-1' | 'SHA-256', key: Uint8Array, text: string): Promise<Uint8Array> {
  const imported = await crypto.subtle.importKey('raw', new Uint8Array(key), { name: 'HMAC', hash }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, new TextEncoder().encode(text)))
}
