/** Checks the status of a standard `Response`, and reads its body. */
import { ProtocolError } from '../errors.ts'
import { canParseUrl } from '../text/can-parse-url.ts'

/** Refuses every status but 2xx. Errors: `HTTP_<status>`. */
export function requireOk({ ok, status, url }: Response, address: string): void {
  if (!ok) throw new ProtocolError(`HTTP_${status}`, `${hostOf(url, address)} answered ${status}`, { url: address, status })
}

/** Returns the body as JSON. Errors: `RESPONSE_INVALID`, which never quotes the body. */
export async function jsonOf(response: Response, address: string): Promise<unknown> {
  const text = await response.text()
  try {
    return JSON.parse(text)
  } catch {
    throw isNot('JSON', address, response.url)
  }
}

/** Returns `RESPONSE_INVALID` for a body that is something else than was asked for. */
export function isNot(wanted: string, address: string, url = address): ProtocolError {
  return new ProtocolError('RESPONSE_INVALID', `the response of ${hostOf(url, address)} is not ${wanted}`, { url: address })
}

/** Returns the URL of a body for elements of the page. Errors: those of `fetch`, `HTTP_<status>`. */
export async function objectUrl(fetch: typeof globalThis.fetch, address: string): Promise<string> {
  const response = await fetch(address)
  requireOk(response, address)
  return URL.createObjectURL(await response.blob())
}

/** Returns the host for messages; URLs from libraries may be relative to a document. */
function hostOf(url: string, address: string): string {
  return canParseUrl(url) ? new URL(url).host : address
}
