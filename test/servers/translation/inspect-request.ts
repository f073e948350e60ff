import { isUtf8 } from 'node:buffer'
import type { ServiceRequest } from '../service/service-request.ts'
import type { Operation } from './operations.ts'

/** The only parameter that may be repeated. */
const REPEATED = 'include'

/** Violations that only the translation service knows. */
export function inspectRequest(request: ServiceRequest, operation: Operation, allowExtra: boolean): readonly string[] {
  const { credential, rawUrl, body, headers } = request
  const found = request.query.length ? queryViolations(request, operation, allowExtra) : []
  // A short key may stand in any text by chance.
  if (credential !== undefined && credential.length >= 8) {
    if (rawUrl.includes(credential)) found.push('the key in the address')
    if (body.includes(credential)) found.push('the key in the body')
  }
  if (headers.authorization?.startsWith('DeepL-Auth-Key') && credential === undefined)
    found.push('a key that is not behind exactly one blank')
  if (operation.body !== 'multipart' && body.length && !isUtf8(body)) found.push('a body that is not UTF-8')
  return found
}

function queryViolations({ query }: ServiceRequest, operation: Operation, allowExtra: boolean): string[] {
  const found: string[] = []
  const seen = new Set<string>()
  for (const [name] of query) {
    if (name === 'auth_key') found.push('the key in the address')
    else if (!operation.query.includes(name) && !allowExtra) found.push(`the unknown parameter ${name}`)
    if (seen.has(name) && name !== REPEATED) found.push(`the parameter ${name} twice`)
    seen.add(name)
  }
  return found
}
