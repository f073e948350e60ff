/** Detects web pages that are returned instead of files: a login page often answers with 200. */

import { type AuthError, CredentialError, IntegrityError } from '../../errors.ts'
import { mediaType } from '../../http/headers.ts'
import { bareAddress } from '../../http/url.ts'
import { own, ownString } from '../../stac/document.ts'
import type { Target } from '../../stac/target.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { nameInAddress } from '../download/file-plan.ts'
import { exampleCredential } from './answer-failure.ts'

/** Returns the expected type of a file, from its document and names. */
export function bodyPromise(target: Target | undefined, names: readonly string[]): BodyPromise {
  const roles = own(target?.object ?? {}, 'roles')
  return {
    type: ownString(target?.object ?? {}, 'type') ?? '',
    names: [...(target ? [nameInAddress(target.href)] : []), ...names],
    roles: Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [],
  }
}

/** A response that may be a web page, with the requested and the final URL. */
export interface AnsweredBody {
  readonly asked: string
  readonly answered: string
  readonly contentType: string | null
  readonly pointer?: string
}

/**
 * Returns the error for a web page instead of the expected file: `LOGIN_PAGE` when another host answered, else `FILE_INTEGRITY`. Undefined
 * when nothing else was expected, or the response is not a web page.
 *
 * @param isPage result of inspecting the first bytes; default: by media type
 */
export function pageRefusal(promise: BodyPromise, body: AnsweredBody, isPage = isPageType(body.contentType)): AuthError | undefined {
  if (!isPage || promisedKind(promise) !== 'other') return undefined
  const { asked, answered, pointer } = body
  const fields = { url: answered, ...(pointer && { pointer }) }
  const login = otherHost(asked, answered)
  if (login === undefined) {
    const message = `${bareAddress(answered)} was not saved: it is a web page, but ${wordsFor(promise)} was expected`
    return new IntegrityError('FILE_INTEGRITY', message, { ...fields, hint: `it may be a login page or an error page; ${ACCEPT}` })
  }
  const { origin } = new URL(asked)
  const message = `the file was not saved: ${wordsFor(promise)} was requested from ${origin}, but ${login} answered with a web page that looks like a login`
  const hint =
    `log in at ${login}, then add a credential for ${origin}/ to the credential file, such as ${exampleCredential(asked)}; ` +
    `if there is one already, it has expired or is refused (stac-auth status); ${ACCEPT}`
  return new CredentialError('LOGIN_PAGE', message, { ...fields, hint })
}

/** Returns a warning for a web page that is accepted; undefined when there is nothing to warn about. */
export function pageWarning(promise: BodyPromise, body: AnsweredBody): string | undefined {
  if (!isPageType(body.contentType)) return undefined
  const kind = promisedKind(promise)
  const login = otherHost(body.asked, body.answered)
  if (kind === 'other')
    return `the response is ${mediaType(body.contentType)}, but ${wordsFor(promise)} was expected: this may be a login page`
  return kind === 'unknown' && login !== undefined ? `${login} answered with a web page: this may be a login page` : undefined
}

const ACCEPT = 'to accept the page, use --accept-html, in code acceptHtml'

/** Returns the origin that answered instead of the requested one; undefined when only the protocol differs, and for `s3:`. */
function otherHost(asked: string, answered: string): string | undefined {
  if (!canParseUrl(asked) || !canParseUrl(answered)) return undefined
  const [from, to] = [new URL(asked), new URL(answered)]
  return from.protocol === 's3:' || from.host === to.host ? undefined : to.origin
}

function wordsFor({ type, names, roles }: BodyPromise): string {
  if (type !== '') return mediaType(type)
  const name = names.find((text) => /\.[a-z0-9]{1,10}$/i.test(text))
  return name === undefined ? `a file of the role "${roles[0] ?? 'data'}"` : `"${name.slice(name.lastIndexOf('/') + 1)}"`
}

/** Expectations of a body before it arrives. */
export interface BodyPromise {
  /** Media type; empty where nothing is said. */
  readonly type: string
  /** Names of the file: the last segment of its URL, and where it is written to. */
  readonly names: readonly string[]
  /** Roles of the asset. */
  readonly roles: readonly string[]
}

/** `page` if a web page is expected, `other` if anything else is, `unknown` without an expectation. */
type PromisedKind = 'page' | 'other' | 'unknown'

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
function isPageType(contentType: string | null): boolean {
  return /^(?:text\/html|application\/xhtml\+xml)$/.test(mediaType(contentType))
}

/**
 * True when a body starts like a web page: after a byte order mark, white space, comments and an XML declaration follows an element
 * that only starts a page. Undefined when more bytes are needed; `isAll` means that there are no more.
 */
export function looksLikePage(head: Uint8Array, isAll: boolean): boolean | undefined {
  const text = textOf(head.subarray(0, PAGE_HEAD))
  const rest = text.replace(PREAMBLE, '')
  if (PAGE_START.test(rest)) return true
  const isOpen = !isAll && head.length < PAGE_HEAD && (rest === '' || UNFINISHED.test(rest))
  return isOpen ? undefined : false
}

/** A number after the last dot is a version or an identifier: `10.5281/zenodo.1234`. */
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
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  if (/^(?:\xff\xfe|\xfe\xff)/.test(text)) return text.slice(2).replaceAll('\0', '')
  return text.replace(/^\xef\xbb\xbf/, '')
}
