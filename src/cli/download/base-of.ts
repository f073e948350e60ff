import type { StacDocument } from '../../stac/document.ts'
import { ownString } from '../../stac/json.ts'
import { linkOf } from '../../stac/target.ts'
import { isAddress } from '../read-document.ts'

/** The base of relative addresses: where a document was fetched from, for a file its `self` link. */
export function baseOf(document: StacDocument, fetchedFrom: string | undefined): { readonly url?: string } {
  if (fetchedFrom !== undefined && isAddress(fetchedFrom)) return { url: fetchedFrom }
  const self = ownString(linkOf(document, 'self')?.object, 'href')
  return self !== undefined && isAddress(self) && URL.canParse(self) ? { url: self } : {}
}
