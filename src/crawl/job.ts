/** Jobs of a crawl and their outcomes: plain data, so that a crawl can be saved and resumed. */
import { type AuthError, type ErrorCode, isAuthError } from '../errors.ts'
import { LastOrigin } from '../http/url.ts'
import type { StacDocument } from '../stac/document.ts'

/** One request to make. */
export interface Job {
  /** The request itself: method, address without fragment, body. Two jobs of one key are the same. */
  readonly key: string
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Links away from the start, 0 for the start; pages of one list have the depth of what is in them, less one. */
  readonly depth: number
  /** Requests away from the start: all of one level are made before those of the next. */
  readonly level: number
  /** True below the landing page of an API. */
  readonly api: boolean
  /** Origins that count as home: where the start was asked for, and where it was answered. */
  readonly home: readonly string[]
  /** Key of the nearest document above with schemes. */
  readonly scope?: string
  /** For an Item that was linked to: nothing is below it. */
  readonly leaf: boolean
  readonly page?: Page
  /** The link that leads there, where it asks for authentication. */
  readonly via?: Via
}

/** A link with `auth:refs`. */
export interface Via {
  /** URL of the document that holds the link. */
  readonly url: string
  /** The first names in its `auth:refs`. */
  readonly refs: readonly string[]
}

/** A place in a list that comes in pages. */
export interface Page {
  /** From 1. */
  readonly number: number
  /** The request for the first page: what `merge` lays over. */
  readonly original: { readonly headers: Readonly<Record<string, string>>; readonly body?: string }
  /** First ids of earlier pages: of the one before, and of the last whose number is a power of two. */
  readonly before?: string
  readonly mark?: string
  /** Documents that are still wanted of this list; absent means all. */
  readonly room?: number
}

/** A document that may lend its schemes to those below it. */
export interface Scope {
  readonly key: string
  /** URL that the document was read from. */
  readonly url: string
  /** Pointer of the document there; absent when it stands alone. */
  readonly at?: string
  /** Only documents of this origin may borrow. */
  readonly origin: string
  /** The members that say something about schemes. */
  readonly document: StacDocument
  /** Key of the next one above. */
  readonly above?: string
}

/** Which limit was reached. */
export type LimitName = 'documents' | 'depth' | 'pages' | 'sample' | 'robots'

/** Something that was not followed. */
export interface Left {
  readonly url: string
  /** `CRAWL_OTHER_ORIGIN`, `CRAWL_LIMIT`, `PAGE_LOOP`, `LINK_REQUEST_FORBIDDEN`, or why an address was refused (`URL_*`). */
  readonly code: ErrorCode
  readonly message: string
  readonly limit?: LimitName
  /** True when the caller asked for that. */
  readonly asked: boolean
  /** How many things; 1 unless it says otherwise. */
  readonly count: number
}

/** What came of a job. */
export interface Outcome {
  /** The address that answered. */
  readonly url: string
  /** Documents that were read: 1, or as many as count in a page; 0 for a failure. */
  readonly documents: number
  readonly jobs: readonly Job[]
  readonly scopes: readonly Scope[]
  readonly left: readonly Left[]
  readonly failure?: { readonly code: ErrorCode; readonly message: string; readonly hint?: string }
  /** What to ask with the next time (RFC 9110 §13.1). */
  readonly etag?: string
  readonly modified?: string
  /** Hash of the schemes of parent documents: with other schemes, the same document can mean something else. */
  readonly above?: number
}

/** The key of a request. */
export function keyOf({ method, url, body }: Pick<Job, 'method' | 'url' | 'body'>): string {
  return body === undefined ? `${method} ${url}` : `${method} ${url} ${body}`
}

/** The first job of a crawl. */
export function startAt(address: string): Job {
  const url = withoutFragment(new URL(address))
  return linkedTo(url, { depth: 0, api: false, leaf: false, scope: undefined, level: 0, home: [originOf(url)] })
}

/** The job of a link: there are as many as documents, so all have one shape. */
export function linkedTo(url: string, { depth, api, leaf, scope, level, home, via }: Omit<Job, 'key' | 'url' | 'method' | 'headers'>): Job {
  return { key: keyOf({ method: 'GET', url }), url, method: 'GET', headers: {}, depth, level, api, home, scope, leaf, via }
}

/** The origin of an address as a `URL` writes it; files have one together. */
export function originOf(url: string): string {
  const origin = ORIGIN.of(url)
  return origin === 'null' && new URL(url).protocol === 'file:' ? 'file:' : origin
}

/** It is asked for at every turn. */
const ORIGIN = new LastOrigin()

/** The form in which addresses are compared: host in lower case, no default port, no fragment; a slash at the end counts. */
export function withoutFragment({ href }: URL): string {
  const end = href.indexOf('#')
  return end < 0 ? href : href.slice(0, end)
}

/** A job and what came of it. */
export interface Visit {
  readonly kind: 'visit'
  readonly job: Job
  readonly outcome: Outcome
  /** Absent when it could not be read, and when it was recalled. */
  readonly document?: StacDocument
  readonly bytes?: Uint8Array
  /** Documents above that may lend their schemes, nearest first. */
  readonly parents: readonly StacDocument[]
  /** Where each of the `parents` stands. */
  readonly parentPlaces: readonly ParentPlace[]
  /** False for what belongs to another part of a crawl in parts: it is read for its links only. */
  readonly mine: boolean
  /** `here`: by `recall`. `unchanged`: by `earlier`, and the server agrees. */
  readonly recalled?: 'here' | 'unchanged'
  readonly error?: AuthError
}

/** URL of what was read, and the pointer of the document in it. */
interface ParentPlace {
  readonly url: string
  readonly at: string
}

/** The crawl stopped before its end. */
export interface Stop {
  readonly kind: 'stop'
  readonly left: Left
}

/** The parents of what stands below nothing that lends. */
export const NO_PARENTS = { parents: [], parentPlaces: [] } as const

/** An outcome of nothing. */
export const NOTHING = { documents: 0, jobs: [], scopes: [], left: [] } as const

/** The members of a visit besides its position. */
export type Found = Partial<Visit> & Pick<Visit, 'outcome'>

/** Returns the parent documents whose schemes apply: those of the same origin. */
export function parentsAt(url: string, scopes: readonly Scope[]): Pick<Visit, 'parents' | 'parentPlaces'> {
  const origin = originOf(url)
  const lending = scopes.filter((scope) => scope.origin === origin)
  return { parents: lending.map(({ document }) => document), parentPlaces: lending.map(({ url, at = '' }) => ({ url, at })) }
}

/** Returns the outcome of a failed job; rethrows errors that are not of the library. */
export function failed(job: Job, thrown: unknown): Found {
  if (!isAuthError(thrown)) throw thrown
  const error = thrown
  const { code, message, hint } = error
  return { error, outcome: { ...NOTHING, url: job.url, failure: { code, message, ...(hint !== undefined && { hint }) } } }
}

/** Returns the finding for a URL that `robots.txt` disallows. */
export function forbidden(url: string): Left {
  return { url, code: 'CRAWL_LIMIT', message: 'robots.txt disallows it', limit: 'robots', asked: true, count: 1 }
}

/** 32 bits of a text: FNV-1a, and a last stir so that texts that differ at their ends do so in all bits. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** `count` of the texts, chosen by the seed alone and in the order in which they came. */
export function sampleOf<T>(things: readonly T[], count: number, seed: number, textOf: (thing: T) => string): readonly T[] {
  if (things.length <= count) return things
  const ranked = things.map((thing, index) => ({ index, rank: hashOf(`${seed} ${textOf(thing)}`) }))
  ranked.sort((one, other) => one.rank - other.rank || one.index - other.index)
  const chosen = new Set(ranked.slice(0, count).map(({ index }) => index))
  return things.filter((_, index) => chosen.has(index))
}
