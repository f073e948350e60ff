/**
 * Reads single elements of XML documents of object stores without a parser. Callers refuse documents with constructs that parsers may read
 * differently: document types, CDATA and comments, which all begin with `<!`.
 */
import { isAuthError } from '../errors.ts'
import type { HttpResponse } from './message.ts'

/** Returns the text of the first element with that name; undefined when there is none or it is empty. */
export function elementText(xml: string, name: string): string | undefined {
  const text = elementContent(xml, name) ?? ''
  return text === '' || text.includes('<') ? undefined : text.replace(ENTITY, character)
}

/** Returns what is between the tags of the first element with that name, as it is written. */
export function elementContent(xml: string, name: string): string | undefined {
  const open = `<${name}>`
  const start = xml.indexOf(open)
  const end = start < 0 ? -1 : xml.indexOf(`</${name}>`, start)
  return end < 0 ? undefined : xml.slice(start + open.length, end)
}

const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function character(whole: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return NAMED[name] ?? whole
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
  return code <= 0x10ffff ? String.fromCodePoint(code) : whole
}

const MAX_BODY = 64 * 1024

/** Returns the body of an error response of an object store, or nothing when it is too long. */
export async function errorDocument(response: HttpResponse): Promise<string> {
  try {
    return await response.text(MAX_BODY)
  } catch (error) {
    if (isAuthError(error) && error.code === 'RESPONSE_TOO_LARGE') return ''
    throw error
  }
}

/** Returns the content of an element of an error document when it is one word. */
export function wordIn(xml: string, element: string): string | undefined {
  return new RegExp(`<${element}>([\\w.:+/=-]{1,128})</${element}>`).exec(xml)?.[1]
}
