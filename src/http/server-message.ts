/** What a server says in an error body, whatever its format, as one sentence that can be shown. */
import { parsedJson } from './message.ts'

/** The words of a server, untrusted and each on one line; what it does not say is left out. */
export interface ServerMessage {
  /** The explanation, with details after a colon. */
  readonly message?: string
  /** The server's own code, such as `NoSuchKey`. */
  readonly code?: string
  /** The detail alone, where there is a message besides. */
  readonly detail?: string
  /** An `http` or `https` URL where the user can do something about it, such as accept a licence. */
  readonly address?: string
}

/** Returns what a body says: JSON, XML, or the first line of a plain text; nothing for HTML. */
export function messageInText(text: string): ServerMessage {
  const body = text.replace(/^\ufeff/, '').trim()
  if (/^[[{"]/.test(body)) return messageInJson(parsedJson(body))
  if (body.startsWith('<')) return messageInXml(body)
  const line = oneLine(body.split(/[\r\n]/, 1)[0] ?? '')
  return isReadable(line) ? { message: line } : {}
}

/** True for a line of words: bytes of a file are none. */
function isReadable(line: string): boolean {
  return /[a-z]{2}/i.test(line) && !/[\0-\x08\x0e-\x1f\ufffd]/.test(line)
}

/** Names of the explanation, and of what follows it, in the order of preference. */
const MESSAGES = ['message', 'Message', 'msg', 'error_message', 'errorMessage', 'errorMessages', 'reason', 'faultstring'] as const
const DETAILS = ['detail', 'error_description', 'details', 'description', 'invalid-params'] as const

/**
 * Returns what a parsed body says, from where services put it: a text alone; `message` (text or list), `Message`, `error` (text, list or
 * object), `error_description` (RFC 6749 §5.2), `errors` (list or map; JSON:API), `title` and `detail` (RFC 9457), `code` and `description`
 * (OGC API), `data` (JSend), lists of texts by field.
 */
export function messageInJson(body: unknown): ServerMessage {
  if (typeof body === 'string') return isReadable(body) ? { message: oneLine(body) } : {}
  const top = Array.isArray(body) ? { errors: body } : membersOf(body)
  const problem = top.error ?? top.fault ?? top.Error
  const inner = membersOf(problem)
  const from = (names: readonly string[], members: Members) => names.flatMap((name) => textsOf(members[name]) ?? [])[0]
  const said =
    from(MESSAGES, top) ??
    from([...MESSAGES, 'title', 'errors'], inner) ??
    (Array.isArray(problem) ? textsOf(problem) : textOf(problem)) ??
    from(top.status === 'fail' ? ['errors', 'data', 'title'] : ['title', 'errors'], top) ??
    fieldsOf(inner)
  const detail = from(DETAILS, top) ?? from(DETAILS, inner)
  const message = said ?? detail ?? fieldsOf(top)
  // Besides a message or title, the errors say what is wrong with which field.
  const [errors] = [top.errors, inner.errors].flatMap((list) => textsOf(list) ?? [])
  const more = detail ?? errors
  const code = codeOf(top.code) ?? codeOf(inner.code)
  const address = addressIn(top) ?? addressIn(inner)
  return {
    ...(message && { message: oneLine(more === undefined || more === message ? message : `${message}: ${more}`) }),
    ...(code && { code }),
    ...(detail && { detail }),
    ...(address && { address }),
  }
}

/** Returns the texts of a map whose values are texts and at least one list of texts, as validators write it. */
function fieldsOf(members: Members): string | undefined {
  const isList = (value: unknown) => Array.isArray(value) && value.length > 0 && value.every(textOf)
  const values = Object.values(members)
  return values.some(isList) && values.every((value) => isList(value) || typeof value === 'string') ? textsOf(members) : undefined
}

type Members = Readonly<Record<string, unknown>>

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

function codeOf(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : textOf(value)
}

/** Most elements of a list or map that are joined. */
const JOINED = 20

/** Returns a text, or the texts in a list or a map, each with the field that it is about. */
function textsOf(value: unknown): string | undefined {
  if (!Array.isArray(value) && Object.keys(membersOf(value)).length > 0) {
    const fields = Object.entries(membersOf(value)).slice(0, JOINED)
    return fields.map(([field, text]) => withField(field, textsOf(text))).join('; ') || undefined
  }
  if (!Array.isArray(value)) return textOf(value)
  const texts = value.slice(0, JOINED).flatMap((one: unknown) => {
    const { message, msg, title, detail, description, reason, field, name, loc, pointer, source } = membersOf(one)
    const [said, more] = [textOf(message) ?? textOf(msg) ?? textOf(title), textOf(detail) ?? textOf(description) ?? textOf(reason)]
    const text = textOf(one) ?? (said && more && said !== more ? `${said}: ${more}` : (said ?? more))
    const place = textOf(field) ?? textOf(name) ?? textOf(pointer) ?? textOf(membersOf(source).pointer)
    const about = place ?? (Array.isArray(loc) ? loc.join('.') : '')
    return text === undefined ? [] : [about === '' ? text : withField(about, text)]
  })
  return texts.length > 0 ? texts.join('; ') : undefined
}

function withField(field: string, text: string | undefined): string {
  return text === undefined ? field : `${field}: ${text}`
}

/** Members with the address of a page for the user; other addresses are the request's own, or of a schema. */
const ADDRESS =
  /^(?:resolution|approval|approve|accept(?:ance)?|eula|licen[cs]e|terms|agreement|help|info|more_?info|documentation|docs|login|authori[sz]ation|redirect)[-_]?(?:url|uri|link|href)?$/i

/** Returns the address in a member of that meaning, in `links` (JSON:API, HAL), or in `type` of a problem (RFC 9457). */
function addressIn(members: Members): string | undefined {
  const named = Object.entries(members).find(([name, value]) => ADDRESS.test(name) && isAddress(value))?.[1]
  const links = Array.isArray(members.links) ? members.links : Object.values(membersOf(members.links))
  const linked = links.map((link) => (typeof link === 'string' ? link : membersOf(link).href)).find(isAddress)
  return [named, linked, members.type].find(isAddress)
}

function isAddress(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\/[^\s"<>\\]{3,2000}$/i.test(value)
}

/**
 * Returns what an error in XML says: `Code` and `Message` of S3 and Azure, `ExceptionText` and `ServiceException` of OGC services,
 * `faultstring` of SOAP, `message`. Elements are found by name, without a parser: the result is text to show, no data.
 */
function messageInXml(xml: string): ServerMessage {
  const texts = ['Message', 'ExceptionText', 'ServiceException', 'faultstring', 'description', 'Error', 'Reason']
  const message = texts.flatMap((name) => elementText(xml, name) ?? [])[0]
  const [code, address] = [
    elementText(xml, 'Code') ?? /\b(?:exceptionCode|code)="([\w.]{1,64})"/.exec(xml)?.[1],
    elementText(xml, 'resolution_url'),
  ]
  return { ...(message && { message }), ...(code && { code }), ...(isAddress(address) && { address }) }
}

/** Returns the text of the first element of that name, in any namespace and letter case, as one line. */
function elementText(xml: string, name: string): string | undefined {
  const open = new RegExp(`<(?:[\\w.-]{1,40}:)?${name}(?:\\s[^<>]{0,2000})?>`, 'i').exec(xml)
  if (!open) return undefined
  const inner = xml.slice(open.index + open[0].length)
  const text = /^\s*<!\[CDATA\[([\s\S]*?)\]\]>/.exec(inner)?.[1] ?? /^[^<]*/.exec(inner)?.[0].replace(ENTITY, characterOf) ?? ''
  return oneLine(text) || undefined
}

const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function characterOf(whole: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
  return code <= 0x10ffff ? String.fromCodePoint(code) : whole
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
