/** Parses documents from bytes or text, within limits, and with errors that never quote the text. */
import { IntegrityError } from '../errors.ts'
import { utf8Length } from '../text/utf8-length.ts'
import { DOCUMENT_LIMITS, isObject, kindOf, own, pointer, type StacDocument, schemePlaces, wrappedMember } from './document.ts'
import { scan, tooDeepAt } from './json-text.ts'

const MiB = 1024 * 1024
const STRICT = new TextDecoder('utf-8', { fatal: true })

/**
 * Returns the document in a text or in its UTF-8 bytes; a byte order mark is ignored.
 *
 * Errors: `IntegrityError` `DOC_NOT_UTF8`, `DOC_NOT_JSON` (also for JSON that is not an object), `DOC_TOO_LARGE`,
 * `DOC_TOO_DEEP`, `DOC_TOO_MANY`, with `url` when it is given.
 */
export function parseDocument(source: string | Uint8Array, options: { readonly url?: string } = {}): StacDocument {
  const where = options.url === undefined ? {} : { url: options.url }
  const size = typeof source === 'string' ? utf8Length(source) : source.byteLength
  if (size > DOCUMENT_LIMITS.other) throw tooLarge(DOCUMENT_LIMITS.other, where)
  const text = typeof source === 'string' ? source.replace(/^\ufeff/, '') : decode(source, where)
  const deep = tooDeepAt(text, DOCUMENT_LIMITS.depth)
  if (deep !== undefined) {
    const message = `the document is nested deeper than ${DOCUMENT_LIMITS.depth} levels`
    throw new IntegrityError('DOC_TOO_DEEP', message, { pointer: deep, ...where })
  }
  const document = parse(text, where)
  if (kindOf(document) === 'item' && size > DOCUMENT_LIMITS.item) throw tooLarge(DOCUMENT_LIMITS.item, where)
  countMembers(document, '', where)
  return document
}

/** Returns `DOC_TOO_LARGE`: the document has more bytes than `limit`. */
export function tooLarge(limit: number, where: { readonly url?: string } = {}): IntegrityError {
  const what = limit === DOCUMENT_LIMITS.item ? 'an item' : 'a document'
  return new IntegrityError('DOC_TOO_LARGE', `the document is larger than ${limit / MiB} MiB, the limit for ${what}`, where)
}

function decode(bytes: Uint8Array, where: { readonly url?: string }): string {
  try {
    return STRICT.decode(bytes)
  } catch {
    throw new IntegrityError('DOC_NOT_UTF8', 'the document is not UTF-8 text', where)
  }
}

function parse(text: string, where: { readonly url?: string }): StacDocument {
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    throw notJson(text, where)
  }
  if (isObject(document)) return document
  throw new IntegrityError('DOC_NOT_JSON', 'the document is JSON, but not an object', where)
}

function notJson(text: string, where: { readonly url?: string }): IntegrityError {
  const offset = scan(text) ?? text.length
  const before = text.slice(0, offset)
  const line = before.split('\n').length
  const column = offset - before.lastIndexOf('\n')
  const markup = /^\s*</.test(text)
  return new IntegrityError('DOC_NOT_JSON', `the document is not JSON: line ${line}, column ${column} (byte ${utf8Length(before)})`, {
    ...(markup && { hint: 'it looks like a web page, possibly a login page: use the URL of the JSON document' }),
    ...where,
  })
}

function countMembers(document: StacDocument, at: string, where: { readonly url?: string }): void {
  const links = own(document, 'links')
  if (Array.isArray(links) && links.length > DOCUMENT_LIMITS.links) throw tooMany('links', links.length, `${at}/links`, where)
  for (const { schemes, pointer: place } of schemePlaces(document)) {
    const count = isObject(schemes) ? Object.keys(schemes).length : 0
    if (count > DOCUMENT_LIMITS.schemes) throw tooMany('schemes', count, at + place, where)
  }
  if (at !== '' || kindOf(document) !== 'wrapper') return
  const member = wrappedMember(document)
  const inner = own(document, member)
  if (!Array.isArray(inner)) return
  for (let index = 0; index < inner.length; index++) {
    if (isObject(inner[index])) countMembers(inner[index], pointer('', member, index), where)
  }
}

function tooMany(what: 'links' | 'schemes', count: number, at: string, where: { readonly url?: string }): IntegrityError {
  return new IntegrityError('DOC_TOO_MANY', `the document has ${count} ${what}; the limit is ${DOCUMENT_LIMITS[what]}`, {
    pointer: at,
    ...where,
  })
}
