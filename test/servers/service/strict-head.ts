/** Fields of which a request has one at most. */
const SINGLE = new Set([
  'authorization',
  'content-type',
  'content-length',
  'user-agent',
  'host',
  'accept',
  'x-deepl-reporting-tag',
  'x-api-token',
])
const WITHOUT_BODY = new Set(['GET', 'DELETE', 'HEAD'])

/** What no correct client sends in the head of a request, one text each. Forbidden names are in lower case. */
export function headViolations(method: string, rawHeaders: readonly string[], forbidden: ReadonlySet<string>): readonly string[] {
  const found: string[] = []
  const seen = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase()
    if (forbidden.has(name)) found.push(`a ${name} field`)
    if (seen.has(name) && SINGLE.has(name)) found.push(`two ${name} fields`)
    seen.add(name)
    if (WITHOUT_BODY.has(method) && announcesBody(name, rawHeaders[index + 1] ?? '')) found.push(`a body on ${method}`)
  }
  if (!seen.has('user-agent')) found.push('no user-agent field')
  if (seen.has('transfer-encoding') && seen.has('content-length')) found.push('transfer-encoding together with content-length')
  return found
}

function announcesBody(name: string, value: string): boolean {
  return name === 'transfer-encoding' || (name === 'content-length' && value !== '0')
}
