/** Standard requests and our plain ones. */
import type { HttpRequest, ReplayableBody } from '../http/message.ts'

/** The plain request for what a caller of `fetch` passes; a body is read so that it can be sent again. */
export async function requestOf(url: string, input: Request | undefined, init: RequestInit = {}): Promise<HttpRequest> {
  const headers: Record<string, string> = {}
  new Headers(init.headers ?? input?.headers).forEach((value, name) => {
    headers[name] = value
  })
  const method = (init.method ?? input?.method ?? 'GET').toUpperCase()
  const body = await bodyOf(input, init, headers)
  return body === undefined ? { method, url, headers } : { method, url, headers, body }
}

async function bodyOf(input: Request | undefined, init: RequestInit, headers: Record<string, string>): Promise<ReplayableBody | undefined> {
  if (typeof init.body === 'string') {
    headers['content-type'] ??= 'text/plain;charset=UTF-8'
    return init.body
  }
  if (init.body instanceof Uint8Array) return init.body
  if (init.body === undefined || init.body === null) return input?.body ? new Uint8Array(await input.arrayBuffer()) : undefined
  const standard = new Response(init.body)
  const type = standard.headers.get('content-type')
  if (type) headers['content-type'] ??= type
  return new Uint8Array(await standard.arrayBuffer())
}
