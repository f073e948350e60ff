/** What documents say about where their files are. Nothing here is trusted. */
import { own, ownString } from './document.ts'
import { serviceOf } from './object-address.ts'
import { storagesOf } from './storage.ts'
import type { Target } from './target.ts'

/** Relations whose links lead to the catalog of a document. */
const CATALOG_LINKS = ['self', 'root', 'parent', 'collection']

/** Returns the URL of a document, and those of its links to catalogs; links of documents without a URL must be absolute. */
export function catalogsOf(document: object, url?: string): readonly string[] {
  const links = own(document, 'links')
  const hrefs = (Array.isArray(links) ? links : []).flatMap((link) => {
    const href = ownString(link, 'href')
    return CATALOG_LINKS.includes(ownString(link, 'rel') ?? '') && href !== undefined ? [href] : []
  })
  return [...(url === undefined ? [] : [url]), ...hrefs]
}

/** Returns the endpoints of the object stores that may have a target. */
export function endpointsOf(target: Target): readonly string[] {
  return storagesOf(target).flatMap((storage) => serviceOf(storage).endpoint ?? [])
}
