/** The text of a successful response. */
import { ProtocolError } from '../../errors.ts'

const DECODER = new TextDecoder('utf-8', { fatal: true })

/**
 * Decodes UTF-8 and removes a byte order mark. Errors: `RESPONSE_INVALID` for bytes in another encoding, which would become U+FFFD without
 * notice; the next response would have them too, so it is not retried.
 */
export function strictText(body: Uint8Array, url: string, status: number): string {
  try {
    return DECODER.decode(body)
  } catch {
    throw new ProtocolError('RESPONSE_INVALID', `${url}: the response is not in UTF-8`, { url, status })
  }
}

/** Returns true for a page of HTML or other markup: a proxy answered in the place of the service, or after it. */
export function isMarkup(text: string): boolean {
  return /^\s*</.test(text)
}
