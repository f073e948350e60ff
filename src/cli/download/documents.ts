/** The documents that inputs hold by themselves, without following any link. */
import type { Auth } from '../../auth/auth.ts'
import { crawl } from '../../crawl/index.ts'
import { type AuthError, IntegrityError, isAuthError } from '../../errors.ts'
import type { SourceDocument } from '../../node/download/index.ts'
import { kindOf, type StacDocument, wrappedMember } from '../../stac/document.ts'
import { DOCUMENT_LIMITS, isObject, own, ownString } from '../../stac/json.ts'
import { parseDocument, tooLarge } from '../../stac/parse-document.ts'
import { linkOf } from '../../stac/target.ts'
import { forUrl } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import type { Omissions } from '../crawl/omissions.ts'
import { type CrawlOption, crawlSettings } from '../crawl/options.ts'
import { foreignNext, sendFrom, startsOf } from '../crawl/starts.ts'
import type { Failure } from '../exit-code.ts'
import { type Piece, piecesOf } from '../inputs/pieces.ts'
import { lintInputs } from '../lint/lint-inputs.ts'
import { isAddress } from '../read-document.ts'
import { usageError } from '../usage.ts'

/** What becomes of documents, and of inputs that are none. */
interface Reading {
  /** Documents are going to be written again, so they must be there as a whole. */
  readonly copies: boolean
  /** Hears what could not be read; the others go on. */
  fail(failure: Failure): void
}

/** Documents of files, folders, globs, addresses and standard input (`-`). Errors: `ABORTED`, `USAGE` for what cannot be copied. */
export async function* givenDocuments(
  names: readonly string[],
  { copies, fail }: Reading,
  { io, diagnostics }: Context,
  auth: () => Promise<Auth>,
): AsyncGenerator<SourceDocument> {
  const unfollowed = new Unfollowed()
  for await (const input of lintInputs(names, { gitignore: false })) {
    if ('error' in input) {
      // Its hint is about an option of another command.
      fail({ ...input, error: input.error.code === 'USAGE' ? usageError(input.error.message) : input.error })
      continue
    }
    const shown = isAddress(input.name) ? forUrl(input.name) : input.name
    try {
      for await (const piece of piecesOf(input, io, auth)) {
        if (copies && piece.task.text === undefined && piece.documents > 0 && !piece.oversized) throw rowsOnly(shown)
        for (const document of documentsIn(piece, shown, fail)) {
          unfollowed.look(document.document, shown)
          yield* separate(document)
        }
      }
    } catch (error) {
      if (!isAuthError(error) || error.code === 'ABORTED' || error.code === 'USAGE') throw error
      fail({ name: shown, error })
    }
  }
  for (const message of unfollowed.messages()) diagnostics.warn({ code: 'CRAWL_LIMIT', message })
}

function documentsIn(
  { task: { text, value, line, url, parents }, oversized }: Piece,
  name: string,
  fail: (failure: Failure) => void,
): SourceDocument[] {
  const where = `"${name}"${line === undefined ? '' : `, line ${line}`}`
  try {
    if (oversized) throw tooLarge(DOCUMENT_LIMITS.other)
    const document = text === undefined ? value : parsed(text)
    if (!isObject(document)) return []
    return [{ document, ...baseOf(document, url), ...(parents && { parents }) }]
  } catch (error) {
    if (!isAuthError(error)) throw error
    fail({ name: where, error: named(error, where, isAddress(name) && line === undefined) })
    return []
  }
}

/** A list of documents is read as the features of a collection. */
function parsed(text: string | Uint8Array): StacDocument {
  const start =
    typeof text === 'string' ? text.slice(0, 100) : Buffer.from(text.buffer, text.byteOffset, Math.min(text.length, 100)).toString('latin1')
  if (!/^(?:\xef\xbb\xbf|\ufeff)?\s*\[/.test(start)) return parseDocument(text)
  const list = typeof text === 'string' ? text : new TextDecoder().decode(text)
  return parseDocument(`{"type":"FeatureCollection","features":${list.replace(/^\ufeff/, '')}}`)
}

/** Of the rows of Parquet files only what matters for access is read. */
function rowsOnly(name: string): AuthError {
  return usageError(`"${name}" holds rows, of which only some columns are read: --rewrite-hrefs has no whole items to write`)
}

/** Says which input it was. */
function named(error: AuthError, where: string, isAddress: boolean): AuthError {
  const hint = isAddress && error.code === 'DOC_NOT_JSON' ? 'for a single file: stac-auth fetch URL -o FILE' : error.hint
  return new IntegrityError(error.code, `${where}: ${error.message}`, { ...error, ...(hint !== undefined && { hint }) })
}

/** The documents of a list that was in a file have bases of their own. */
function* separate(source: SourceDocument): Generator<SourceDocument> {
  const { document, url, parents = [] } = source
  const inner = kindOf(document) === 'wrapper' ? own(document, wrappedMember(document as StacDocument)) : undefined
  if (url !== undefined || !Array.isArray(inner)) yield source
  else for (const part of inner) if (isObject(part)) yield { document: part, ...baseOf(part, undefined), parents: [document, ...parents] }
}

/** Links that only a crawl follows. */
class Unfollowed {
  readonly #lists = new Set<string>()
  readonly #catalogs = new Set<string>()

  look(document: object, name: string): void {
    const kind = kindOf(document)
    const has = (...rels: readonly string[]) => {
      const links = own(document, 'links')
      return Array.isArray(links) && links.some((link) => rels.includes(ownString(link, 'rel') ?? ''))
    }
    if (kind === 'wrapper' && has('next')) this.#lists.add(name)
    if ((kind === 'catalog' || kind === 'collection') && has('item', 'items', 'child')) this.#catalogs.add(name)
  }

  *messages(): Generator<string> {
    const [list] = this.#lists
    if (list !== undefined) yield `${list} is one page of a list${more(this.#lists)}: with --crawl the next ones are read as well`
    const [catalog] = this.#catalogs
    if (catalog !== undefined) yield `${catalog} leads to further documents${more(this.#catalogs)}: with --crawl they are read as well`
  }
}

function more({ size }: ReadonlySet<string>): string {
  return size > 1 ? ` (and ${size - 1} more)` : ''
}

/** Everything that inputs lead to; `omissions` hears what could not be read and what was left out. Errors: `USAGE`, `ABORTED`. */
export async function* crawledDocuments(
  names: readonly string[],
  options: CrawlOption,
  { io, diagnostics }: Context,
  auth: () => Promise<Auth>,
  omissions: Omissions,
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
    if (mine && outcome.documents > 0)
      yield { document: beginningOf(document, outcome.documents), parents, ...baseOf(document, outcome.url) }
  }
}

/** A page of which only the first documents count. */
function beginningOf(document: StacDocument, documents: number): StacDocument {
  const children = own(document, 'children')
  // Lists of a third kind are read as one of those that hold targets.
  if (kindOf(document) === 'unknown' && Array.isArray(children)) return { collections: children.slice(0, documents) }
  if (kindOf(document) !== 'wrapper') return document
  const member = wrappedMember(document)
  const inner = own(document, member)
  return Array.isArray(inner) && inner.length > documents ? { ...document, [member]: inner.slice(0, documents) } : document
}

/** The base of relative addresses: where a document was fetched from, for a file its `self` link. */
function baseOf(document: StacDocument, fetchedFrom: string | undefined): { readonly url?: string } {
  if (fetchedFrom !== undefined && isAddress(fetchedFrom)) return { url: fetchedFrom }
  const self = ownString(linkOf(document, 'self')?.object, 'href')
  return self !== undefined && isAddress(self) && URL.canParse(self) ? { url: self } : {}
}
