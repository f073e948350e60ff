/** Reads documents: by their URL where the person gave it, by the references of a link where a catalog did. */
import { AuthError, type ErrorCode, kindOf, linkOf, type StacDocument, type Target } from 'stac-auth'
import type { Wallet } from './wallet.ts'

export interface OpenDocument {
  readonly url: string
  readonly text: string
  readonly document: StacDocument
  /** Those that were read before and may lend their schemes, nearest first. */
  readonly parents: readonly StacDocument[]
}

export interface Reader {
  /** Errors: those of `fetch`, `HTTP_<status>`, `RESPONSE_INVALID` for what is no document of a catalog. */
  read(url: string, signal: AbortSignal): Promise<OpenDocument>
  /**
   * Reads a list of an API, by the references of the link to it; without references, by its URL if that is below the document that leads to
   * it and the person gave the URL of that document. Errors: those of `read`.
   */
  list(url: string, link: Target, from: OpenDocument, signal: AbortSignal): Promise<StacDocument>
  /** From now on that URL is read by the references of this link. */
  follow(url: string, link: Target): void
  /** The link by whose references the URL is read; undefined for a URL that the person gave. */
  linkTo(url: string): Target | undefined
  /** The person gave that URL: it is read with whatever credential covers it, whatever a catalog has said of it. */
  typed(url: string): void
}

/** More is not a document but a file. */
const MAX_LENGTH = 64 * 2 ** 20
const LENDERS = ['collection', 'parent', 'root']

/** A reader that remembers what it has read. */
export function createReader(wallet: Wallet): Reader {
  const links = new Map<string, Target>()
  const known = new Map<string, StacDocument>()

  function parentsOf(document: StacDocument, url: string): readonly StacDocument[] {
    const addresses = LENDERS.flatMap((rel) => {
      const href = linkOf(document, rel)?.href
      return href !== undefined && URL.canParse(href, url) ? [new URL(href, url).href] : []
    })
    const others = [...new Set(addresses)].filter((address) => address !== url)
    return others.map((address) => known.get(address)).filter((parent) => parent !== undefined)
  }

  async function load(request: Target | string, url: string, signal: AbortSignal): Promise<Pick<OpenDocument, 'text' | 'document'>> {
    const response = await wallet.auth.fetch(request, { signal })
    const { host } = new URL(url)
    if (!response.ok) throw problem(`HTTP_${response.status}`, `${host} answers ${response.status}`)
    const text = await response.text()
    const document = text.length <= MAX_LENGTH ? parsed(text) : undefined
    if (!document) throw problem('DOC_NOT_JSON', `what ${host} has at this address is no catalog, collection, item or list of them`)
    return { text, document }
  }

  return {
    follow: (url, link) => links.set(url, link),
    linkTo: (url) => links.get(url),
    typed: (url) => links.delete(url),
    async list(url, link, from, signal) {
      const isByUrl = link.refs.length === 0 && !links.has(from.url) && isBelow(url, from.url)
      return (await load(isByUrl ? url : { ...link, href: url }, url, signal)).document
    },
    async read(url, signal) {
      const { text, document } = await load(links.get(url) ?? url, url, signal)
      known.set(url, document)
      return { url, text, document, parents: parentsOf(document, url) }
    },
  }
}

/** True for URLs in the folder that the other URL is or begins with. */
function isBelow(url: string, above: string): boolean {
  const [inner, outer] = [new URL(url), new URL(above)]
  return inner.origin === outer.origin && inner.pathname.startsWith(`${outer.pathname.replace(/\/+$/, '')}/`)
}

function problem(code: ErrorCode, message: string): AuthError {
  return new AuthError(code, message)
}

function parsed(text: string): StacDocument | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return kindOf(value) === 'unknown' ? undefined : (value as StacDocument)
  } catch {
    return undefined
  }
}
