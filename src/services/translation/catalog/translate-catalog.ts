/** Copies of STAC documents in another language. */
import type { TranslateManyOptions, TranslateParams } from '../translate-text.ts'
import type { TranslationClient } from '../translation-client.ts'

/** How catalogs are translated: all choices for texts but those about tags, which the markup of descriptions needs. */
export interface CatalogTranslationOptions
  extends Omit<TranslateParams, 'tag_handling' | 'outline_detection' | 'non_splitting_tags' | 'splitting_tags' | 'ignore_tags'>,
    Pick<TranslateManyOptions, 'signal' | 'concurrency' | 'reportingTag'> {}

/** A copy in another language, and what became of its texts. */
export interface TranslatedCatalog {
  /** Character by character that of the original but for the texts and the fields of the Language extension. */
  readonly text: string
  /** Places of texts that were translated. */
  readonly places: number
  /** Texts that were sent; what stands twice is sent once. */
  readonly sent: number
  /** Characters of the texts that were sent, as Unicode code points. */
  readonly characters: number
  /** Pointers of texts of which something is left in the original language, because the service lost markup in it. */
  readonly kept: readonly string[]
}

/**
 * Translates the titles, descriptions and keywords of a catalog, collection, item, or list of these, into a copy that says so by the
 * Language extension. Descriptions keep their CommonMark: code, addresses and HTML are never translated. A document that says it is in
 * the target language already stays as it is.
 *
 * Errors: `DOC_NOT_JSON`, `DOC_TOO_LARGE`, `DOC_TOO_DEEP`, `DOC_TOO_MANY`; `TARGET_NOT_FOUND` for JSON that is no STAC document; those of
 * `translateMany`, all of whose texts must succeed: `BATCH_INCOMPLETE`.
 *
 * @param text the document as it is in its file
 */
export async function translateCatalog(
  client: Pick<TranslationClient, 'translateMany'>,
  text: string,
  options: CatalogTranslationOptions,
): Promise<TranslatedCatalog> {
  // Most clients never see a catalog.
  const { catalogCopy } = await import('./catalog-copy.ts')
  return catalogCopy(client, text, options)
}
