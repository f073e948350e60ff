/** What services put around their records. */
import { ProtocolError } from '../errors.ts'

/** `auto`: `data` when it stands alone or with members that are known to describe it; a name: that member; false: nothing is taken off. */
export type Envelope = 'auto' | false | { readonly member: string }

const COMPANIONS = new Set(['data', 'meta', 'links', 'paging', 'pagination', 'next', 'total'])

/** The record or list inside of its envelope; what is in none stays as it is. */
export function unwrapped(body: unknown, envelope: Envelope = 'auto'): unknown {
  if (envelope === false || typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const name = envelope === 'auto' ? 'data' : envelope.member
  if (!Object.hasOwn(body, name)) return body
  if (envelope === 'auto' && !Object.keys(body).every((key) => COMPANIONS.has(key))) return body
  return (body as Record<string, unknown>)[name]
}

/**
 * The list in an answer: itself, or the list under the resource's name, `items`, `results` or `value` (OData), in `_embedded` (HAL) too.
 *
 * Errors: `RESPONSE_INVALID` with the names that are there.
 */
export function listIn(body: unknown, envelope: Envelope | undefined, name: string, url: string): readonly unknown[] {
  const inner = unwrapped(unwrapped(body, envelope), envelope === undefined || envelope === 'auto' ? { member: '_embedded' } : false)
  if (Array.isArray(inner)) return inner
  const members = typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : {}
  for (const candidate of [name, 'items', 'results', 'value']) {
    const list = Object.hasOwn(members, candidate) ? members[candidate] : undefined
    if (Array.isArray(list)) return list
  }
  const found = Object.keys(members)
  const what = found.length > 0 ? `an object with ${found.slice(0, 20).join(', ')}` : inner === null ? 'null' : typeof inner
  throw new ProtocolError('RESPONSE_INVALID', `${url}: a list of ${name} was expected, the answer is ${what}`, { url })
}
