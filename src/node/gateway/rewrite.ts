/** Rewrites the `href`s of STAC documents to URLs of the gateway, so that programs browse protected catalogs through it. */

import { KeyedMutex } from '../../auth/session.ts'
import type { HttpResponse } from '../../http/message.ts'
import { urlOfHref } from '../../http/url.ts'
import { claimsStac, DOCUMENT_LIMITS, own, ownString, type StacDocument } from '../../stac/document.ts'
import { applyEdits, type Edit, type Path, type Span, scan } from '../../stac/json-text.ts'
import { parseDocument } from '../../stac/parse-document.ts'
import { gatewayPath, withoutQuery } from './gateway-url.ts'
import type { Routes } from './routes.ts'

/** Returns true if a response may contain a STAC document, by its media type; if that is unspecific, by the name in its URL. */
export function mayBeDocument(contentType: string | undefined, url: string): boolean {
  const type = (contentType ?? '').replace(/;.*/s, '').trim().toLowerCase()
  if (/^(?:application|text)\/(?:[\w.-]+\+)?json$/.test(type)) return true
  return /^(?:|text\/plain|(?:application|binary)\/octet-stream)$/.test(type) && /\.(?:geo)?json$/i.test(new URL(url).pathname)
}

/** A body, with replaced URLs if it is a document. */
export interface RewrittenBody {
  readonly bytes: Uint8Array
  readonly isRewritten: boolean
  /** The rest of a body that is longer than any document. */
  readonly rest?: AsyncIterator<Uint8Array>
}

/** Size in bytes above which documents of one server are read one at a time, because rewriting needs many times their size in memory. */
const LARGE = 2 ** 20

const LARGE_DOCUMENTS = new KeyedMutex()

/**
 * Reads a decoded body up to the limit of a document and rewrites it. Only one large document per server is read at a time, and only one
 * in total is rewritten: a program that requests ranges on many connections needs the complete document for each.
 *
 * Errors: those of the transport, `ABORTED`.
 */
export async function rewrittenBody(
  response: HttpResponse,
  { url, signal }: { readonly url: string; readonly signal: AbortSignal },
  context: RewriteContext,
): Promise<RewrittenBody> {
  const source = response.chunks?.()[Symbol.asyncIterator]()
  if (!source) return { bytes: new Uint8Array(), isRewritten: false }
  const chunks: Uint8Array[] = []
  let size = 0
  const readTo = async (limit: number) => {
    while (size <= limit) {
      const { done, value } = await source.next()
      if (done) return true
      chunks.push(value)
      size += value.length
    }
    return false
  }
  const rewrite = async () => {
    const body = Buffer.concat(chunks.splice(0))
    const bytes = await rewritten(body, { requested: url, answered: response.url }, context)
    return { bytes, isRewritten: bytes !== body }
  }
  if (await readTo(LARGE)) return rewrite()
  const readOn = async () => {
    if (await readTo(DOCUMENT_LIMITS.other)) return LARGE_DOCUMENTS.run('rewriting', rewrite, signal)
    return { bytes: Buffer.concat(chunks), isRewritten: false, rest: source }
  }
  return LARGE_DOCUMENTS.run(url.split('/', 3).join('/'), readOn, signal)
}

/** The gateway for which a document is rewritten. */
export interface RewriteContext {
  readonly routes: Pick<Routes, 'allows'>
  /** Base URL of the gateway, with its capability. */
  readonly base: string
  /** URL of the gateway that the program requested. */
  readonly gatewayUrl: string
}

/**
 * Returns the document with the URLs that the gateway serves replaced by its own; the same bytes for anything else. Other URLs stay
 * unchanged: programs can request public files directly.
 */
async function rewritten(
  body: Uint8Array,
  { requested, answered }: { readonly requested: string; readonly answered: string },
  { routes, base, gatewayUrl }: RewriteContext,
): Promise<Uint8Array> {
  // A signed URL is secret, so the document is identified by the requested URL.
  const bare = withoutQuery(answered)
  const url = /^https?:/.test(bare) && (await routes.allows(bare)) ? bare : requested
  const urlFor = async (href: string) => {
    const path = gatewayPath(href)
    return path !== undefined && (await routes.allows(href)) ? base + path : undefined
  }
  return rewriteHrefs(body, { url, gatewayUrl, urlFor })
}

/** The URLs of a document at its server and at the gateway, and the URLs that the gateway serves. */
export interface RewriteOptions {
  /** URL of the document, after redirects. */
  readonly url: string
  /** URL of the gateway that the program requested, against which it resolves relative references. */
  readonly gatewayUrl: string
  /** Returns the URL of the gateway for a URL; undefined for one that the gateway does not serve. Called once for each URL. */
  readonly urlFor: (url: string) => Promise<string | undefined>
}

/**
 * Returns the body with each `href` of links, assets and alternates that the gateway serves replaced by the URL of the gateway for it;
 * every other byte stays unchanged. A relative reference is replaced only if it resolves differently against the URL of the gateway:
 * after a redirect, or at the root of its origin; one that the gateway does not serve becomes absolute.
 *
 * Anything but a STAC document within `DOCUMENT_LIMITS` with such an `href` is returned as the same object.
 */
export async function rewriteHrefs(body: Uint8Array, { url, gatewayUrl, urlFor }: RewriteOptions): Promise<Uint8Array> {
  const text = documentText(body)
  if (text === undefined) return body
  const mark = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0
  const json = text.slice(mark)
  const served = new Map<string, string | undefined>()
  const edits: Edit[] = []
  let count = 0
  for (const { href, start, end } of hrefsIn(json)) {
    if (++count % HREFS_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve))
    const target = urlOfHref(href, { base: url, objects: true })
    if (!(target instanceof URL)) continue
    if (!served.has(target.href)) served.set(target.href, await urlFor(target.href))
    const replaced = replacementOf(href, target.href, served.get(target.href), gatewayUrl)
    if (replaced !== undefined) edits.push({ start, end, text: JSON.stringify(replaced) })
  }
  return edits.length === 0 ? body : new TextEncoder().encode(text.slice(0, mark) + applyEdits(json, edits))
}

/** Number of hrefs that are looked up before other requests are served. */
const HREFS_AT_ONCE = 256

const BYTE_ORDER_MARK = '\ufeff'

const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** Returns the text of a STAC document with its byte order mark; undefined for anything else. */
function documentText(body: Uint8Array): string | undefined {
  try {
    return isStac(parseDocument(body)) ? UTF8.decode(body) : undefined
  } catch {
    return undefined
  }
}

/** Returns true for a STAC document, and for a list of an API with links to others, whatever its elements are. */
function isStac(document: StacDocument): boolean {
  return claimsStac(document) || (LISTS.some((member) => Array.isArray(own(document, member))) && hasLinks(document))
}

function hasLinks(document: StacDocument): boolean {
  const links = own(document, 'links')
  return Array.isArray(links) && links.some((link) => ownString(link, 'rel') !== undefined && ownString(link, 'href') !== undefined)
}

/** The value of an `href`, and its position with its quotes. */
interface Href extends Span {
  readonly href: string
}

/** Returns the hrefs of links, assets and alternates in the order of the text, which must be JSON. */
function hrefsIn(json: string): readonly Href[] {
  const found: Href[] = []
  scan(json, {
    enter: mayHoldHref,
    value: (path, { start, end }) => {
      if (isHref(path) && json[start] === '"') found.push({ href: JSON.parse(json.slice(start, end)) as string, start, end })
    },
  })
  return found
}

/** Members with the documents of a list: Items, Collections, and Catalogs of the API extensions for multiple tenants and children. */
const LISTS: readonly string[] = ['features', 'collections', 'catalogs', 'children']

/** Members whose values have an `href`, and `alternate` with further ones. */
const HOLDERS: readonly string[] = ['links', 'assets', 'item_assets']

/** Returns the position in the path where its document begins: after the index in a list, or 0. */
function documentAt([list, index]: Path): number {
  return typeof index === 'number' && LISTS.includes(String(list)) ? 2 : 0
}

/** Returns false for members of a document without an `href`, such as geometries, which are skipped to save time. */
function mayHoldHref(path: Path): boolean {
  const at = documentAt(path)
  const name = String(path[at])
  return path.length !== at + 1 || HOLDERS.includes(name) || LISTS.includes(name)
}

/** Returns true for the path of the `href` of a link, an asset or an alternate. */
function isHref(path: Path): boolean {
  if (path.at(-1) !== 'href') return false
  const [holder, key, ...inner] = path.slice(documentAt(path))
  // Links are an array, assets an object: programs ignore anything else as well.
  const isHeld = HOLDERS.includes(String(holder)) && (typeof key === 'number') === (holder === 'links')
  return isHeld && (inner.length === 1 || (inner.length === 3 && inner[0] === 'alternate' && typeof inner[1] === 'string'))
}

/** Returns the replacement of an href with that URL, which the gateway serves as `served`; undefined for one that stays unchanged. */
function replacementOf(href: string, url: string, served: string | undefined, gatewayUrl: string): string | undefined {
  if (isAbsolute(href)) return served === undefined ? undefined : templated(served, href)
  const meant = served ?? url
  return new URL(href, gatewayUrl).href === meant ? undefined : templated(meant, href)
}

function isAbsolute(href: string): boolean {
  return /^[a-z][a-z\d+.-]*:/i.test(href)
}

/** Returns the URL with the braces of a URL template, such as `{z}/{x}/{y}`, which the parser of URLs encodes. */
function templated(url: string, href: string): string {
  if (!href.includes('{') || /%7[bd]/i.test(href)) return url
  return url.replaceAll('%7B', '{').replaceAll('%7D', '}')
}
