/** The way to the translation service that all parts of its client share. */
import { ConfigurationError } from '../../errors.ts'
import type { Clock } from '../../net/clock.ts'
import { ApiClient } from '../api-client.ts'
import type { ApiResponse } from '../api-response.ts'
import type { CallInput } from '../call-options.ts'
import { described } from '../described.ts'
import type { ClientEvents, EventName } from '../events.ts'
import type { Interceptor } from '../interceptor.ts'
import type { Method, Operation } from '../operation.ts'
import { sharedLimits } from '../service-limits.ts'
import { apiClients } from './api-clients.ts'
import { checkedKey } from './api-key.ts'
import { SeenDocuments } from './document-handle.ts'
import { hostWarning, planOf } from './host.ts'
import { type OperationName, operations } from './operations.ts'
import { reportingTag } from './reporting-tag.ts'
import { type Result, resultOf } from './result.ts'
import { sentAs } from './sent-as.ts'
import type { TranslationCallOptions, TranslationClientOptions, Validation } from './translation-options.ts'

/**
 * Sends operations by their names. A part of the client (`Admin`, `Documents`, …) is a class that is given this and calls it; it needs
 * no more than a line in {@link TranslationClient}.
 */
export class TranslationService {
  readonly clock: Clock
  readonly maxTextsPerRequest: number
  readonly seenDocuments = new SeenDocuments()
  readonly #validate: Validation
  /** Only the key can tell which one is used, as long as there are two. */
  readonly #clients: readonly ApiClient[]
  readonly #key: TranslationClientOptions['apiKey']
  #client: ApiClient | Promise<ApiClient> | undefined

  constructor(options: TranslationClientOptions) {
    const key = options.apiKey === undefined ? undefined : checkedKey(options.apiKey)
    this.clock = (options.limits ?? sharedLimits).clock
    this.maxTextsPerRequest = options.maxTextsPerRequest ?? 50
    this.#validate = options.validate ?? 'strict'
    this.#key = key
    this.#clients = apiClients({ ...options, ...(key !== undefined && { apiKey: key }) })
  }

  /** Origin of the service; undefined as long as only a key that is still to be asked for could tell. */
  get origin(): string | undefined {
    const client = this.#clients.length === 1 ? this.#clients[0] : this.#client
    return client instanceof ApiClient ? client.origin : undefined
  }

  /** The record or list of an answer. Errors: those of {@link ApiClient}, `RESPONSE_INVALID` for anything else. */
  async call<T>(name: OperationName, input: CallInput = {}, options: TranslationCallOptions = {}): Promise<Result<T>> {
    const answer = await this.send(name, input, options)
    try {
      return resultOf<T>(operations[name], answer, `${this.origin ?? ''}${operations[name].path}`)
    } catch (error) {
      throw described(error, answer.attempts, name)
    }
  }

  /** The whole answer, as it came. */
  async send<T = unknown>(name: OperationName, input: CallInput = {}, options: TranslationCallOptions = {}): Promise<ApiResponse<T>> {
    try {
      const { operation, input: sent } = sentAs(operations[name], input, options)
      return await (await this.api()).send<T>(operation, sent, withTag(options))
    } catch (error) {
      throw described(error, 0, name)
    }
  }

  /** A request that is no operation. */
  async request<T>(method: Method, path: string, input: CallInput, options: TranslationCallOptions): Promise<ApiResponse<T>> {
    return (await this.api()).request<T>(method, path, input, withTag(options))
  }

  /** An operation that is in no table, such as one on an address that the service named. */
  async perform<T>(operation: Operation, input: CallInput = {}, options: TranslationCallOptions = {}): Promise<ApiResponse<T>> {
    return (await this.api()).send<T>(operation, input, withTag(options))
  }

  /** What is to be checked for a call. */
  validation({ validate = this.#validate }: TranslationCallOptions): Validation {
    return validate
  }

  on<Name extends EventName>(event: Name, listener: (payload: ClientEvents[Name]) => void): () => void {
    const ends = this.#clients.map((client) => client.on(event, listener))
    return () => {
      for (const end of ends) end()
    }
  }

  emit<Name extends EventName>(event: Name, payload: ClientEvents[Name]): void {
    const client = this.#client instanceof ApiClient ? this.#client : this.#clients[0]
    client?.emit(event, payload)
  }

  use(interceptor: Interceptor): void {
    for (const client of this.#clients) client.use(interceptor)
  }

  /** Keeps a secret that the service gave out of errors and events. */
  protect(secret: string): void {
    for (const client of this.#clients) client.protect(secret)
  }

  /** A text of the service as it may stand in errors and events. */
  scrub(text: string): string {
    return this.#clients.reduce((scrubbed, client) => client.scrub(scrubbed), text)
  }

  /** The client of the host; a promise as long as only a key that is still to be asked for could tell which. */
  api(): ApiClient | Promise<ApiClient> {
    this.#client ??= this.#chosen()
    return this.#client
  }

  /** Once for the life of the client; a key that could not be had is asked for again by the next call. */
  #chosen(): ApiClient | Promise<ApiClient> {
    const [pro, free = pro] = this.#clients
    const key = this.#key
    if (!pro || !free) throw new ConfigurationError('CONFIG_INVALID', 'the client has no base address')
    if (typeof key === 'string') {
      const warning = hostWarning(pro.origin, key)
      if (warning) pro.emit('warning', warning)
    }
    if (pro === free || typeof key !== 'function') return pro
    const choosing = Promise.resolve(key()).then((text) => {
      this.#client = planOf(text) === 'free' ? free : pro
      return this.#client
    })
    return choosing.catch((error: unknown) => {
      this.#client = undefined
      throw error
    })
  }
}

function withTag(options: TranslationCallOptions): TranslationCallOptions {
  if (options.reportingTag === undefined) return options
  return { ...options, headers: { ...options.headers, 'x-deepl-reporting-tag': reportingTag(options.reportingTag) } }
}
