/** Derives further jobs from a document that was read. */

import type { ErrorCode } from '../errors.ts'
import { isObject, type JsonObject, kindOf, own, ownString, type StacDocument, schemePlaces, wrappedMember } from '../stac/document.ts'
import { readRefs } from '../stac/target.ts'
import {
  hashOf,
  type Job,
  type JobRequest,
  keyOf,
  linkedTo,
  originOf,
  type Page,
  type Scope,
  type SkippedLink,
  sampleOf,
  skipped,
  type Via,
} from './job.ts'
import { requestOf, withPageSize } from './link-request.ts'
import { type CrawlLimits, DEFAULTS } from './settings.ts'

/** The jobs that a document leads to, and the links that are not followed. */
interface Expansion {
  readonly jobs: readonly Job[]
  readonly scopes: readonly Scope[]
  readonly left: readonly SkippedLink[]
  /** Documents that count: all of a page, unless only a sample is wanted. */
  readonly documents: number
}

/** Returns the outcome of a document that was read from `url` for a job. */
export function expand(job: Job, document: StacDocument, url: string, limits: CrawlLimits): Expansion {
  return new Expander(job, url, limits).expand(document)
}

/** Returns the identity of a document: the id of an Item is unique within its Collection only. */
function markOf(document: unknown): string | undefined {
  const id = ownString(document, 'id')
  return id === undefined ? undefined : `${ownString(document, 'collection') ?? ''} ${id}`
}

/** Returns true for the landing page of an API, and for a Collection with `conformsTo`. */
function isApi(document: StacDocument): boolean {
  const classes = own(document, 'conformsTo')
  return Array.isArray(classes) && classes.length > 0
}

/**
 * Returns true for an API with the conformance classes "Core" and "Item Search" only: its Items are listed by a search without parameters.
 */
function isSearchOnly(document: StacDocument): boolean {
  return isApi(document) && ['child', 'item', 'items'].every((rel) => linksOf(document, rel).length === 0)
}

class Expander {
  readonly #job: Job
  readonly #home: readonly string[]
  readonly #url: string
  readonly #limits: CrawlLimits
  readonly #jobs: Job[] = []
  readonly #scopes: Scope[] = []
  readonly #left: SkippedLink[] = []
  #tooDeep = 0

  constructor(job: Job, url: string, limits: CrawlLimits) {
    // After a redirect of the start, both origins belong to the crawl.
    this.#home = job.depth === 0 && job.level === 0 ? [...new Set([...job.home, originOf(url)])] : job.home
    this.#job = job
    this.#url = url
    this.#limits = limits
  }

  expand(document: StacDocument): Expansion {
    const isList = kindOf(document) === 'wrapper' || (this.#job.page !== undefined && Array.isArray(own(document, 'children')))
    const documents = isList ? this.#page(document) : this.#single(document)
    if (this.#tooDeep > 0) this.#left.push(this.#deep())
    return { jobs: this.#jobs, scopes: this.#scopes, left: this.#left, documents }
  }

  #single(document: StacDocument): number {
    const { leaf, page, key, api } = this.#job
    const isKnown = kindOf(document) !== 'unknown'
    if (page) this.#invalid(NO_LIST)
    else if (!(isKnown || leaf)) this.#invalid(Object.hasOwn(document, 'type') ? NO_KIND : NO_TYPE)
    else if (!leaf) this.#below(document, key, api || isApi(document))
    return 1
  }

  #invalid(message: string): void {
    this.#left.push(skipped(this.#url, 'RESPONSE_INVALID', message))
  }

  /** Links that are not objects with `rel` and `href` are ignored. */
  #requireLinks(document: StacDocument): void {
    const links = own(document, 'links')
    if (links !== undefined && !Array.isArray(links)) this.#invalid(NO_LINKS)
  }

  /** Reads a list of Items or Collections; a start may be one as well. */
  #page(document: StacDocument): number {
    const member = Array.isArray(own(document, 'children')) ? 'children' : wrappedMember(document)
    const list = own(document, member)
    if (!Array.isArray(list)) this.#invalid(NO_LIST)
    this.#requireLinks(document)
    const inner = Array.isArray(list) ? list : []
    const page = this.#job.page ?? { number: 1 }
    const job = { ...this.#job, home: this.#home, page }
    const first = markOf(inner[0])
    if (isRepeated(page, first)) {
      this.#left.push(skipped(this.#url, 'PAGE_LOOP', 'the page repeats the links of an earlier page'))
      return 0
    }
    const wanted = inner.slice(0, page.room)
    if (member !== 'features')
      for (const [index, collection] of wanted.entries())
        if (isObject(collection)) this.#below(collection, `${job.key}#${index}`, job.api, `/${member}/${index}`)
    const next = following(job, document, this.#url, inner, first, this.#limits)
    if (next.left) this.#left.push(next.left)
    if (next.job && this.#mayGo(next.job.url)) this.#jobs.push(next.job)
    return wanted.length
  }

  /** Reads the links of a Catalog or Collection at the pointer `at` of the response. */
  #below(document: StacDocument, key: string, api: boolean, at = ''): void {
    const kind = kindOf(document)
    if (kind === 'item' || kind === 'wrapper') return
    this.#requireLinks(document)
    const scope = this.#scope(document, key, at)
    const lists = api ? [...linksOf(document, 'data').slice(0, 1), ...linksOf(document, 'children').slice(0, 1)].slice(0, 1) : []
    const items = linksOf(document, 'items').slice(0, 1)
    if (kind === 'collection' && items.length > 0 && (api || linksOf(document, 'item').length === 0)) this.#items(items, at, scope, api)
    else this.#follow(linksOf(document, 'item'), at, scope, api, true)
    if (lists.length > 0) this.#list(lists, at, scope)
    else if (isSearchOnly(document)) this.#items(searchOf(document), at, scope, api)
    else this.#follow(linksOf(document, 'child'), at, scope, api, false)
  }

  #list(links: readonly Link[], at: string, scope: string | undefined): void {
    for (const { request, via } of this.#requests(links, at))
      this.#add({ ...firstPage(request), depth: this.#job.depth, api: true, leaf: false, scope, via })
  }

  #items(links: readonly Link[], at: string, scope: string | undefined, api: boolean): void {
    const depth = this.#depthBelow()
    const { pageSize = DEFAULTS.pageSize, sample } = this.#limits
    const size = Math.min(pageSize, sample ?? pageSize)
    for (const { request, via } of this.#requests(links, at)) {
      if (depth + 1 > this.#maxDepth) this.#tooDeep++
      else this.#add({ ...firstPage(withPageSize(request, size), sample), depth, api, leaf: false, scope, via })
    }
  }

  #follow(links: readonly Link[], at: string, scope: string | undefined, api: boolean, leaf: boolean): void {
    const { sample, seed = 1, shard } = this.#limits
    const requests = this.#requests(links, at)
    const chosen = leaf && sample !== undefined ? sampleOf(requests, sample, seed, ({ request }) => request.url) : requests
    if (chosen.length < requests.length)
      this.#left.push(skipped(this.#url, 'CRAWL_LIMIT', ONLY_SAMPLE, { ...SAMPLED, count: requests.length - chosen.length }))
    const depth = this.#depthBelow() + 1
    const below = { depth, api, leaf, scope, level: this.#job.level + 1, home: this.#home, from: this.#url }
    for (const { request, via } of chosen) {
      const job = linkedTo(request, { ...below, via })
      if (depth > this.#maxDepth) this.#tooDeep++
      // Items have no documents below them: only the shard that they belong to reads them.
      else if (!leaf || isMine(job.key, shard)) this.#jobs.push(job)
    }
  }

  /** A Collection in a page is one level deeper than the page. */
  #depthBelow(): number {
    return this.#job.page ? this.#job.depth + 1 : this.#job.depth
  }

  #add(request: Omit<Job, 'level' | 'home' | 'from'>): void {
    this.#jobs.push({ ...request, level: this.#job.level + 1, home: this.#home, from: this.#url })
  }

  /** Returns the requests of the links to follow, and records the others. */
  #requests(links: readonly Link[], at: string): readonly LinkedRequest[] {
    const requests: LinkedRequest[] = []
    for (const link of links) {
      const request = requestOf(link.object, this.#url)
      if ('code' in request) this.#left.push(notFollowed(link, at, this.#url, request.code, request.message))
      else if (this.#mayGo(request.url)) requests.push({ request, via: viaOf(link.object, this.#url) })
    }
    return requests
  }

  #mayGo(url: string): boolean {
    const { origins, visit } = this.#limits
    const origin = originOf(url)
    if (origins === 'cross' || this.#home.includes(origin) || visit?.includes(origin)) return true
    if (origins === undefined)
      this.#left.push(skipped(url, 'CRAWL_OTHER_ORIGIN', `it is on ${origin}, which is not an origin of the crawl`))
    return false
  }

  /** Stores the document's own schemes for documents below it; returns the key of the nearest schemes. */
  #scope(document: StacDocument, key: string, at: string): string | undefined {
    const above = this.#job.scope
    if (schemePlaces(document).length === 0) return above
    const kept = Object.fromEntries(SCOPE_MEMBERS.flatMap((name) => (Object.hasOwn(document, name) ? [[name, document[name]]] : [])))
    this.#scopes.push({
      key,
      url: this.#url,
      ...(at !== '' && { at }),
      origin: originOf(this.#url),
      document: kept,
      ...(above !== undefined && { above }),
    })
    return key
  }

  get #maxDepth(): number {
    return this.#limits.maxDepth ?? DEFAULTS.depth
  }

  #deep(): SkippedLink {
    const asked = this.#limits.maxDepth !== undefined
    const message = `${this.#tooDeep} of its links are deeper than ${this.#maxDepth} levels`
    return skipped(this.#url, 'CRAWL_LIMIT', message, { limit: 'depth', asked, count: this.#tooDeep })
  }
}

const NO_LIST = 'it has no array "features", "collections" or "children", so no documents are read from this page'

const NO_TYPE = 'it has no "type", such as "Catalog", so its links are not followed'

const NO_KIND = 'its "type" is not Feature, Collection, Catalog or FeatureCollection, so its links are not followed'

const NO_LINKS = 'its "links" is not an array, so no links are followed'

const SCOPE_MEMBERS = ['type', 'id', 'stac_version', 'stac_extensions', 'auth:schemes']

/** A link and its pointer in the document, such as `/links/3`. */
interface Link {
  readonly object: JsonObject
  readonly pointer: string
}

/** The request of a link to follow. */
interface LinkedRequest {
  readonly request: JobRequest
  readonly via: Via | undefined
}

/** @param at pointer of the document with the link in the response of `url` */
function notFollowed({ object, pointer }: Link, at: string, url: string, code: ErrorCode, why: string): SkippedLink {
  return skipped(url, code, `the link "${object.rel}" at ${at}${pointer} is not followed: ${why}`)
}

/** Returns true when the document belongs to this shard. */
export function isMine(key: string, shard: CrawlLimits['shard']): boolean {
  return !shard || hashOf(key) % shard.of === shard.index - 1
}

const ONLY_SAMPLE = 'only a sample is read'

const SAMPLED = { limit: 'sample', asked: true } as const

/** The first page of a list; with `room`, of a list that is read in part. */
function firstPage(request: JobRequest, room?: number): JobRequest & Pick<Job, 'key' | 'page'> {
  return { ...request, key: keyOf(request), page: { number: 1, ...(room !== undefined && { room }) } }
}

/** The continuation of a page: a job, the reason why there is none, or nothing. */
interface Following {
  readonly job?: Job
  readonly left?: SkippedLink
}

/** Returns true when the page contains only documents of an earlier page. */
function isRepeated(page: Page, first: string | undefined): boolean {
  return first !== undefined && (first === page.before || first === page.mark)
}

/**
 * Returns the request for the next page.
 *
 * @param document the page, read from `url`
 * @param inner the documents in it
 * @param first identity of its first document
 */
function following(
  job: Job,
  document: JsonObject,
  url: string,
  inner: readonly unknown[],
  first: string | undefined,
  limits: CrawlLimits,
): Following {
  const [link] = linksOf(document, 'next')
  if (!job.page || !link) return {}
  const { page } = job
  const stop = (code: ErrorCode, message: string, more?: Partial<SkippedLink>) => ({ left: skipped(url, code, message, more) })
  const room = page.room === undefined ? undefined : page.room - inner.length
  if (room !== undefined && room <= 0) return stop('CRAWL_LIMIT', ONLY_SAMPLE, SAMPLED)
  if (inner.length === 0) return stop('PAGE_LOOP', 'the page is empty but has a next page')
  const request = requestOf(link.object, url, job)
  if ('code' in request) return { left: notFollowed(link, '', url, request.code, request.message) }
  const key = keyOf(request)
  if (key === job.key) return stop('PAGE_LOOP', 'the page links to itself as the next page')
  if (page.number >= (limits.maxPages ?? Number.POSITIVE_INFINITY))
    return stop('CRAWL_LIMIT', `the limit of ${limits.maxPages} pages is reached`, { limit: 'pages', asked: true })
  const mark = (page.number & (page.number - 1)) === 0 ? first : page.mark
  const next: Page = {
    number: page.number + 1,
    ...(first !== undefined && { before: first }),
    ...(mark !== undefined && { mark }),
    ...(room !== undefined && { room }),
  }
  return { job: { ...job, body: undefined, ...request, key, level: job.level + 1, page: next, via: viaOf(link.object, url), from: url } }
}

/** Returns the links with that relation that may lead to JSON; links without a type are included. */
function linksOf(document: unknown, rel: string): readonly Link[] {
  const links = own(document, 'links')
  if (!Array.isArray(links)) return []
  return links.flatMap((object, index) => (isObject(object) && isTo(object, rel) ? [{ object, pointer: `/links/${index}` }] : []))
}

function isTo(link: JsonObject, rel: string): boolean {
  return ownString(link, 'rel') === rel && /json|^$/i.test(ownString(link, 'type') ?? '')
}

/** Returns the link to a search by GET, else by POST: a landing page has one for each. */
function searchOf(document: StacDocument): readonly Link[] {
  const links = linksOf(document, 'search')
  const isGet = ({ object }: Link) => /^(?:get)?$/i.test(ownString(object, 'method') ?? '')
  return [links.find(isGet) ?? links[0]].flatMap((link) => link ?? [])
}

/** Returns what the link in the document at `url` says about access; undefined for a public one. */
function viaOf(link: JsonObject, url: string): Via | undefined {
  const { refs } = readRefs(link, '')
  return refs.length === 0 ? undefined : { url, refs: refs.slice(0, MOST_REFS) }
}

/** Maximum number of names in a message. */
const MOST_REFS = 3
