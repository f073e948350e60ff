/** Builds the results of `authorize`. */

import { ConfigurationError } from '../errors.ts'
import { isToken } from '../http/headers.ts'
import type { HttpRequest } from '../http/message.ts'
import type { Target } from '../stac/target.ts'
import type { AuthorizedRequest } from './auth.ts'
import type { Selection } from './credential-selection.ts'
import type { AuthStep } from './flow.ts'

const NOTHING: AuthorizedRequest['secretIn'] = { headers: [], url: false }

/** Returns a request without credentials. */
export function plainRequest(request: HttpRequest, { pointer }: Target, selection?: Selection): AuthorizedRequest {
  return selection?.ref !== undefined
    ? { ...request, ref: selection.ref, scheme: selection.type, pointer, secretIn: NOTHING }
    : { ...request, pointer, secretIn: NOTHING }
}

/** Returns the authorized request; every difference from the plain request is marked as secret. */
export function authorizedRequest(
  plain: HttpRequest,
  { request, expiresAt, location, keys }: AuthStep,
  target: Target,
  selection: Selection,
): AuthorizedRequest {
  const { method, url, headers, body } = request
  const names: string[] = []
  for (const name in headers) if (headers[name] !== plain.headers[name]) names.push(name)
  return {
    method,
    url,
    headers,
    ...(body !== undefined && { body }),
    ...(selection.ref !== undefined && { ref: selection.ref, scheme: selection.type }),
    ...(selection.match && { credential: selection.match.credential.id }),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
    pointer: target.pointer,
    ...(location && { location }),
    ...(keys && { keys }),
    // The location of an object is not secret; a presigned or signed URL is.
    secretIn: { headers: names, url: url !== plain.url && !location },
  }
}

/** Header names in lower case. Errors: `ConfigurationError` `USAGE` for a name or value that HTTP does not allow. */
export function plainHeaders(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  const plain: Record<string, string> = {}
  for (const name of Object.keys(headers)) {
    const value = headers[name]
    if (value === undefined) continue
    if (/[\r\n\0]/.test(value) || !isToken(name)) {
      throw new ConfigurationError('USAGE', `"${name}" is not a valid header`)
    }
    plain[name.toLowerCase()] = value
  }
  return plain
}
