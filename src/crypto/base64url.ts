import { base64 } from './base64.ts'

/** Base64url of bytes, without padding (RFC 4648 §5, RFC 7515 §2). */
export function base64url(bytes: Uint8Array): string {
  return base64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** The bytes of base64 or base64url text, padded or not; undefined when it is neither. */
export function fromBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}
