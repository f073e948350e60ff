import { refuse } from './refuse.ts'
import type { Call } from './state.ts'

/** The tag that a request is counted under, trimmed and in lower case. */
export function reportingTag({ request }: Call): string | undefined {
  const field = request.headers['x-deepl-reporting-tag']
  if (field === undefined) return undefined
  const tag = String(field).trim()
  if (!/^[\x21-\x7e]{1,100}$/.test(tag)) refuse(400, 'Invalid reporting tag.')
  return tag.toLowerCase()
}
