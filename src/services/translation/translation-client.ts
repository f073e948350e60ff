/** The client of the translation service. */

import { requireOptions, ValidationError } from '../client/errors.ts'
import type { ClientEvents } from '../client/events.ts'
import { encodeForm } from '../client/form.ts'
import { asMembers, type CallInput, type Interceptor, type Method } from '../client/request.ts'
import type { ApiResponse } from '../client/response.ts'
import { Admin, type Usage, usage } from './admin.ts'
import type { DocumentParams, DocumentSource } from './document-upload.ts'
import { type DocumentSink, Documents, type TranslatedDocument } from './documents.ts'
import { Glossaries, GlossariesV2 } from './glossaries.ts'
import { Languages } from './languages.ts'
import { Quality } from './quality.ts'
import { StyleRules, TranslationMemories } from './style-rules.ts'
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
} from './translation-service.ts'
import { Voice } from './voice.ts'
import { VoiceJobs } from './voice-jobs.ts'

type RawRequest = NonNullable<Parameters<TranslationClient['request']>[2]>

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
  readonly #service: TranslationService
  readonly #options: TranslationClientOptions
  /** The parts that were used, by their classes. */
  readonly #parts = new Map<Part<object>, object>()

  constructor(options: TranslationClientOptions) {
    requireOptions(options, 'TranslationClient')
    this.#options = options
    this.#service = new TranslationService(options)
  }

  /** Usage reports and keys of an organization. */
  get admin(): Admin {
    return this.#part(Admin)
  }

  /** Glossaries with one or more dictionaries. */
  get glossaries(): Glossaries {
    return this.#part(Glossaries)
  }

  /** Glossaries of version 2 of the API, with one dictionary. */
  get glossariesV2(): GlossariesV2 {
    return this.#part(GlossariesV2)
  }

  /** Evaluations of the quality of translations. */
  get quality(): Quality {
    return this.#part(Quality)
  }

  /** Lists of style rules. */
  get styleRules(): StyleRules {
    return this.#part(StyleRules)
  }

  /** Live transcription and translation of speech. */
  get voice(): Voice {
    return this.#part(Voice)
  }

  /** Transcription and translation of recordings. */
  get voiceJobs(): VoiceJobs {
    return this.#part(VoiceJobs)
  }

  /** Translations of documents. */
  get documents(): Documents {
    return this.#part(Documents)
  }

  /** The languages of the service and their features. */
  get languages(): Languages {
    return this.#part(Languages)
  }

  /** The translation memories of the account. */
  get translationMemories(): TranslationMemories {
    return this.#part(TranslationMemories)
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
    options: TranslationCallOptions = {},
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
    return usage(this.#service, options)
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
      ...raw
    }: Pick<TranslationCallOptions, 'headers' | 'replay'> & {
      readonly query?: Readonly<Record<string, unknown>>
      readonly json?: unknown
      readonly form?: Readonly<Record<string, unknown>>
      readonly body?: NonNullable<CallInput['content']>
      readonly contentType?: string
    } = {},
    options: TranslationCallOptions = {},
  ): Promise<ApiResponse<T>> {
    const content = await named(`${method} request`, async () => contentOf(raw))
    const input = { ...(query && { query }), ...(json !== undefined && { body: json }), ...content }
    const all = { ...options, ...(headers && { headers: { ...options.headers, ...headers } }), ...(replay && { replay }) }
    return this.#service.request<T>(method, path, input, all)
  }

  /**
   * Adds a listener of the events of `ApiClient` and returns a function that removes it.
   *
   * @example client.on('retry', ({ operation, delayMs }) => console.error(operation, delayMs))
   */
  on<Name extends keyof ClientEvents>(event: Name, listener: (payload: ClientEvents[Name]) => void): () => void {
    return this.#service.on(event, listener)
  }

  /** Adds an interceptor of every attempt, after those that were added before. */
  use(interceptor: Interceptor): this {
    this.#service.use(interceptor)
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

  /** Returns the part of that class, created on first use. */
  #part<T extends object>(part: Part<T>): T {
    const known = this.#parts.get(part)
    if (known) return known as T
    const made = new part(this.#service)
    this.#parts.set(part, made)
    return made
  }
}

/** The class of a part of the client, which sends operations through the service that its constructor receives. */
type Part<T extends object> = new (service: TranslationService) => T

const FORM = 'application/x-www-form-urlencoded'

/** Returns the body of a request. Errors: `REQUEST_INVALID` for two bodies, and for values that a form cannot express. */
function contentOf({ form, body, contentType }: RawRequest): CallInput {
  if (form && body !== undefined)
    throw new ValidationError('REQUEST_INVALID', 'form and body cannot be used together; nothing was sent', { field: 'form' })
  if (form) return { content: encodeForm(asMembers(form, 'form'), { arrays: 'repeat' }), contentType: FORM }
  return { ...(body !== undefined && { content: body }), ...(contentType !== undefined && { contentType }) }
}
