/** Derives further jobs from a document that was read. */

import type { ErrorCode } from '../errors.ts'
import { isForbiddenHeader } from '../http/headers.ts'
import { queryValues, withQueryParameter } from '../http/message.ts'
import { type AddressProblem, addressOf, isAddressProblem } from '../http/url.ts'
import { isObject, type JsonObject, kindOf, own, ownString, type StacDocument, schemePlaces, wrappedMember } from '../stac/document.ts'
import { readRefs } from '../stac/target.ts'
import { canParseUrl } from '../text/can-parse-url.ts'
import {
  hashOf,
  type Job,
  keyOf,
  linkedTo,
  originOf,
  type Page,
  type Scope,
  type SkippedLink,
  sampleOf,
  skipped,
  type Via,
  withoutFragment,
} from './job.ts'
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
    if (page || !(isKnown || leaf)) this.#invalid(Object.hasOwn(document, 'type') ? NO_LIST : NO_TYPE)
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
    if (kind === 'collection' && items.length > 0 && (api || linksOf(document, 'item').length === 0)) this.#items(items, scope, api)
    else this.#follow(linksOf(document, 'item'), scope, api, true)
    if (lists.length > 0) this.#list(lists, scope)
    else if (isSearchOnly(document)) this.#items(linksOf(document, 'search').slice(0, 1), scope, api)
    else this.#follow(linksOf(document, 'child'), scope, api, false)
  }

  #list(links: readonly JsonObject[], scope: string | undefined): void {
    for (const { url, via } of this.#addresses(links))
      this.#add({ ...firstPage(url), depth: this.#job.depth, api: true, leaf: false, scope, via })
  }

  #items(links: readonly JsonObject[], scope: string | undefined, api: boolean): void {
    const depth = this.#depthBelow()
    const { pageSize = DEFAULTS.pageSize, sample } = this.#limits
    const size = String(Math.min(pageSize, sample ?? pageSize))
    for (const { url, via } of this.#addresses(links)) {
      const limited = queryValues(url, 'limit').length > 0 ? url : withQueryParameter(url, 'limit', size)
      if (depth + 1 > this.#maxDepth) this.#tooDeep++
      else this.#add({ ...firstPage(limited, sample), depth, api, leaf: false, scope, via })
    }
  }

  #follow(links: readonly JsonObject[], scope: string | undefined, api: boolean, leaf: boolean): void {
    const { sample, seed = 1, shard } = this.#limits
    const addresses = this.#addresses(links)
    const chosen = leaf && sample !== undefined ? sampleOf(addresses, sample, seed, ({ url }) => url) : addresses
    if (chosen.length < addresses.length)
      this.#left.push(skipped(this.#url, 'CRAWL_LIMIT', ONLY_SAMPLE, { ...SAMPLED, count: addresses.length - chosen.length }))
    const depth = this.#depthBelow() + 1
    const below = { depth, api, leaf, scope, level: this.#job.level + 1, home: this.#home, from: this.#url }
    for (const { url, via } of chosen) {
      const job = linkedTo(url, { ...below, via })
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

  /** Returns the links to follow and records the others. */
  #addresses(links: readonly JsonObject[]): readonly Address[] {
    const addresses: Address[] = []
    const refuse = (code: ErrorCode, link: JsonObject, problem: string) =>
      this.#left.push(skipped(this.#url, code, `its link ${link.rel}#${links.indexOf(link)} ${problem}`))
    for (const link of links) {
      if (isUnreadable(link)) {
        refuse('SCHEME_INVALID', link, UNREADABLE)
        continue
      }
      const url = resolveLink(ownString(link, 'href') ?? '', this.#url)
      if (typeof url !== 'string') refuse(url.code, link, `has a URL that ${url.message}`)
      else if (this.#mayGo(url)) addresses.push({ url, via: viaOf(link, this.#url) })
    }
    return addresses
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

const NO_LIST = 'its links are not followed: it is JSON, but not the type of document that the link declares'

const NO_TYPE = 'its links are not followed: it has no "type", such as Catalog'

const NO_LINKS = 'its links are not followed: "links" is not an array'

const SCOPE_MEMBERS = ['type', 'id', 'stac_version', 'stac_extensions', 'auth:schemes']

/** The URL of a link to follow. */
interface Address {
  readonly url: string
  readonly via: Via | undefined
}

/** Returns true when the document belongs to this shard. */
export function isMine(key: string, shard: CrawlLimits['shard']): boolean {
  return !shard || hashOf(key) % shard.of === shard.index - 1
}

const ONLY_SAMPLE = 'only a sample is read'

const SAMPLED = { limit: 'sample', asked: true } as const

/** Maximum size of a `next` request. */
const LONGEST_NEXT = 8192

/** The first page of a list; with `room`, of a list that is read in part. */
function firstPage(url: string, room?: number): Pick<Job, 'url' | 'method' | 'headers' | 'key' | 'page'> {
  const request = { url, method: 'GET', headers: {} } as const
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
 * Returns the request for the next page. A `next` link may set method, headers and body (STAC API paging): POST and headers only to the
 * origin of the page itself, headers only if they carry no credentials and do not frame or route the message. `merge` adds nothing: it
 * refers to the first request, which is a GET without headers.
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
  const request = requestOf(link, url)
  if ('code' in request) return { left: request }
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
  return { job: { ...job, body: undefined, ...request, key, level: job.level + 1, page: next, via: viaOf(link, url), from: url } }
}

function requestOf(link: JsonObject, base: string): Pick<Job, 'url' | 'method' | 'headers' | 'body'> | SkippedLink {
  const refused = (code: ErrorCode, problem: string) => skipped(base, code, `its next link ${problem}`)
  if (isUnreadable(link)) return refused('SCHEME_INVALID', UNREADABLE)
  const href = ownString(link, 'href') ?? ''
  const body = own(link, 'body')
  if (href.length + (isObject(body) ? JSON.stringify(body).length : 0) > LONGEST_NEXT) return refused('URL_INVALID', 'is longer than 8 kB')
  const url = resolveLink(href, base)
  if (typeof url !== 'string') return refused(url.code, `has a URL that ${url.message}`)
  const method = (ownString(link, 'method') ?? 'GET').toUpperCase()
  if (method !== 'GET' && method !== 'POST') return refused('LINK_REQUEST_FORBIDDEN', 'asks for a method other than GET and POST')
  if (method === 'POST' && originOf(url) !== originOf(base))
    return refused('LINK_REQUEST_FORBIDDEN', 'asks to send a body to another origin')
  const stated = Object.entries(isObject(own(link, 'headers')) ? (own(link, 'headers') as JsonObject) : {})
  const wrong = stated.find(
    ([name, value]) => typeof value !== 'string' || isForbiddenHeader(name) || isReserved(name) || /[\r\n\0]/.test(value),
  )
  if (wrong) return refused('LINK_REQUEST_FORBIDDEN', 'sets a header that documents may not set')
  // Another origin would get them with the user's credential for it.
  const kept = originOf(url) === originOf(base) ? stated : []
  const headers = Object.fromEntries(kept.map(([name, value]) => [name.toLowerCase(), String(value)]))
  if (method === 'GET') return { url, method, headers }
  return {
    url,
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(isObject(body) ? body : {}),
  }
}

/** Headers that carry credentials, or that servers read as another path, which may be outside of `sendTo`; documents may not set them. */
function isReserved(name: string): boolean {
  return /^(?:authorization|x-api-key|api-?key|dpop|x-(?:original|rewrite)-.*)$|token|secret|signature/i.test(name)
}

/** Returns the links with that relation that may lead to JSON; links without a type are included. */
function linksOf(document: unknown, rel: string): readonly JsonObject[] {
  const links = own(document, 'links')
  if (!Array.isArray(links)) return []
  return links.filter(
    (link): link is JsonObject => isObject(link) && ownString(link, 'rel') === rel && /json|^$/i.test(ownString(link, 'type') ?? ''),
  )
}

/** Returns true for a link that requires authentication without naming a valid scheme. It is not followed, because it may not be public. */
function isUnreadable(link: JsonObject): boolean {
  const { refs, malformedRefs } = readRefs(link, '')
  return malformedRefs !== undefined && refs.length === 0
}

/** Why such a link is not followed. */
const UNREADABLE = 'is malformed and not followed: its auth:refs is not a list of scheme names'

/** Returns what the link in the document at `url` says about access; undefined for a public one. */
function viaOf(link: JsonObject, url: string): Via | undefined {
  const { refs } = readRefs(link, '')
  return refs.length === 0 ? undefined : { url, refs: refs.slice(0, MOST_REFS) }
}

/** Maximum number of names in a message. */
const MOST_REFS = 3

/**
 * Returns the URL of a link without its fragment, or why it is not followed. The base is the URL of the linking document. Documents from
 * the network never lead to local files.
 */
function resolveLink(href: string, base: string): string | AddressProblem {
  const isFile = base.startsWith('file:')
  // Files refer to other files by relative references, and to the network by absolute URLs.
  const file = isFile && canParseUrl(href, base) ? new URL(href, base) : undefined
  if (file?.protocol === 'file:' && file.hostname === '') return withoutFragment(file)
  const url = addressOf(href, isFile ? ANYWHERE : { ...ANYWHERE, base })
  if (isAddressProblem(url)) return url
  return url.protocol === 's3:'
    ? { code: 'URL_SCHEME_FORBIDDEN', message: 'has the scheme "s3:", which a crawl does not read' }
    : withoutFragment(url)
}

/** Allows every origin here, because the transport checks the IP address that is dialled. */
const ANYWHERE = { secure: false, named: { has: () => true } } as const
