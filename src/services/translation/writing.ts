/** Rephrases and corrects texts, with one request each. */
import { ValidationError } from '../client/errors.ts'
import type { LanguageCode } from './languages.ts'
import { checkBodySize, checkTexts } from './translate-text.ts'
import { named, type Result, type TranslationCallOptions, type TranslationService, withCount } from './translation-service.ts'

/** Parameters of `rephraseText` (`POST /v2/write/rephrase`): a style or a tone, not both. */
export interface RephraseTextParams {
  /** One or more texts, together at most 10 KiB. */
  readonly text: string | readonly string[]
  /** The language of the texts; default: detected. */
  readonly target_lang?: LanguageCode
  /** The style to write in. */
  readonly writing_style?: 'default' | `${'' | 'prefer_'}${'academic' | 'business' | 'casual' | 'simple'}` | (string & {})
  /** The tone to write in. */
  readonly tone?: 'default' | `${'' | 'prefer_'}${'confident' | 'diplomatic' | 'enthusiastic' | 'friendly'}` | (string & {})
}

type CorrectTextParams = Pick<RephraseTextParams, 'text' | 'target_lang'>

/** An improved text. */
export interface Improvement {
  /** The rephrased or corrected text. */
  readonly text: string
  /** Language of the result. */
  readonly target_language: string
  /** Language that was detected in the text. */
  readonly detected_source_language: string
}

interface Improvements {
  readonly improvements: readonly Improvement[]
}

/** Maximum size of a whole request in bytes. */
const LARGEST = 10 * 1024
/** The service limits the size of a request, not the number of texts. */
const ANY_NUMBER = Number.POSITIVE_INFINITY

/**
 * Returns improved texts. Errors: `REQUEST_INVALID`, `REQUEST_TOO_LARGE` (10 KiB) before anything is sent, `RESPONSE_INVALID`, those
 * of every call.
 */
export function rephraseText(
  service: TranslationService,
  params: RephraseTextParams,
  options: TranslationCallOptions = {},
): Promise<Result<Improvements>> {
  return named('rephraseText', async () => {
    if (service.validation(options) === 'strict') checkChoice(params)
    return improved(service, 'rephraseText', params, options)
  })
}

/** Returns texts with corrected spelling and grammar. Errors: as of {@link rephraseText}. */
export function correctText(
  service: TranslationService,
  params: CorrectTextParams,
  options: TranslationCallOptions = {},
): Promise<Result<Improvements>> {
  return named('correctText', () => improved(service, 'correctText', params, options))
}

function checkChoice({ writing_style: style = 'default', tone = 'default' }: RephraseTextParams): void {
  if (style !== 'default' && tone !== 'default')
    throw new ValidationError('REQUEST_INVALID', 'writing_style and tone cannot be used together; nothing was sent', { field: 'tone' })
}

async function improved(
  service: TranslationService,
  operation: 'rephraseText' | 'correctText',
  { text, ...params }: CorrectTextParams,
  options: TranslationCallOptions,
): Promise<Result<Improvements>> {
  const validation = service.validation(options)
  const texts = typeof text === 'string' ? [text] : text
  checkTexts(texts, ANY_NUMBER, validation)
  const body = { text: texts, ...params }
  if (validation === 'strict') checkBodySize({ ...body, ...options.extraBody }, LARGEST, options.encoding)
  const result = await service.call<Improvements>(operation, { body }, options)
  return withCount(result, result.improvements, texts.length, operation)
}
