/** Jobs of a crawl and their outcomes: plain data, so that a crawl can be saved and resumed. */
import { type AuthError, type ErrorCode, isAuthError } from '../errors.ts'
import { LastOrigin } from '../http/url.ts'
import type { StacDocument } from '../stac/document.ts'

/** One request of a crawl. */
export interface Job {
  /** Method, URL without fragment, and body. Two jobs with the same key are the same request. */
  readonly key: string
  /** The URL that is requested, without fragment. */
  readonly url: string
  /** The HTTP method. */
  readonly method: 'GET' | 'POST'
  /** Headers that the link asks for, in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The body of a `POST`. */
  readonly body?: string
  /** Depth in links from the start, which has 0. Pages of a list have the depth of their documents minus one. */
  readonly depth: number
  /** Number of requests from the start; all requests of one level precede those of the next. */
  readonly level: number
  /** True below the landing page of an API. */
  readonly api: boolean
  /** Origins of the crawl: those of the start URL and of the URL that answered it. */
  readonly home: readonly string[]
  /** Key of the nearest parent document with schemes. */
  readonly scope?: string
  /** True for an Item that was linked to: it has no documents below it. */
  readonly leaf: boolean
  /** The position in a list, for a page of one. */
  readonly page?: Page
  /** The link to the document, if it requires authentication. */
  readonly via?: Via
  /** URL of the document that links to it; absent for the start. */
  readonly from?: string
}

/** What is sent for a job. */
export type JobRequest = Pick<Job, 'url' | 'method' | 'headers' | 'body'>

/** A link with `auth:refs`. */
export interface Via {
  /** URL of the document that contains the link. */
  readonly url: string
  /** The first names in its `auth:refs`. */
  readonly refs: readonly string[]
}

/** A position in a paged list. */
export interface Page {
  /** Page number, from 1. */
  readonly number: number
  /** First ids of earlier pages: of the previous one, and of the last one whose number is a power of two. */
  readonly before?: string
  /** The latter: the first ids of the last page whose number is a power of two. */
  readonly mark?: string
  /** Number of documents still wanted of this list; absent: all. */
  readonly room?: number
}

/** A document whose schemes may apply to documents below it. */
export interface Scope {
  /** Key of the scope. */
  readonly key: string
  /** URL that the document was read from. */
  readonly url: string
  /** Pointer of the document there; absent when it is the whole response. */
  readonly at?: string
  /** Its schemes apply to documents of this origin only. */
  readonly origin: string
  /** The members of the document that define schemes. */
  readonly document: StacDocument
  /** Key of the next parent scope. */
  readonly above?: string
}

/** The limit that was reached. */
export type LimitName = 'documents' | 'depth' | 'pages' | 'sample' | 'robots'

/** A link that was not followed. */
export interface SkippedLink {
  /** The URL of the link. */
  readonly url: string
  /** `CRAWL_OTHER_ORIGIN`, `CRAWL_LIMIT`, `PAGE_LOOP`, `LINK_REQUEST_FORBIDDEN`, or why a URL was refused (`URL_*`). */
  readonly code: ErrorCode
  /** The reason for people. */
  readonly message: string
  /** The limit that was reached. */
  readonly limit?: LimitName
  /** True when an option of the caller excluded it. */
  readonly asked: boolean
  /** Number of links or documents; default 1. */
  readonly count: number
}

/** The outcome of a job. */
export interface Outcome {
  /** The URL that answered. */
  readonly url: string
  /** Number of documents read: 1, or the documents of a page; 0 for a failure. */
  readonly documents: number
  /** The jobs of its links, in their order. */
  readonly jobs: readonly Job[]
  /** Its documents with schemes, for the documents below. */
  readonly scopes: readonly Scope[]
  /** Links that were not followed. */
  readonly left: readonly SkippedLink[]
  /** Why it could not be read. */
  readonly failure?: { readonly code: ErrorCode; readonly message: string; readonly hint?: string }
  /** Validators for the next conditional request (RFC 9110 §13.1). */
  readonly etag?: string
  /** The `Last-Modified` of the response. */
  readonly modified?: string
  /** Hash of the schemes of parent documents: with other schemes, an unchanged document can have another result. */
  readonly above?: number
}

/** Returns the key of a request. */
export function keyOf({ method, url, body }: Pick<Job, 'method' | 'url' | 'body'>): string {
  return body === undefined ? `${method} ${url}` : `${method} ${url} ${body}`
}

/** Returns the first job of a crawl. */
export function startAt(address: string): Job {
  const url = withoutFragment(new URL(address))
  return linkedTo(
    { url, method: 'GET', headers: {} },
    { depth: 0, api: false, leaf: false, scope: undefined, level: 0, home: [originOf(url)] },
  )
}

/** Returns the job of a link. All jobs have the same properties in the same order, because there are as many as documents. */
export function linkedTo(
  request: JobRequest,
  { depth, api, leaf, scope, level, home, via, from }: Omit<Job, 'key' | keyof JobRequest>,
): Job {
  const { url, method, headers, body } = request
  return { key: keyOf(request), url, method, headers, body, depth, level, api, home, scope, leaf, via, from }
}

/** Returns the origin of a URL; all files share one. */
export function originOf(url: string): string {
  const origin = ORIGIN.of(url)
  return origin === 'null' && new URL(url).protocol === 'file:' ? 'file:' : origin
}

/** Cached, because it is read for every document. */
const ORIGIN = new LastOrigin()

/** Normalizes a URL for comparison: host in lower case, no default port, no fragment. A trailing slash is significant. */
export function withoutFragment({ href }: URL): string {
  const end = href.indexOf('#')
  return end < 0 ? href : href.slice(0, end)
}

/** A job and its outcome. */
export interface Visit {
  /** Tells it from a stop. */
  readonly kind: 'visit'
  /** The job. */
  readonly job: Job
  /** Its outcome. */
  readonly outcome: Outcome
  /** The document; absent when it could not be read, and when it was recalled. */
  readonly document?: StacDocument
  /** The response as it was read, for positions in its text. */
  readonly bytes?: Uint8Array
  /** Parent documents whose schemes may apply, nearest first. */
  readonly parents: readonly StacDocument[]
  /** Pointers and URLs of the `parents`. */
  readonly parentPlaces: readonly ParentPlace[]
  /** False for documents of another shard, which are read only for their links. */
  readonly mine: boolean
  /** `here`: by `recall`. `unchanged`: by `earlier`, and the server answered 304. */
  readonly recalled?: 'here' | 'unchanged'
  /** Why the document could not be read. */
  readonly error?: AuthError
}

/** URL of the response, and pointer of the document in it. */
interface ParentPlace {
  readonly url: string
  readonly at: string
}

/** The error that stopped the crawl. */
export interface EarlyStop {
  /** Tells it from a visit. */
  readonly kind: 'stop'
  /** The limit that was reached, and how much was not read. */
  readonly left: SkippedLink
}

/** An empty outcome. */
export const NOTHING = { documents: 0, jobs: [], scopes: [], left: [] } as const

/** The members of a visit besides its position. */
export type VisitResult = Partial<Visit> & Pick<Visit, 'outcome'>

/** Returns the parent documents whose schemes apply: those of the same origin. */
export function parentsAt(url: string, scopes: readonly Scope[]): Pick<Visit, 'parents' | 'parentPlaces'> {
  const origin = originOf(url)
  const lending = scopes.filter((scope) => scope.origin === origin)
  return {
    parents: lending.map(({ document }) => document),
    parentPlaces: lending.map(({ url: parentUrl, at = '' }) => ({ url: parentUrl, at })),
  }
}

/** Returns the outcome of a failed job; rethrows errors that are not of the library. */
export function failed(job: Job, thrown: unknown): VisitResult {
  if (!isAuthError(thrown)) throw thrown
  const { code, message, hint } = thrown
  return { error: thrown, outcome: { ...NOTHING, url: job.url, failure: { code, message, ...(hint !== undefined && { hint }) } } }
}

/** Returns a link, or the list of a page, that is not followed. */
export function skipped(url: string, code: ErrorCode, message: string, more: Partial<SkippedLink> = {}): SkippedLink {
  return { url, code, message, asked: false, count: 1, ...more }
}

/** Returns a 32-bit hash of a text: FNV-1a with a final mix, so that texts that differ only at the end differ in all bits. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** Returns `count` of the texts, selected by the seed and in their original order. */
export function sampleOf<T>(things: readonly T[], count: number, seed: number, textOf: (thing: T) => string): readonly T[] {
  if (things.length <= count) return things
  const ranked = things.map((thing, index) => ({ index, rank: hashOf(`${seed} ${textOf(thing)}`) }))
  ranked.sort((one, other) => one.rank - other.rank || one.index - other.index)
  const chosen = new Set(ranked.slice(0, count).map(({ index }) => index))
  return things.filter((_, index) => chosen.has(index))
}
