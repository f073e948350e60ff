/** Rewrites STAC documents so that their URLs lead through the gateway. */
import { KeyedMutex } from '../../auth/session.ts'
import type { HttpResponse } from '../../http/message.ts'
import { DOCUMENT_LIMITS } from '../../stac/document.ts'
import { gatewayPath, withoutQuery } from './gateway-url.ts'
import { rewriteHrefs } from './rewrite.ts'
import type { Routes } from './routes.ts'

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
