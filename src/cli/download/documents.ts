/** Reads the documents of a download, from the inputs or by a crawl. */

import type { Auth } from '../../auth/auth.ts'
import { isMine } from '../../crawl/expand.ts'
import { crawl } from '../../crawl/index.ts'
import { type AuthError, IntegrityError, isAuthError, SelectionError } from '../../errors.ts'
import { isAddress } from '../../http/url.ts'
import type { SourceDocument } from '../../node/download/index.ts'
import { DOCUMENT_LIMITS, isObject, kindOf, own, ownString, type StacDocument, wrappedMember } from '../../stac/document.ts'
import { parseDocument, tooLarge } from '../../stac/parse-document.ts'
import { assetOf, linkOf, type Target } from '../../stac/target.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { forUrl } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import type { Omissions } from '../crawl/omissions.ts'
import { foreignNext, sendFrom, startsOf } from '../crawl/starts.ts'
import type { Failure } from '../exit-code.ts'
import { usageError } from '../exit-code.ts'
import { lintInputs } from '../inputs/input-files.ts'
import { type Piece, piecesOf } from '../inputs/pieces.ts'
import type { Io } from '../io.ts'
import { type CrawlOption, crawlSettings, linkNamed, relations } from '../options.ts'
import { readDocument } from '../read-document.ts'

/** Options for reading inputs. */
interface Reading {
  /** True if copies of the documents are written, so complete documents are required. */
  readonly copies: boolean
  /** The part of the documents that is read. */
  readonly shard?: CrawlOption['shard']
  /** True if an object with `href` is read as a target, and any other in NDJSON or stdin is an error; otherwise it is ignored. */
  readonly targets?: boolean
  /** Called for each input that cannot be read; the others are processed. */
  fail(failure: Failure): void
  /** Called with each document, or list of them, that was read from a URL of the user. */
  readonly onRead?: (document: object, address: string) => void
}

/** Reads documents from files, folders, globs, URLs and stdin (`-`). Errors: `ABORTED`, `USAGE` for rows that cannot be copied. */
export async function* givenDocuments(
  names: readonly string[],
  { copies, shard, targets = false, fail, onRead }: Reading,
  { io, diagnostics }: Context,
  auth: () => Promise<Auth>,
): AsyncGenerator<SourceDocument> {
  const unfollowed = new Unfollowed()
  for await (const input of lintInputs(names, { gitignore: false })) {
    if ('error' in input) {
      // The hint names an option of `lint`.
      fail({ ...input, error: input.error.code === 'USAGE' ? usageError(input.error.message) : input.error })
      continue
    }
    const shown = isAddress(input.name) ? forUrl(input.name) : input.name
    try {
      for await (const piece of piecesOf(input, io, auth)) {
        if (copies && piece.task.text === undefined && piece.documents !== 0 && !piece.oversized)
          throw usageError(`--rewrite-hrefs cannot write the items of "${shown}": only some columns of a Parquet file are read`)
        const isNdjson = piece.task.line !== undefined || isNdjsonName(input.name)
        if (targets && isNdjson && isBlank(piece)) continue
        const expected = { ...(targets && isNdjson ? DOCUMENT_OR_TARGET : OBJECT), mayBeForeign: input.isListed === true && !isNdjson }
        for (const document of documentsIn(piece, shown, expected, fail)) {
          unfollowed.look(document.document, shown)
          if (isAddress(input.name)) onRead?.(document.document, document.url ?? input.name)
          for (const one of separate(document, shard !== undefined)) if (isMine(identityOf(one.document as StacDocument), shard)) yield one
        }
      }
    } catch (error) {
      if (!isAuthError(error) || error.code === 'ABORTED' || error.code === 'USAGE') throw error
      fail({ name: shown, error })
    }
  }
  for (const message of unfollowed.messages()) diagnostics.warn({ code: 'CRAWL_LIMIT', message })
}

/** Returns true for stdin, and for a name of NDJSON, which may have only one line. */
function isNdjsonName(name: string): boolean {
  return name === '-' || /\.(?:ndjson|(?:geo)?jsonl)(?:\.gz)?$/i.test(name)
}

/** Returns true for NDJSON without a line: what a filter or an empty part of a divided list leaves over. */
function isBlank({ task: { text } }: Piece): boolean {
  return text !== undefined && Buffer.from(text).toString('latin1').trim() === ''
}

/** What a document, or each element of a list, must be. */
interface Expectation {
  readonly accepts: (value: unknown) => boolean
  /** What it is otherwise. */
  readonly otherwise: string
  readonly hint?: string
  /** True for a file that the user did not name: it may be a list of anything. */
  readonly mayBeForeign: boolean
}

const OBJECT = { accepts: isObject, otherwise: 'not an object' }

const DOCUMENT_OR_TARGET = {
  accepts: (value: unknown) => kindOf(value) !== 'unknown' || ownString(value, 'href') !== undefined,
  otherwise: 'neither a STAC document nor a target',
  hint: 'a target is an object with href, auth:refs and auth:schemes',
}

function documentsIn(
  { task: { text, value, line, url, parents }, oversized }: Piece,
  name: string,
  expected: Expectation,
  fail: (failure: Failure) => void,
): SourceDocument[] {
  const where = `"${name}"${line === undefined ? '' : `, line ${line}`}`
  const refuse = (error: AuthError) => {
    const hint = (error.code === 'DOC_NOT_JSON' && line === undefined && notJsonHint(name)) || error.hint
    const named = new IntegrityError(error.code, `${where}: ${error.message}`, { ...error, ...(hint !== undefined && { hint }) })
    fail({ name: where, error: named })
  }
  try {
    if (oversized) throw tooLarge(DOCUMENT_LIMITS.other)
    const isList = text !== undefined && isJsonList(text)
    const document = text === undefined ? (value as StacDocument) : parsed(text)
    const all = isList ? (own(document, 'features') as readonly unknown[]) : [document]
    const accepted = all.filter(expected.accepts)
    if (accepted.length < Math.max(all.length, 1) && !expected.mayBeForeign) refuse(notAccepted(all, isList, expected))
    if (accepted.length === 0) return []
    const read = isList ? { ...document, features: accepted } : document
    return [{ document: read, ...baseOf(document, url), ...(parents && { parents }) }]
  } catch (error) {
    if (!isAuthError(error)) throw error
    refuse(error)
    return []
  }
}

/** Returns the error for a document, or for the elements of a list, that are not what is expected; one for a list of any length. */
function notAccepted(all: readonly unknown[], isList: boolean, { accepts, otherwise, hint }: Expectation): AuthError {
  const fields = hint === undefined ? {} : { hint }
  if (!isList) return new SelectionError('TARGET_NOT_FOUND', `this is ${otherwise}`, fields)
  const first = all.findIndex((one) => !accepts(one))
  if (first < 0) return new SelectionError('TARGET_NOT_FOUND', 'the list is empty')
  const others = all.filter((one) => !accepts(one)).length - 1
  const more = others > 0 ? ` (and ${others} more)` : ''
  return new SelectionError('TARGET_NOT_FOUND', `element /${first} of the list is ${otherwise}${more}`, fields)
}

/** Parses a document; a list is read as a FeatureCollection. */
function parsed(text: string | Uint8Array): StacDocument {
  if (!isJsonList(text)) return parseDocument(text)
  const list = typeof text === 'string' ? text : new TextDecoder().decode(text)
  return parseDocument(`{"type":"FeatureCollection","features":${list.replace(/^\ufeff/, '')}}`)
}

function isJsonList(text: string | Uint8Array): boolean {
  return /^(?:\xef\xbb\xbf|\ufeff)?\s*\[/.test(typeof text === 'string' ? text : Buffer.from(text.subarray(0, 100)).toString('latin1'))
}

function notJsonHint(name: string): string | undefined {
  if (name === '-') return 'standard input must hold documents; give the names of files as arguments, for example with xargs'
  return isAddress(name) ? 'to download a single file, use stac-auth fetch URL -o FILE' : undefined
}

/** Returns the text that decides the shard of a document: the same on every machine and in every order. */
function identityOf(document: StacDocument): string {
  return `${ownString(document, 'collection') ?? ''} ${ownString(document, 'id') ?? ownString(document, 'href') ?? ''}`
}

/** Splits a list into its documents: one from a file, because each may have its own base URL, and any one for a shard. */
function* separate(source: SourceDocument, always: boolean): Generator<SourceDocument> {
  const { document, url, parents = [] } = source
  const inner = kindOf(document) === 'wrapper' ? own(document, wrappedMember(document as StacDocument)) : undefined
  if ((url !== undefined && !always) || !Array.isArray(inner)) yield source
  else for (const part of inner) if (isObject(part)) yield { document: part, ...baseOf(part, url), parents: [document, ...parents] }
}

/** Names of documents with links that only a crawl follows. */
class Unfollowed {
  readonly #lists = new Set<string>()
  readonly #catalogs = new Set<string>()

  look(document: object, name: string): void {
    const kind = kindOf(document)
    const links = own(document, 'links')
    const has = (...rels: readonly string[]) => Array.isArray(links) && links.some((link) => rels.includes(ownString(link, 'rel') ?? ''))
    if (kind === 'wrapper' && has('next')) this.#lists.add(name)
    if ((kind === 'catalog' || kind === 'collection') && has('item', 'items', 'child')) this.#catalogs.add(name)
  }

  messages(): readonly string[] {
    const kinds = [
      { names: this.#lists, what: 'has further pages' },
      { names: this.#catalogs, what: 'links to further documents' },
    ]
    return kinds.flatMap(({ names: [first, ...others], what }) => {
      const more = others.length > 0 ? ` (and ${others.length} more)` : ''
      return first === undefined ? [] : [`${first} ${what}${more}: --crawl reads them too`]
    })
  }
}

/** Crawls from the inputs; unread and skipped documents are added to `omissions`. Errors: `USAGE`, `ABORTED`. */
export async function* crawledDocuments(
  names: readonly string[],
  options: CrawlOption,
  { io, diagnostics }: Context,
  auth: () => Promise<Auth>,
  omissions: Omissions,
  onRead?: (document: object, address: string) => void,
): AsyncGenerator<SourceDocument> {
  const { start, failures } = await startsOf(names)
  for (const failure of failures) omissions.fail(failure)
  if (start.length === 0) return
  for await (const visit of crawl({ ...crawlSettings(options), start, send: sendFrom(start, auth), signal: io.signal })) {
    omissions.add(visit)
    if (visit.kind === 'stop' || !visit.document) continue
    const warning = options.crossOrigin ? await foreignNext(visit, auth) : undefined
    if (warning) diagnostics.warn(warning)
    const { document, outcome, mine, parents } = visit
    if (!mine || outcome.documents === 0) continue
    const source = { document: beginningOf(document, outcome.documents), parents, ...baseOf(document, outcome.url) }
    if (isAddress(outcome.url)) onRead?.(source.document, outcome.url)
    yield source
  }
}

/** Cuts a page to its first documents. */
function beginningOf(document: StacDocument, documents: number): StacDocument {
  const children = own(document, 'children')
  // A list of `children` is read as a list of collections.
  if (kindOf(document) === 'unknown' && Array.isArray(children)) return { collections: children.slice(0, documents) }
  if (kindOf(document) !== 'wrapper') return document
  const member = wrappedMember(document)
  const inner = own(document, member)
  return Array.isArray(inner) && inner.length > documents ? { ...document, [member]: inner.slice(0, documents) } : document
}

/** Selects a link of each document; knows the relations of those without it. */
export class LinkChoice {
  readonly #relations = new Set<string>();

  /** Yields the link of that relation, `REL` or `REL#n`, of each document. */
  async *in(documents: AsyncIterable<SourceDocument>, rel: string): AsyncGenerator<Target> {
    for await (const source of documents)
      for (const { document, url, parents = [] } of documentsOf(source)) {
        const link = linkNamed(document as StacDocument, rel, { parents, ...(url !== undefined && { url }) })
        if (link) yield link
        else for (const known of relations(document as StacDocument)) this.#relations.add(known)
      }
  }

  /** The relations of documents without the link. */
  get relations(): readonly string[] {
    return [...this.#relations]
  }
}

/**
 * Returns the target of an `s3://` URL that the user gave: signed with the credential that allows it, if there is one. Errors: `USAGE` for an
 * invalid URL, `CONFIG_INVALID` for the credentials.
 */
export async function targetOfUrl(url: string, auth: () => Promise<Auth>): Promise<Target> {
  if (!canParseUrl(url)) throw usageError(`"${forUrl(url)}" is not a URL`)
  const targetWith = (given: object) => {
    const document = {
      type: 'Collection',
      id: new URL(url).host,
      'auth:schemes': { url: { type: 's3' } },
      assets: { url: { href: url, ...given } },
    }
    return assetOf(document, 'url')
  }
  const signed = targetWith({ 'auth:refs': ['url'] })
  const { code, refs } = await (await auth()).explain(signed)
  const isUncovered = code === undefined && refs.some((ref) => ref.code !== undefined && ref.code !== 'LOGIN_REQUIRED')
  return isUncovered ? targetWith({}) : signed
}

/** Reads documents again that were read from URLs of the user. */
export class ReadAgain {
  readonly #addresses = new WeakMap<object, string>()

  /** Remembers where a document, or a list of them, was read. */
  readonly remember = (document: object, address: string): void => {
    this.#addresses.set(document, address)
  }

  /**
   * Returns a document as it is now: from its `self` link on the origin where it was read, else from where it was read. Undefined for a
   * document from elsewhere, and when it is not there any more. Errors: those of `readDocument`.
   */
  async read({ document, parents = [] }: SourceDocument, io: Io, auth: () => Promise<Auth>): Promise<SourceDocument | undefined> {
    const list = [document, ...parents].find((one) => this.#addresses.has(one))
    const address = list && this.#addresses.get(list)
    if (address === undefined) return undefined
    const self = ownString(linkOf(document, 'self')?.object, 'href')
    const isOwn = self !== undefined && canParseUrl(self, address) && new URL(self, address).origin === new URL(address).origin
    const read = await readDocument(isOwn ? new URL(self, address).href : address, io, auth)
    const [same] = [...documentsOf(read)].filter((one) => ownString(one.document, 'id') === ownString(document, 'id'))
    return same && { ...same, parents: [...(same.parents ?? []), ...parents] }
  }
}

/** Yields a document, or the documents of a list. */
function* documentsOf(source: SourceDocument): Generator<SourceDocument> {
  if (kindOf(source.document) === 'wrapper') yield* separate(source, true)
  else yield source
}

/** Returns the base URL of a document: the URL it was fetched from, else its `self` link. */
function baseOf(document: StacDocument, fetchedFrom: string | undefined): { readonly url?: string } {
  if (fetchedFrom !== undefined && isAddress(fetchedFrom)) return { url: fetchedFrom }
  const self = ownString(linkOf(document, 'self')?.object, 'href')
  return self !== undefined && isAddress(self) && canParseUrl(self) ? { url: self } : {}
}
