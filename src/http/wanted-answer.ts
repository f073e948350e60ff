/** Answers of servers to those who want what they asked for and nothing else. */
import { ProtocolError } from '../errors.ts'

/** Refuses every status but 2xx. Errors: `HTTP_<status>`. */
export function requireOk({ ok, status, url }: Response, address: string): void {
  if (!ok) throw new ProtocolError(`HTTP_${status}`, `${hostOf(url, address)} answers ${status}`, { url: address, status })
}

/** The body as JSON. Errors: `RESPONSE_INVALID`, without a word of the body. */
export async function jsonOf(response: Response, address: string): Promise<unknown> {
  const text = await response.text()
  try {
    return JSON.parse(text)
  } catch {
    throw new ProtocolError('RESPONSE_INVALID', `${hostOf(response.url, address)} answers something that is no JSON`, { url: address })
  }
}

/** Addresses that libraries give may be relative to a document. */
function hostOf(url: string, address: string): string {
  return URL.canParse(url) ? new URL(url).host : address
}
