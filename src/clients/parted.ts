import type { PartedRequest } from '../http/collect.ts'
import type { HttpRequest } from '../http/message.ts'
import { chunksOf } from './chunks-of.ts'
import type { Draft } from './draft.ts'
import { foreign } from './foreign.ts'

/** A request to that origin as it is handed to the transport. Errors: `CONFIG_INVALID` for a function that should make its stream. */
export function parted(request: HttpRequest, origin: string, { stream }: Draft, operation: string): PartedRequest {
  const { method, url, headers, body } = request
  const path = url.slice(origin.length)
  if (stream) return { method, origin, path, headers, body: made(stream, operation) }
  return body === undefined ? { method, origin, path, headers } : { method, origin, path, headers, body }
}

function made(stream: NonNullable<Draft['stream']>, operation: string): AsyncIterable<Uint8Array> {
  try {
    return chunksOf(stream())
  } catch (error) {
    throw foreign(error, operation)
  }
}
