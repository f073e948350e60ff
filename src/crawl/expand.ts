/** What a document leads to. */

import { kindOf, type StacDocument, schemePlaces, wrappedMember } from '../stac/document.ts'
import { isObject, type JsonObject, own, ownString } from '../stac/json.ts'
import { hashOf, sampleOf } from './hash.ts'
import { type Job, type Left, linkedTo, originOf, type Scope, type Via } from './job.ts'
import { isUnreadable, linksOf, UNREADABLE, viaOf } from './links.ts'
import { firstPage, following, isRepeated, listAt } from './pages.ts'
import { resolveLink } from './resolve.ts'
import { type CrawlLimits, DEFAULTS } from './settings.ts'

/** The jobs that a document gives, and what it gives that is left out. */
export interface Expansion {
  readonly jobs: readonly Job[]
  readonly scopes: readonly Scope[]
  readonly left: readonly Left[]
  /** Documents that count: all of a page unless only some of them are wanted. */
  readonly documents: number
}

/** Everything below a document that was read from `url` for a job. */
export function expand(job: Job, document: StacDocument, url: string, limits: CrawlLimits): Expansion {
  return new Expander(job, url, limits).expand(document)
}

/** What tells a document from others: an Item's id is its own within its Collection. */
function markOf(document: unknown): string | undefined {
  const id = ownString(document, 'id')
  return id === undefined ? undefined : `${ownString(document, 'collection') ?? ''} ${id}`
}

/** True for the landing page of an API, and for a Collection that says what it conforms to. */
function isApi(document: StacDocument): boolean {
  const classes = own(document, 'conformsTo')
  return Array.isArray(classes) && classes.length > 0
}

/** An API of the classes "Core" and "Item Search" alone: its Items are found by the search for everything. */
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
  readonly #left: Left[] = []
  #tooDeep = 0

  constructor(job: Job, url: string, limits: CrawlLimits) {
    // A start that was answered from elsewhere is at home there too.
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
    if (page || !(isKnown || leaf)) this.#invalid(NO_LIST)
    else if (!leaf) this.#below(document, key, api || isApi(document))
    return 1
  }

  #invalid(message: string): void {
    this.#left.push({ url: this.#url, code: 'RESPONSE_INVALID', message, asked: false, count: 1 })
  }

  /** Links in another form, such as an object by relation, lead nowhere. */
  #requireLinks(document: StacDocument): void {
    const links = own(document, 'links')
    if (links !== undefined && !Array.isArray(links)) this.#invalid(NO_LINKS)
  }

  /** A list of Items or Collections; a start may be one as well. */
  #page(document: StacDocument): number {
    const member = Array.isArray(own(document, 'children')) ? 'children' : wrappedMember(document)
    const list = own(document, member)
    if (!Array.isArray(list)) this.#invalid(NO_LIST)
    this.#requireLinks(document)
    const inner = Array.isArray(list) ? list : []
    const page = this.#job.page ?? { number: 1, original: { headers: {} } }
    const job = { ...this.#job, home: this.#home, page }
    const first = markOf(inner[0])
    if (isRepeated(page, first)) {
      this.#left.push({
        url: this.#url,
        code: 'PAGE_LOOP',
        message: 'the page shows again what an earlier one has shown',
        asked: false,
        count: 1,
      })
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

  /** The links of a Catalog or Collection, which stands at the pointer `at` of what was read. */
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
      this.#add({ ...listAt(url), depth: this.#job.depth, api: true, leaf: false, scope, via })
  }

  #items(links: readonly JsonObject[], scope: string | undefined, api: boolean): void {
    const depth = this.#depthBelow()
    for (const { url, via } of this.#addresses(links)) {
      if (depth + 1 > this.#maxDepth) this.#tooDeep++
      else this.#add({ ...firstPage(url, this.#limits, this.#limits.sample), depth, api, leaf: false, scope, via })
    }
  }

  #follow(links: readonly JsonObject[], scope: string | undefined, api: boolean, leaf: boolean): void {
    const { sample, seed = 1, shard } = this.#limits
    const addresses = this.#addresses(links)
    const chosen = leaf && sample !== undefined ? sampleOf(addresses, sample, seed, ({ url }) => url) : addresses
    if (chosen.length < addresses.length)
      this.#left.push({
        url: this.#url,
        code: 'CRAWL_LIMIT',
        message: 'a sample was asked for',
        limit: 'sample',
        asked: true,
        count: addresses.length - chosen.length,
      })
    const depth = this.#depthBelow() + 1
    const below = { depth, api, leaf, scope, level: this.#job.level + 1, home: this.#home }
    for (const { url, via } of chosen) {
      const job = linkedTo(url, { ...below, via })
      if (depth > this.#maxDepth) this.#tooDeep++
      // Items are leaves: nobody but their own part needs them.
      else if (!leaf || isMine(job.key, shard)) this.#jobs.push(job)
    }
  }

  /** A Collection in a page stands one deeper than the page. */
  #depthBelow(): number {
    return this.#job.page ? this.#job.depth + 1 : this.#job.depth
  }

  #add(request: Omit<Job, 'level' | 'home'>): void {
    this.#jobs.push({ ...request, level: this.#job.level + 1, home: this.#home })
  }

  /** Where the links lead, without what may not be followed. */
  #addresses(links: readonly JsonObject[]): readonly Address[] {
    const addresses: Address[] = []
    for (const link of links) {
      if (isUnreadable(link)) {
        this.#left.push({ url: this.#url, code: 'SCHEME_INVALID', message: `a link of it ${UNREADABLE}`, asked: false, count: 1 })
        continue
      }
      const url = resolveLink(ownString(link, 'href') ?? '', this.#url)
      if (typeof url !== 'string')
        this.#left.push({
          url: this.#url,
          code: url.code,
          message: `a link of it has an address that ${url.message}`,
          asked: false,
          count: 1,
        })
      else if (this.#mayGo(url)) addresses.push({ url, via: viaOf(link, this.#url) })
    }
    return addresses
  }

  #mayGo(url: string): boolean {
    const { origins, visit } = this.#limits
    const origin = originOf(url)
    if (origins === 'cross' || this.#home.includes(origin) || visit?.includes(origin)) return true
    if (origins === undefined)
      this.#left.push({
        url,
        code: 'CRAWL_OTHER_ORIGIN',
        message: `it is on ${origin}, where the crawl did not start`,
        asked: false,
        count: 1,
      })
    return false
  }

  /** The document's own schemes, kept for those below; the key of the nearest schemes. */
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

  #deep(): Left {
    const asked = this.#limits.maxDepth !== undefined
    const message = `${this.#tooDeep} of its links are deeper than ${this.#maxDepth} levels`
    return { url: this.#url, code: 'CRAWL_LIMIT', message, limit: 'depth', asked, count: this.#tooDeep }
  }
}

const NO_LIST = 'it is JSON, but not what was linked to: what is below it is not known'
const NO_LINKS = 'its links are no list: what is below it is not known'
const SCOPE_MEMBERS = ['type', 'id', 'stac_version', 'stac_extensions', 'auth:schemes']

/** Where a link leads. */
interface Address {
  readonly url: string
  readonly via: Via | undefined
}

/** True when the document belongs to this part of the crawl. */
export function isMine(key: string, shard: CrawlLimits['shard']): boolean {
  return !shard || hashOf(key) % shard.of === shard.index - 1
}
