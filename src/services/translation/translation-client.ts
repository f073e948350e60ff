/** The client of the translation service. */
import type { ApiResponse } from '../client/call.ts'
import { ValidationError } from '../client/errors.ts'
import type { ClientEvents } from '../client/events.ts'
import { encodeForm } from '../client/form.ts'
import type { CallInput, Interceptor, Method } from '../client/request-builder.ts'
import { Admin, type Usage, usage } from './admin.ts'
import type { DocumentSink } from './document-download.ts'
import type { DocumentParams, DocumentSource } from './document-upload.ts'
import { Documents, type TranslatedDocument } from './documents.ts'
import { Glossaries, GlossariesV2 } from './glossaries.ts'
import { Languages, type LanguageV2 } from './languages.ts'
import { Quality } from './quality.ts'
import { StyleRules, TranslationMemories } from './style-rules.ts'
import {
  type TranslatedTexts,
  type TranslateManyOptions,
  type TranslateParams,
  type TranslateTextParams,
  type Translations,
  translateMany,
  translateText,
} from './translate-text.ts'
import {
  type ApiKey,
  named,
  type Result,
  type TranslationCallOptions,
  type TranslationClientOptions,
  TranslationService,
} from './translation-service.ts'
import { Voice } from './voice.ts'
import { VoiceJobs } from './voice-jobs.ts'
import { type CorrectTextParams, correctText, type Improvements, type RephraseTextParams, rephraseText } from './writing.ts'

/** A request that is no operation. Of `json`, `form` and `body` one at most. */
export interface RawRequest extends Pick<TranslationCallOptions, 'headers' | 'replay'> {
  readonly query?: Readonly<Record<string, unknown>>
  readonly json?: unknown
  readonly form?: Readonly<Record<string, unknown>>
  /** Sent as it is; `contentType` says what it is. */
  readonly body?: NonNullable<CallInput['content']>
  readonly contentType?: string
}

/**
 * Translates texts and documents, and everything else that the service offers. Nothing is loaded or connected before the first call; the
 * key goes to the host of the service and nowhere else.
 *
 * Errors of the constructor: `CONFIG_INVALID`, `CREDENTIAL_VALUE_INVALID`, `URL_INSECURE`. Of calls: those of `ApiClient`, and
 * `ValidationError` for what the service would refuse.
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
    this.#options = options
    this.#service = new TranslationService(options)
  }

  get admin(): Admin {
    return this.#part(Admin)
  }

  get glossaries(): Glossaries {
    return this.#part(Glossaries)
  }

  get glossariesV2(): GlossariesV2 {
    return this.#part(GlossariesV2)
  }

  get quality(): Quality {
    return this.#part(Quality)
  }

  get styleRules(): StyleRules {
    return this.#part(StyleRules)
  }

  get voice(): Voice {
    return this.#part(Voice)
  }

  get voiceJobs(): VoiceJobs {
    return this.#part(VoiceJobs)
  }

  get documents(): Documents {
    return this.#part(Documents)
  }

  get languages(): Languages {
    return this.#part(Languages)
  }

  get translationMemories(): TranslationMemories {
    return this.#part(TranslationMemories)
  }

  /** Origin of the service; undefined while it depends on a key that is not read yet. */
  get origin(): string | undefined {
    return this.#service.origin
  }

  /**
   * The translations of up to 50 texts, in their order. Errors: `REQUEST_INVALID`, `REQUEST_TOO_LARGE` before anything is sent,
   * `RESPONSE_INVALID`, those of every call.
   *
   * @example await client.translateText({ text: 'Hello', target_lang: 'DE', formality: 'prefer_more' })
   */
  translateText(params: TranslateTextParams, options: TranslationCallOptions = {}): Promise<Result<Translations>> {
    return translateText(this.#service, params, options)
  }

  /**
   * The translations of any number of texts, in as many requests as they need; see {@link TranslatedTexts}.
   *
   * @example for await (const { index, translation } of client.translateMany(texts, { target_lang: 'DE' })) …
   */
  translateMany(
    texts: Iterable<string> | AsyncIterable<string>,
    params: TranslateParams,
    options: TranslateManyOptions = {},
  ): TranslatedTexts {
    return translateMany(this.#service, texts, params, options)
  }

  /** Uploads a document, waits for its translation and fetches it once; see {@link Documents.translate}. */
  translateDocument(
    source: DocumentSource,
    sink: DocumentSink,
    params: DocumentParams,
    options: TranslationCallOptions = {},
  ): Promise<TranslatedDocument> {
    return this.documents.translate(source, sink, params, options)
  }

  /** The texts in better words; `writing_style` or `tone`, not both. At most 10 KiB. */
  rephraseText(params: RephraseTextParams, options: TranslationCallOptions = {}): Promise<Result<Improvements>> {
    return rephraseText(this.#service, params, options)
  }

  /** The texts without mistakes of spelling and grammar. At most 10 KiB. */
  correctText(params: CorrectTextParams, options: TranslationCallOptions = {}): Promise<Result<Improvements>> {
    return correctText(this.#service, params, options)
  }

  /** What is used up in this period, and how much is left. */
  usage(options: TranslationCallOptions = {}): Promise<Result<Usage>> {
    return usage(this.#service, options)
  }

  /** @deprecated `languages.list` says more. */
  languagesV2(
    params: { readonly type?: 'source' | 'target' } = {},
    options: TranslationCallOptions = {},
  ): Promise<Result<readonly LanguageV2[]>> {
    return this.#service.call('languagesV2', { query: params }, options)
  }

  /** Sends a request that no method is for. A `GET` is taken for safe, everything else for unsafe unless `replay` says more. */
  async request<T = unknown>(
    method: Method,
    path: string,
    { query, json, headers, replay, ...raw }: RawRequest = {},
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

  /** Adds something that is done to every attempt. */
  use(interceptor: Interceptor): this {
    this.#service.use(interceptor)
    return this
  }

  /** The same client with another key: other limits, the same connections. Its host is chosen anew where the key chooses it. */
  withCredential(apiKey: ApiKey): TranslationClient {
    const { auth: _auth, ...options } = this.#options
    return new TranslationClient({ ...options, apiKey })
  }

  /** Returns the origin only: a client that is printed shows no secret. */
  toJSON(): object {
    return { origin: this.origin }
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `TranslationClient { ${this.origin ?? 'host by key'} }`
  }

  /** Returns the part of that class, made when it is first used. */
  #part<T extends object>(part: Part<T>): T {
    const known = this.#parts.get(part)
    if (known) return known as T
    const made = new part(this.#service)
    this.#parts.set(part, made)
    return made
  }
}

/** The class of a part of the client: it sends operations through the service that it is given. */
type Part<T extends object> = new (service: TranslationService) => T

const FORM = 'application/x-www-form-urlencoded'

/** Errors: `REQUEST_INVALID` for two bodies, and for what a form cannot say. */
function contentOf({ form, body, contentType }: RawRequest): CallInput {
  if (form && body !== undefined)
    throw new ValidationError('REQUEST_INVALID', 'form and body cannot be used together; nothing was sent', { field: 'form' })
  if (form) return { content: encodeForm(form, { arrays: 'repeat' }), contentType: FORM }
  return { ...(body !== undefined && { content: body }), ...(contentType !== undefined && { contentType }) }
}
