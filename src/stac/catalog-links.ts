/** The catalogs of a document. */
import { own, ownString } from './document.ts'

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
