/**
 * Compares what arrives with the file that was promised: by the document, the URL, and the name under which it is saved. Servers answer with
 * the status 200 and a login page, an error in JSON or XML, or a file of another format.
 */

import { type AuthError, CredentialError, IntegrityError } from '../../errors.ts'
import { mediaType } from '../../http/headers.ts'
import type { HttpRequest } from '../../http/message.ts'
import { messageInText } from '../../http/server-message.ts'
import { bareAddress } from '../../http/url.ts'
import { isObject, own, ownString } from '../../stac/document.ts'
import type { Target } from '../../stac/target.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { nameInAddress } from '../../text/file-name.ts'
import { exampleCredential, shownMessage } from './answer-failure.ts'
import { beginsAs, FILE_HEAD, type FileFormat, formatNameOf, formatOfExtension, formatOfType, headText } from './file-formats.ts'

/** What is known about a file before it arrives. */
export interface PromisedFile {
  /** Media type; empty where nothing is said. */
  readonly type: string
  /** Names of the file: the last segment of its URL, and where it is written to. */
  readonly names: readonly string[]
  /** Roles of the asset. */
  readonly roles: readonly string[]
}

/** Returns what the document and the names promise. */
export function promisedFile(target: Target | undefined, names: readonly string[]): PromisedFile {
  const roles = own(target?.object ?? {}, 'roles')
  return {
    type: ownString(target?.object ?? {}, 'type') ?? '',
    names: [...(target ? [nameInAddress(target.href)] : []), ...names],
    roles: Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [],
  }
}

/** Returns the promise for a body whose content coding was removed: a name such as `a.json.gz` may be that of the coded one. */
export function decodedPromise({ type, names, roles }: PromisedFile): PromisedFile {
  const plain = names.map((name) => name.replace(/\.(?:gz|gzip|tgz|taz|svgz|br|zst|zstd|tzst|z)$/i, ''))
  return { type: formatOfType(type)?.isText === undefined && /gzip|zstd/.test(type) ? '' : type, names: plain, roles }
}

/** A response, with the requested and the final URL. */
export interface AnsweredBody {
  readonly asked: string
  readonly answered: string
  readonly contentType: string | null
  readonly pointer?: string
}

/** Why a body is not the promised file. */
export interface Misfit {
  /** `page`: HTML; `error`: an error in JSON or XML; `format`: another format; `empty`: no byte. */
  readonly kind: 'page' | 'error' | 'format' | 'empty'
  /** What it is, and what was expected: "JSON, but TIFF was expected". */
  readonly words: string
  /** What the server says in it. */
  readonly says?: string
}

/**
 * Returns how the first bytes of a body differ from the promise: `undefined` when they do not, `'more'` when that needs more bytes.
 *
 * A format with known first bytes must begin with them, whatever the server calls it; one of the formats of the media type and of the names is
 * enough. Where no format is known, a web page and an error are refused if any file is promised that is not text.
 *
 * @param isAll there are no more bytes
 * @param request what was sent, whose secrets a server may repeat: without it nothing of the body is repeated
 */
export function misfitOf(
  promise: PromisedFile,
  head: Uint8Array,
  isAll: boolean,
  contentType: string | null = null,
  request?: HttpRequest,
): Misfit | 'more' | undefined {
  const { kind, formats } = expectationOf(promise)
  if (kind === 'page' || kind === 'unknown') return undefined
  if (isAll && head.length === 0)
    return formats.length > 0 ? { kind: 'empty', words: `empty, but ${wordsFor(promise)} was expected` } : undefined
  const isPage = looksLikePage(head, isAll)
  if (isPage) return pageMisfit(promise)
  const fits = formats.map((each) => beginsAs(each, head, isAll))
  const format = formats[fits.indexOf(true)]
  if (format && !format.isText) return undefined
  const isEnough = isAll || head.length >= FILE_HEAD
  if (isPage === undefined || (!format && fits.includes(undefined))) return 'more'
  const text = headText(head)
  const isMarkup = /^\s*[<[{]/.test(text)
  if (isMarkup && !isEnough) return 'more'
  const isWrong = formats.length > 0 && !format
  const isError = /\bproblem\+(?:json|xml)\b/.test(mediaType(contentType)) || (isMarkup && isErrorText(text, promise, kind))
  if (!isWrong && !isError) return undefined
  if (isPageType(contentType)) return pageMisfit(promise)
  const says = request && shownMessage(messageInText(text), request).message
  const isText = isMarkup || /^[\t\n\r\x20-\x7e]+$/.test(text)
  const actual = formatNameOf(head) ?? (isText ? 'text' : 'a file of another format')
  const words = isError
    ? `an error in ${actual}, but ${wordsFor(promise)} was expected`
    : `${actual}, but ${wordsFor(promise)} was expected`
  return { kind: isError ? 'error' : 'format', words, ...(says && (isError || isText) && { says }) }
}

/** Returns the misfit of a response without content (204, 205) where anything is promised. */
export function emptyByStatus(promise: PromisedFile, status: number): Misfit | undefined {
  const isEmpty = (status === 204 || status === 205) && expectationOf(promise).kind !== 'unknown'
  return isEmpty ? { kind: 'empty', words: `empty (${status}), but ${wordsFor(promise)} was expected` } : undefined
}

/** Returns the misfit of a response that its server calls a web page. */
export function pageByType(promise: PromisedFile, contentType: string | null): Misfit | undefined {
  const { kind } = expectationOf(promise)
  return isPageType(contentType) && kind !== 'page' && kind !== 'unknown' ? pageMisfit(promise) : undefined
}

function pageMisfit(promise: PromisedFile): Misfit {
  return { kind: 'page', words: `a web page, but ${wordsFor(promise)} was expected` }
}

/** Returns the error for a body that is not the promised file: `LOGIN_PAGE` for a page of another host, else `FILE_INTEGRITY`. */
export function misfitError({ kind, words, says }: Misfit, promise: PromisedFile, { asked, answered, pointer }: AnsweredBody): AuthError {
  const fields = { url: answered, ...(pointer && { pointer }) }
  const login = kind === 'page' ? otherHost(asked, answered) : undefined
  if (login !== undefined) {
    const { origin } = new URL(asked)
    const message = `the file was not saved: ${wordsFor(promise)} was requested from ${origin}, but ${login} answered with a web page that looks like a login`
    const hint =
      `log in at ${login}, then add a credential for ${origin}/ to the credential file, such as ${exampleCredential(asked)}; ` +
      `if there is one already, it has expired or is refused (stac-auth status); ${ACCEPT_PAGE}`
    return new CredentialError('LOGIN_PAGE', message, { ...fields, hint })
  }
  const message = `${bareAddress(answered)} was not saved: it is ${words}${says ? `. The server says: ${says}` : ''}`
  // An error is no file, whatever the document says.
  const advice = kind === 'page' ? `it may be a login page or an error page; ${ACCEPT_PAGE}` : TRUST_SERVER
  return new IntegrityError('FILE_INTEGRITY', message, { ...fields, ...(kind !== 'error' && { hint: advice }) })
}

/** Returns a warning about the media type of a response; undefined when there is nothing to warn about. */
export function pageWarning(promise: PromisedFile, { asked, answered, contentType }: AnsweredBody): string | undefined {
  const misfit = pageByType(promise, contentType)
  if (misfit) return `the response is ${mediaType(contentType)}, but ${wordsFor(promise)} was expected: this may be a login page`
  const login = otherHost(asked, answered)
  const isUnexpected = isPageType(contentType) && expectationOf(promise).kind === 'unknown' && login !== undefined
  return isUnexpected ? `${login} answered with a web page: this may be a login page` : undefined
}

const ACCEPT_PAGE = 'to accept the page, use --accept-html, in code acceptHtml'

/** The hint for a file that differs from its document. */
export const TRUST_SERVER = 'if the document is wrong, --trust-server keeps the file with a warning, in code trustServer'

/** Returns the origin that answered instead of the requested one; undefined when only the protocol differs, and for `s3:`. */
function otherHost(asked: string, answered: string): string | undefined {
  if (!canParseUrl(asked) || !canParseUrl(answered)) return undefined
  const [from, to] = [new URL(asked), new URL(answered)]
  return from.protocol === 's3:' || from.host === to.host ? undefined : to.origin
}

function wordsFor({ type, names, roles }: PromisedFile): string {
  if (!isGeneric(mediaType(type))) return mediaType(type)
  const name = names.find((text) => /\.[a-z0-9]{1,10}$/i.test(text))
  return name === undefined ? `a file of the role "${roles[0] ?? 'data'}"` : `"${name.slice(name.lastIndexOf('/') + 1)}"`
}

/** What a body may be. */
interface Expectation {
  /** A web page; text of any form; a file; `unknown` where nothing is promised. */
  readonly kind: 'page' | 'text' | 'file' | 'unknown'
  /** The formats of which it must be one; empty where they are not known. */
  readonly formats: readonly FileFormat[]
}

/** Returns what is expected: the media type decides, then the names, then the roles. A name adds its format to that of the type. */
export function expectationOf({ type, names, roles }: PromisedFile): Expectation {
  const stated = isGeneric(mediaType(type)) ? '' : mediaType(type)
  const extensions = names.flatMap((name) => EXTENSION.exec(name)?.[1]?.toLowerCase() ?? [])
  if (isPageType(stated) || (stated === '' && extensions.some((extension) => PAGE_EXTENSION.test(extension))))
    return { kind: 'page', formats: [] }
  const byType = formatOfType(stated)
  const known = [byType, ...extensions.map(formatOfExtension)].filter((format) => format !== undefined)
  // A media type that is not known here may be that of anything.
  const formats = stated === '' || byType ? [...new Set(known)] : []
  if (formats.length > 0) return { kind: formats.every(({ isText }) => isText) ? 'text' : 'file', formats }
  if (stated !== '') return { kind: stated.startsWith('text/') ? 'text' : 'file', formats }
  const named = extensions.filter((extension) => !SCRIPT_EXTENSION.test(extension))
  if (named.length > 0) return { kind: named.every((extension) => TEXT_EXTENSION.test(extension)) ? 'text' : 'file', formats }
  return { kind: roles.some((role) => FILE_ROLES.has(role)) ? 'file' : 'unknown', formats }
}

/** True for media types that say nothing. */
function isGeneric(type: string): boolean {
  return /^(?:|\*\/\*|(?:application|binary)\/(?:octet-stream|binary|(?:x-)?(?:force-)?download|x-binary|unknown))$/.test(type)
}

/** True for the media types of web pages (RFC 2854, RFC 3236). */
function isPageType(contentType: string | null): boolean {
  return /^(?:text\/html|application\/xhtml\+xml)$/.test(mediaType(contentType))
}

/** A number after the last dot is a version or an identifier: `10.5281/zenodo.1234`. */
const EXTENSION = /(?:[^.]|^(?=\.z(?:array|attrs|group|metadata)$))\.([a-z0-9]{0,9}[a-z][a-z0-9]{0,9})$/i
const PAGE_EXTENSION = /^[sx]?html?$/
const TEXT_EXTENSION = /^(?:txt|text|csv|tsv|md|rst|ya?ml|toml|log|prj|wkt|[a-z]{2}w|hdr|met|mtl|asc|ini|cfg|tex|bib|odl|js|css|py)$/
/** Programs on servers, which may give anything. */
const SCRIPT_EXTENSION = /^(?:aspx?|cgi|jspx?|php\d?|do|action|cfm|pl|ashx)$/
/** Roles of the best practices of STAC whose files are never pages; metadata may be one. */
const FILE_ROLES = new Set(['data', 'thumbnail', 'overview', 'visual'])

/** Returns whether JSON or XML is an error. In text of any form, JSON is one only where a GeoJSON object is promised. */
function isErrorText(text: string, { type, names }: PromisedFile, kind: Expectation['kind']): boolean {
  const isGeoJson = [type, ...names].some((one) => /geo\+?json\b/i.test(one))
  if (/^\s*</.test(text)) return isErrorXml(text)
  return (kind !== 'text' || isGeoJson) && isErrorJson(text)
}

/** Root elements of errors: S3 and Azure, OGC services, SOAP, RFC 9457. */
const ERROR_ROOT =
  /^<(?:[\w.-]{1,40}:)?(?:error|errors|error_?response|exception|exceptionreport|serviceexception(?:report)?|fault|problem)[\s/>]/i

function isErrorXml(text: string): boolean {
  const root = text.replace(PREAMBLE, '')
  return ERROR_ROOT.test(root) || (/^<(?:[\w.-]{1,40}:)?envelope[\s>]/i.test(root) && /<(?:[\w.-]{1,40}:)?fault[\s/>]/i.test(root))
}

/** Types of GeoJSON objects (RFC 7946 §1.4). */
const GEOJSON = /^(?:Feature|FeatureCollection|(?:Multi)?(?:Point|LineString|Polygon)|GeometryCollection)$/

/** True for an object with a member that only errors have, or a message with a status. Of one that is cut off, its first member decides. */
function isErrorJson(text: string): boolean {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return /^\s*\{\s*"(?:errors?|error_[a-z]+|exception|fault)"\s*:/i.test(text)
  }
  if (!isObject(body) || GEOJSON.test(ownString(body, 'type') ?? '')) return false
  const names = Object.keys(body).map((name) => name.toLowerCase().replaceAll(/[_-]/g, ''))
  const has = (...wanted: readonly string[]) => wanted.some((name) => names.includes(name))
  return (
    has('error', 'errors', 'errormessage', 'errordescription', 'errorcode', 'exception', 'fault') ||
    (has('message', 'msg', 'detail', 'description', 'title') && has('status', 'statuscode', 'code', 'success')) ||
    (names.length === 1 && has('message', 'msg', 'detail'))
  )
}

/**
 * True when a body starts like a web page: after a byte order mark, white space, comments and an XML declaration follows an element
 * that only starts a page. Undefined when more bytes are needed; `isAll` means that there are no more.
 */
export function looksLikePage(head: Uint8Array, isAll: boolean): boolean | undefined {
  const rest = headText(head).replace(PREAMBLE, '')
  if (PAGE_START.test(rest)) return true
  const isOpen = !isAll && head.length < FILE_HEAD && (rest === '' || UNFINISHED.test(rest))
  return isOpen ? undefined : false
}

const PREAMBLE = /^(?:\s+|<!--[\s\S]*?-->|<\?[^<>]*\?>)+/
const PAGE_START = /^<(?:!doctype\s+html|html|head|body|title|script|meta|iframe)[\s>/]/i
/** A tag, a comment or a declaration that has begun. */
const UNFINISHED = /^<(?:[!?a-z][^>]{0,40}|!--[\s\S]*|\?[^>]*)?$/i
