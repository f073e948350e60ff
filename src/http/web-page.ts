/** Tells web pages from files: a login page often answers with 200 in the place of what was asked for. */
import { mediaType } from './headers.ts'

/** What is said about a body before it comes. */
export interface BodyPromise {
  /** Media type; empty where nothing is said. */
  readonly type: string
  /** Names of the file: the last segment of its URL, and where it is written to. */
  readonly names: readonly string[]
  /** Roles of the asset. */
  readonly roles: readonly string[]
}

/** `page` where a web page is promised, `other` where anything else is, `unknown` where nothing tells. */
export type PromisedKind = 'page' | 'other' | 'unknown'

/** Bytes within which a web page shows that it is one. */
export const PAGE_HEAD = 4096

/** Returns what a body is promised to be: the media type decides, then the names, then the roles. */
export function promisedKind({ type, names, roles }: BodyPromise): PromisedKind {
  const stated = mediaType(type)
  if (stated !== '') return isPageType(stated) ? 'page' : 'other'
  const extensions = names.flatMap((name) => EXTENSION.exec(name)?.[1]?.toLowerCase() ?? [])
  if (extensions.some((extension) => PAGE_EXTENSION.test(extension))) return 'page'
  if (extensions.some((extension) => !SCRIPT_EXTENSION.test(extension))) return 'other'
  return roles.some((role) => FILE_ROLES.has(role)) ? 'other' : 'unknown'
}

/** True for the media types of web pages (RFC 2854, RFC 3236). */
export function isPageType(contentType: string | null): boolean {
  return /^(?:text\/html|application\/xhtml\+xml)$/.test(mediaType(contentType))
}

/**
 * True when a body begins as a web page does: after a byte order mark, white space, comments and an XML declaration comes an element
 * that only a page begins with. Undefined when more bytes have to be seen; `isAll` says that there are no more.
 */
export function looksLikePage(head: Uint8Array, isAll: boolean): boolean | undefined {
  const text = textOf(head.subarray(0, PAGE_HEAD))
  const rest = text.replace(PREAMBLE, '')
  if (PAGE_START.test(rest)) return true
  const isOpen = !isAll && head.length < PAGE_HEAD && (rest === '' || UNFINISHED.test(rest))
  return isOpen ? undefined : false
}

/** A number behind the last dot is a version or an identifier: `10.5281/zenodo.1234`. */
const EXTENSION = /[^.]\.([a-z0-9]{0,9}[a-z][a-z0-9]{0,9})$/i
const PAGE_EXTENSION = /^[sx]?html?$/
/** Programs on servers, which may give anything. */
const SCRIPT_EXTENSION = /^(?:aspx?|cgi|jspx?|php\d?|do|action|cfm|pl|ashx)$/
/** Roles of the best practices of STAC whose files are never pages; metadata may be one. */
const FILE_ROLES = new Set(['data', 'thumbnail', 'overview', 'visual'])

const PREAMBLE = /^(?:\s+|<!--[\s\S]*?-->|<\?[^<>]*\?>)+/
const PAGE_START = /^<(?:!doctype\s+html|html|head|body|title|script|meta|iframe)[\s>/]/i
/** A tag, a comment or a declaration that has begun. */
const UNFINISHED = /^<(?:[!?a-z][^>]{0,40}|!--[\s\S]*|\?[^>]*)?$/i

/** One character for each byte; of UTF-16 only what is ASCII matters. */
function textOf(bytes: Uint8Array): string {
  const text = String.fromCharCode(...bytes)
  if (/^(?:\xff\xfe|\xfe\xff)/.test(text)) return text.slice(2).replaceAll('\0', '')
  return text.replace(/^\xef\xbb\xbf/, '')
}
