import { readBody } from '../http/read-body.ts'
import type { CrawlSend } from './ask.ts'

/**
 * A `fetch`, such as `auth.fetch`, as what a crawl sends with. Redirects are followed, each hop with what was granted to its own
 * address.
 */
export function sendWith(fetch: (url: string, init: RequestInit) => Promise<Response>): CrawlSend {
  return async ({ url, method, headers, body }, { signal }) => {
    const response = await fetch(url, {
      method,
      headers: { ...headers },
      ...(body !== undefined && { body: body as BodyInit }),
      ...(signal && { signal }),
    })
    return {
      status: response.status,
      url: response.url || url,
      headers: response.headers,
      bytes: async (limit) =>
        response.body ? readBody(response.body as unknown as AsyncIterable<Uint8Array>, limit, url) : new Uint8Array(),
      discard: async () => {
        await response.body?.cancel().catch(() => undefined)
      },
    }
  }
}
