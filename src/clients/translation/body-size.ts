/** How long a request becomes. */
import { ValidationError } from '../errors.ts'
import { encodeForm } from '../form.ts'
import { inForm } from './sent-as.ts'

/** Bytes of a whole request to translate texts. */
export const LARGEST_TRANSLATION = 128 * 1024
/** Bytes that one code unit can become: an escape in JSON, or three bytes percent-encoded. */
const WORST = { json: 6, form: 9 }
/** Code units of names, quotes and short values, and of what stands around a text in a list. */
const REST = 512
const AROUND = 6

type Encoding = 'json' | 'form'

const ENCODER = new TextEncoder()

/** Bytes of a text in UTF-8. */
export function utf8Size(text: string): number {
  return ENCODER.encode(text).length
}

/**
 * Refuses a body that is longer than the service takes. Errors: `REQUEST_TOO_LARGE`.
 *
 * @param limit in bytes
 */
export function checkBodySize(body: Readonly<Record<string, unknown>>, limit: number, encoding?: Encoding): void {
  if (isSurelyWithin(limit, body, encoding)) return
  const size = bodySize(body, encoding)
  if (size <= limit) return
  const message = `a request has at most ${limit} bytes, this one would have ${size}; nothing was sent`
  const hint = 'send fewer texts at once: translateMany makes several requests of many'
  throw new ValidationError('REQUEST_TOO_LARGE', message, { field: 'text', limit, hint })
}

/** Bytes of the body as it is sent. */
export function bodySize(body: Readonly<Record<string, unknown>>, encoding: Encoding = 'json'): number {
  return encoding === 'form' ? encodeForm(inForm(body), { arrays: 'repeat' }).length : utf8Size(JSON.stringify(body) ?? '')
}

/** Told without writing it. */
function isSurelyWithin(limit: number, body: Readonly<Record<string, unknown>>, encoding: Encoding = 'json'): boolean {
  let units = REST
  for (const value of Object.values(body)) {
    if (typeof value === 'string') units += value.length
    else if (Array.isArray(value)) for (const item of value) units += (typeof item === 'string' ? item.length : limit) + AROUND
    else if (typeof value === 'object' && value !== null) return false
  }
  return units * WORST[encoding] <= limit
}
