/** Answers with STAC documents whose URLs lead through the gateway. */
import type { HttpResponse } from '../../http/message.ts'
import { DOCUMENT_LIMITS } from '../../stac/document.ts'
import { gatewayPath, withoutQuery } from './gateway-url.ts'
import { rewriteHrefs } from './rewrite.ts'
import type { Routes } from './routes.ts'

/** A body that was read as far as a document may be long. */
export interface CollectedBody {
  readonly bytes: Uint8Array
  /** What follows when the body is longer than any document. */
  readonly rest?: AsyncIterator<Uint8Array>
}

/** Reads a decoded body up to the limit of a document. Errors: those of the transport. */
export async function collected(response: HttpResponse): Promise<CollectedBody> {
  const chunks: Uint8Array[] = []
  let size = 0
  const source = response.chunks?.()[Symbol.asyncIterator]()
  for (let next = await source?.next(); next && !next.done; next = await source?.next()) {
    chunks.push(next.value)
    size += next.value.length
    if (size > DOCUMENT_LIMITS.other && source) return { bytes: Buffer.concat(chunks), rest: source }
  }
  return { bytes: Buffer.concat(chunks) }
}

/** Where a document is rewritten for. */
export interface RewriteContext {
  readonly routes: Pick<Routes, 'allows'>
  /** Base URL of the gateway, with its capability. */
  readonly base: string
}

/**
 * Returns the document with the URLs that the gateway requests replaced by its own; the same bytes for anything else. Other URLs stay: a
 * program may request what is public from its server.
 */
export async function rewritten(
  body: Uint8Array,
  { requested, answered }: { readonly requested: string; readonly answered: string },
  { routes, base }: RewriteContext,
): Promise<Uint8Array> {
  // A signed URL is secret, and its document is found by the URL that was requested.
  const bare = withoutQuery(answered)
  const url = /^https?:/.test(bare) && (await routes.allows(bare)) ? bare : requested
  const urlFor = async (href: string) => {
    const path = gatewayPath(href)
    return path !== undefined && (await routes.allows(href)) ? base + path : undefined
  }
  return rewriteHrefs(body, { url, gatewayUrl: base + gatewayPath(requested), urlFor })
}
