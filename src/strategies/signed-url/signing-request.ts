import { type HttpRequest, withQueryParameter } from '../../http/message.ts'
import type { SignedUrlCredential } from './credential.ts'
import type { BoundParameter } from './parameters.ts'

/** The call of a signing API: each parameter where its `in` says, the body as a JSON object. */
export function signingRequest({ authorizationApi, method }: SignedUrlCredential, parameters: readonly BoundParameter[]): HttpRequest {
  let url = authorizationApi
  const headers: Record<string, string> = { accept: 'application/json' }
  const body: [string, BoundParameter['value']][] = []
  for (const { name, in: place, value } of parameters) {
    if (place === 'query') url = withQueryParameter(url, name, String(value))
    else if (place === 'header') headers[name.toLowerCase()] = String(value)
    else body.push([name, value])
  }
  if (method === 'GET') return { method, url, headers }
  return { method, url, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(Object.fromEntries(body)) }
}
