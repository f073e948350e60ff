import { isToken } from '../http/field-name.ts'
import { ValidationError } from './errors.ts'

/** Who frames the message, and routes it. */
const OURS = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect',
  '__proto__',
])

/**
 * The headers of a call on top of those of its operation. Errors: `REQUEST_INVALID` for a name or value that HTTP does not allow, for
 * those that frame the message, and for the `pinned` ones.
 *
 * @param pinned names in lower case that a call may not change: that of the credential, and more if the service wants it
 */
export function withCallHeaders(
  headers: Readonly<Record<string, string>>,
  added: Readonly<Record<string, string>> | undefined,
  pinned: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  if (!added) return headers
  const all: Record<string, string> = { ...headers }
  for (const [written, value] of Object.entries(added)) {
    const name = written.toLowerCase()
    if (!isToken(name) || typeof value !== 'string' || /[^\t\x20-\x7e\x80-\xff]/.test(value)) throw refused(name, 'is no valid header')
    if (OURS.has(name) || pinned.has(name) || name.startsWith('proxy-')) throw refused(name, 'cannot be set by a call')
    all[name] = value
  }
  return all
}

function refused(name: string, why: string): ValidationError {
  return new ValidationError('REQUEST_INVALID', `the header ${JSON.stringify(name)} ${why}; nothing was sent`, { field: `headers.${name}` })
}
