/** Sizes beyond which a document is not looked at. */
import { isObject, own } from '../stac/json.ts'
import { DOCUMENT_LIMITS } from '../stac/limits.ts'
import type { LintDocument } from './model.ts'

/** What there is too much of, and where. */
export interface Excess {
  readonly pointer: string
  readonly message: 'schemes' | 'links'
  readonly limit: number
}

/** The first limit on the number of things that the document exceeds, or undefined. */
export function excessOf({ map, object, at }: LintDocument): Excess | undefined {
  if (map && isObject(map.value) && Object.keys(map.value).length > DOCUMENT_LIMITS.schemes)
    return { pointer: map.pointer, message: 'schemes', limit: DOCUMENT_LIMITS.schemes }
  const links = own(object, 'links')
  return Array.isArray(links) && links.length > DOCUMENT_LIMITS.links
    ? { pointer: `${at}/links`, message: 'links', limit: DOCUMENT_LIMITS.links }
    : undefined
}

/** True when the text takes more bytes of UTF-8 than the limit. */
export function isLonger(text: string, limit: number): boolean {
  // A UTF-16 unit takes one to three bytes, so most texts need no count.
  if (text.length > limit) return true
  return text.length * 3 > limit && new TextEncoder().encode(text).length > limit
}
