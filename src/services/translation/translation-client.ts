/** The client of the translation service. */

import { requireOptions, ValidationError } from '../client/errors.ts'
import type { ClientEvents } from '../client/events.ts'
import { encodeForm } from '../client/form.ts'
import { asMembers, type CallInput, type Interceptor, type Method } from '../client/request.ts'
import type { ApiResponse } from '../client/response.ts'
import { type Admin, adminOf, type Usage, withFunctions } from './admin.ts'
import type { DocumentParams, DocumentSource } from './document-upload.ts'
import { type DocumentSink, Documents, type DocumentTranslationOptions, type TranslatedDocument } from './documents.ts'
import { type Glossaries, type GlossariesV2, glossariesOf, glossariesV2Of } from './glossaries.ts'
import { type Languages, languagesOf } from './languages.ts'
import { checkSurrogates } from './operations.ts'
import { type Quality, qualityOf } from './quality/quality.ts'
import { type StyleRules, styleRulesOf, type TranslationMemories, translationMemoriesOf } from './style-rules.ts'
import { type TranslatedTexts, type TranslateManyOptions, translateMany } from './translate-many.ts'
import {
  type Improvement,
  improveText,
  type RephraseTextParams,
  type TranslateParams,
  type Translation,
  translateText,
} from './translate-text.ts'
import {
  named,
  type Result,
  type TranslationCallOptions,
  type TranslationClientOptions,
  TranslationService,
  withTag,
} from './translation-service.ts'
import { VoiceJobs } from './voice/jobs.ts'
import { Voice } from './voice/voice.ts'

/**
 * A client of the translation service: translates texts and documents, and has the other operations of the service. Parameters and records
 * have the names of the service. Nothing is loaded or connected before the first call; the key is sent to the host of the service only.
 *
 * Errors of the constructor: `CONFIG_INVALID`, `CREDENTIAL_VALUE_INVALID`, `URL_INSECURE`. Of calls: those of `ApiClient`, and
 * `ValidationError` for parameters that the service would refuse.
 *
 * @example
 * const client = new TranslationClient({ apiKey: process.env.TRANSLATION_KEY })
 * const { translations } = await client.translateText({ text: ['Hello'], target_lang: 'DE' })
 */
export class TranslationClient {
  /** Usage reports and keys of an organization. */
  readonly admin: Admin
  /** Translations of documents. */
  readonly documents: Documents
  /** Glossaries with one or more dictionaries. */
  readonly glossaries: Glossaries
  /** Glossaries of version 2 of the API, with one dictionary. */
  readonly glossariesV2: GlossariesV2
  /** The languages of the service and their features. */
  readonly languages: Languages
  /** Evaluations of the quality of translations. */
  readonly quality: Quality
  /** Lists of style rules. */
  readonly styleRules: StyleRules
  /** The translation memories of the account. */
  readonly translationMemories: TranslationMemories
  /** Live transcription and translation of speech. */
  readonly voice: Voice
  /** Transcription and translation of recordings. */
  readonly voiceJobs: VoiceJobs
  readonly #service: TranslationService
  readonly #options: TranslationClientOptions

  constructor(options: TranslationClientOptions) {
    requireOptions(options, 'TranslationClient')
    const service = new TranslationService(options)
    this.#options = options
    this.#service = service
    this.admin = adminOf(service)
    this.documents = new Documents(service)
    this.glossaries = glossariesOf(service)
    this.glossariesV2 = glossariesV2Of(service)
    this.languages = languagesOf(service)
    this.quality = qualityOf(service)
    this.styleRules = styleRulesOf(service)
    this.translationMemories = translationMemoriesOf(service)
    this.voice = new Voice(service)
    this.voiceJobs = new VoiceJobs(service)
  }

  /** Origin of the service; `undefined` while it depends on a key that was not read yet. */
  get origin(): string | undefined {
    return this.#service.origin
  }

  /**
   * Translates up to 50 texts, at most 128 KiB together, and returns the translations in their order. Errors: `REQUEST_INVALID`,
   * `REQUEST_TOO_LARGE` before anything is sent, `RESPONSE_INVALID`, those of every call.
   *
   * @example await client.translateText({ text: 'Hello', target_lang: 'DE', formality: 'prefer_more' })
   */
  translateText(
    params: TranslateParams & { readonly text: string | readonly string[] },
    options: TranslationCallOptions = {},
  ): Promise<Result<{ readonly translations: readonly Translation[] }>> {
    return translateText(this.#service, params, options)
  }

  /**
   * Translates any number of texts in requests of up to 50 texts and 128 KiB. A text that fails has its own outcome; once the quota is used
   * up (`HTTP_456`), nothing more is sent.
   *
   * @example for await (const outcome of client.translateMany(texts, { target_lang: 'DE' })) console.log(outcome)
   */
  translateMany(
    texts: Iterable<string> | AsyncIterable<string>,
    params: TranslateParams,
    options: TranslateManyOptions = {},
  ): TranslatedTexts {
    return translateMany(this.#service, texts, params, options)
  }

  /** Uploads a document, waits for its translation and downloads it: the same as `documents.translate`. */
  translateDocument(
    source: DocumentSource,
    sink: DocumentSink,
    params: DocumentParams,
    options: DocumentTranslationOptions = {},
  ): Promise<TranslatedDocument> {
    return this.documents.translate(source, sink, params, options)
  }

  /**
   * Returns rephrased texts, in their order. Errors: `REQUEST_INVALID` for a style and a tone together, `REQUEST_TOO_LARGE` for more than
   * 10 KiB.
   */
  rephraseText(
    params: RephraseTextParams,
    options: TranslationCallOptions = {},
  ): Promise<Result<{ readonly improvements: readonly Improvement[] }>> {
    return improveText(this.#service, 'rephraseText', params, options)
  }

  /** Returns texts with corrected spelling and grammar, in their order. Errors: `REQUEST_TOO_LARGE` for more than 10 KiB. */
  correctText(
    params: Pick<RephraseTextParams, 'text' | 'target_lang'>,
    options: TranslationCallOptions = {},
  ): Promise<Result<{ readonly improvements: readonly Improvement[] }>> {
    return improveText(this.#service, 'correctText', params, options)
  }

  /** Returns the usage of the account in the current period, and its limits. */
  usage(options: TranslationCallOptions = {}): Promise<Result<Usage>> {
    return this.#service.call('usage', {}, options, withFunctions)
  }

  /** Returns the languages of version 2 of the API. @deprecated `languages.list` returns more. */
  languagesV2(
    params: { readonly type?: 'source' | 'target' } = {},
    options: TranslationCallOptions = {},
  ): Promise<Result<readonly { readonly language: string; readonly name: string; readonly supports_formality?: boolean }[]>> {
    return this.#service.call('languagesV2', { query: params }, options)
  }

  /**
   * Sends a request to any path of the service and returns the whole response. The body is one of `json`, `form` and `body`; `body` is sent
   * unchanged with `contentType`. `GET` is retried as `safe`, everything else as `unsafe` without `replay`. Errors: `REQUEST_INVALID`.
   *
   * @example const { data } = await client.request('GET', '/v2/usage')
   */
  async request<T = unknown>(
    method: Method,
    path: string,
    {
      query,
      json,
      headers,
      replay,
      form,
      body: content,
      contentType,
    }: Pick<TranslationCallOptions, 'headers' | 'replay'> & {
      readonly query?: Readonly<Record<string, unknown>>
      readonly json?: unknown
      readonly form?: Readonly<Record<string, unknown>>
      readonly body?: NonNullable<CallInput['content']>
      readonly contentType?: string
    } = {},
    options: TranslationCallOptions = {},
  ): Promise<ApiResponse<T>> {
    return named(`${method} request`, async () => {
      if (form && content !== undefined)
        throw new ValidationError('REQUEST_INVALID', 'form and body cannot be used together; nothing was sent', { field: 'form' })
      checkSurrogates(json)
      const encoded = form
        ? { content: encodeForm(asMembers(form, 'form'), { arrays: 'repeat' }), contentType: 'application/x-www-form-urlencoded' }
        : { ...(content !== undefined && { content }), ...(contentType !== undefined && { contentType }) }
      const all = { ...options, ...(headers && { headers: { ...options.headers, ...headers } }), ...(replay && { replay }) }
      const api = await this.#service.api()
      return api.request<T>(method, path, { ...(query && { query }), ...(json !== undefined && { body: json }), ...encoded }, withTag(all))
    })
  }

  /**
   * Adds a listener of the events of `ApiClient` and returns a function that removes it.
   *
   * @example client.on('retry', ({ operation, delayMs }) => console.error(operation, delayMs))
   */
  on<Name extends keyof ClientEvents>(event: Name, listener: (payload: ClientEvents[Name]) => void): () => void {
    return this.#service.client.on(event, listener)
  }

  /** Adds an interceptor of every attempt, after those that were added before. */
  use(interceptor: Interceptor): this {
    this.#service.client.use(interceptor)
    return this
  }

  /**
   * Returns the same client with another key: with separate limits and the same connections. Without `baseUrl` and `plan` the key selects
   * the host.
   */
  withCredential(apiKey: NonNullable<TranslationClientOptions['apiKey']>): TranslationClient {
    const { auth: _auth, ...options } = this.#options
    return new TranslationClient({ ...options, apiKey })
  }

  /** Returns the origin only, so that a printed client shows no secret. */
  toJSON(): object {
    return { origin: this.origin }
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `TranslationClient { ${this.origin ?? 'host by key'} }`
  }
}
