/** Copies of STAC documents in another language. */
import type { AuthError } from '../../../errors.ts'
import type { TranslateManyOptions } from '../translate-many.ts'
import type { TranslateParams } from '../translate-text.ts'
import type { TranslationClient } from '../translation-client.ts'

/** Options of `translateCatalog`: those of `translateText`, except those about tags, which descriptions need. */
export interface CatalogTranslationOptions
  extends Omit<TranslateParams, 'tag_handling' | 'outline_detection' | 'non_splitting_tags' | 'splitting_tags' | 'ignore_tags'>,
    Pick<TranslateManyOptions, 'signal' | 'concurrency' | 'reportingTag'> {
  /** True: a text that was not translated stays in the original language and is listed in `missing`; it is no error. */
  readonly partial?: boolean
}

/** A copy of a document in another language. */
export interface TranslatedCatalog {
  /** The copy: the text of the original, with other texts and the fields of the Language extension. */
  readonly text: string
  /** Number of texts that were translated. */
  readonly places: number
  /** Number of texts that were sent; equal texts are sent once. */
  readonly sent: number
  /** Characters of the texts that were sent, as Unicode code points. */
  readonly characters: number
  /** JSON pointers of texts of which a part is left in the original language, because the service lost its markup. */
  readonly kept: readonly string[]
  /** With `partial`: JSON pointers of texts of which a part was not translated, and why. */
  readonly missing?: readonly { readonly pointer: string; readonly error: AuthError }[]
}

/**
 * Translates the titles, descriptions and keywords of a catalog, collection, item, or list of these, and declares the language in the copy
 * with the Language extension. Descriptions keep their CommonMark: code, URLs and HTML are never translated. A document that is declared to
 * be in the target language stays unchanged.
 *
 * Errors: `DOC_NOT_JSON`, `DOC_TOO_LARGE`, `DOC_TOO_DEEP`, `DOC_TOO_MANY`; `TARGET_NOT_FOUND` for JSON that is not a STAC document; those
 * of `translateMany`: `BATCH_INCOMPLETE` if a text was not translated, unless `partial` is set.
 *
 * @param text the document as it is in its file
 * @example
 * const { text, characters } = await translateCatalog(client, await readFile('catalog.json', 'utf8'), { target_lang: 'de' })
 * await writeFile('catalog.de.json', text)
 */
export async function translateCatalog(
  client: Pick<TranslationClient, 'translateMany'>,
  text: string,
  options: CatalogTranslationOptions,
): Promise<TranslatedCatalog> {
  if (typeof text !== 'string')
    throw new TypeError('translateCatalog takes the text of the document as it is in its file: not bytes, and not the parsed document')
  // Loaded on first use, because most clients never translate a catalog.
  const { catalogCopy } = await import('./catalog-copy.ts')
  return catalogCopy(client, text, options)
}
