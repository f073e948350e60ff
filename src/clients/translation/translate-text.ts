/** Translates texts: one request. */
import { checkBodySize, LARGEST_TRANSLATION } from './body-size.ts'
import { checkTexts, checkTranslation } from './check-translation.ts'
import { named } from './named.ts'
import { type Result, withCount } from './result.ts'
import type { TranslateTextParams, Translations } from './translate-params.ts'
import type { TranslationCallOptions } from './translation-options.ts'
import type { TranslationService } from './translation-service.ts'

/**
 * The translations of up to 50 texts, in their order; a text alone counts as a list of one. The whole request has at most 128 KiB.
 *
 * Errors: `REQUEST_INVALID`, `REQUEST_TOO_LARGE` before anything is sent; `RESPONSE_INVALID` when the number of translations is not that
 * of the texts; those of every call.
 */
export function translateText(
  service: TranslationService,
  params: TranslateTextParams,
  options: TranslationCallOptions = {},
): Promise<Result<Translations>> {
  return named('translateText', () => translated(service, params, options))
}

async function translated(
  service: TranslationService,
  { text, ...params }: TranslateTextParams,
  options: TranslationCallOptions,
): Promise<Result<Translations>> {
  const validation = service.validation(options)
  const texts = typeof text === 'string' ? [text] : text
  checkTexts(texts, service.maxTextsPerRequest, validation)
  checkTranslation(params, validation)
  const body = { text: texts, ...params }
  if (validation !== 'off') checkBodySize({ ...body, ...options.extraBody }, LARGEST_TRANSLATION, options.encoding)
  const result = await service.call<Translations>('translateText', { body }, options)
  return withCount(result, result.translations, texts.length, 'translateText')
}
