import type { Auth } from '../../auth/auth.ts'
import { crawl } from '../../crawl/index.ts'
import type { SourceDocument } from '../../node/download/index.ts'
import { kindOf, type StacDocument, wrappedMember } from '../../stac/document.ts'
import { own } from '../../stac/json.ts'
import type { Context } from '../context.ts'
import { foreignNext } from '../crawl/foreign-next.ts'
import type { Omissions } from '../crawl/omissions.ts'
import { type CrawlOption, crawlSettings } from '../crawl/options.ts'
import { sendFrom, startsOf } from '../crawl/starts.ts'
import { baseOf } from './base-of.ts'

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
