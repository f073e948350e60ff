/** A voice session: audio is sent to the service, transcripts and audio come back. */
import { AbortedError, type AuthError, NetworkError } from '../../../errors.ts'
import type { MessageSocket } from '../../../http/message.ts'
import { ValidationError } from '../../client/errors.ts'
import { VoiceError } from '../errors.ts'
import type { TranslationCallOptions, TranslationService } from '../translation-service.ts'
import { VoiceSender, type VoiceSending } from './audio.ts'
import { lineAddress, type OpenSocket, openLine, type VoiceAccess } from './connection.ts'
import type { VoiceMessage, VoiceSegment } from './messages.ts'

/** The parts of a session. */
export interface VoiceSessionParts {
  readonly service: TranslationService
  readonly sending: VoiceSending
  /** Returns a function that opens a connection; receives whether the URL may be on this machine. */
  readonly sockets: (allowPrivateNetwork: boolean) => Promise<OpenSocket>
  /** Requests the next token; only called when `reconnect` is. */
  readonly reconnect: (token: string, options: TranslationCallOptions) => Promise<VoiceAccess>
  readonly signal: AbortSignal | undefined
}

/**
 * An open voice session. Messages are read by `for await (const message of session)` or by listeners (`on`); a loop that starts before
 * audio is sent gets all of them. Leaving the loop does not end the session: `close` does. The service ends it after 30 s of silence and
 * after an hour.
 *
 * Errors while reading: `VOICE_FAILED` when the service ends the session; `NETWORK_RESET` when its connection is lost, after which
 * `reconnect` continues; `RESPONSE_INVALID`, `ABORTED`.
 *
 * @example
 * const session = await client.voice.open({ source_media_content_type: 'audio/auto', target_languages: ['de'] })
 * session.on('target_transcript_update', () => console.log(session.target('de').text))
 * for await (const chunk of microphone) await session.send(chunk)
 * await session.end()
 */
export class VoiceSession implements AsyncIterable<VoiceMessage> {
  /** The transcript of the speech, with the language of each segment. */
  readonly source = new VoiceTranscript<VoiceSegment & { readonly language: string }>()
  readonly #parts: VoiceSessionParts
  readonly #targets = new Map<string, VoiceTranscript>()
  readonly #listeners = new Map<string, Set<(message: never) => void>>()
  #access: VoiceAccess
  #line: MessageSocket | undefined
  #queue = new MessageQueue<VoiceMessage>()
  /** Aborted with the reason when the connection has ended. */
  #ending = new AbortController()
  #sender: VoiceSender | undefined
  #reconnecting: Promise<void> | undefined
  #isOver = false

  private constructor(parts: VoiceSessionParts, access: VoiceAccess) {
    this.#parts = parts
    this.#access = access
  }

  /** Connects. Errors: `RESPONSE_INVALID` for an untrusted URL, `NETWORK_FAILED`, `TIMEOUT_CONNECT`, `ABORTED`. @internal */
  static async open(parts: VoiceSessionParts, access: VoiceAccess): Promise<VoiceSession> {
    const session = new VoiceSession(parts, access)
    parts.signal?.addEventListener('abort', session.#aborted, { once: true })
    try {
      await session.#connect()
    } catch (error) {
      session.close()
      throw error
    }
    return session
  }

  /** Identifier of the session, if the service names one. */
  get sessionId(): string | undefined {
    return this.#access.session_id
  }

  /** Returns the transcript of the translation into a language; it is empty at first. */
  target(language: string): VoiceTranscript {
    const key = language.toLowerCase()
    const transcript = this.#targets.get(key) ?? new VoiceTranscript()
    this.#targets.set(key, transcript)
    return transcript
  }

  /** Adds a listener of messages of one type and returns a function that removes it. */
  on<Type extends VoiceMessage['type']>(
    type: Type,
    listener: (message: Extract<VoiceMessage, { readonly type: Type }>) => void,
  ): () => void {
    const listeners = this.#listeners.get(type) ?? new Set()
    this.#listeners.set(type, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(type)
    }
  }

  /** Returns the messages; each message goes to one loop. Errors: those of the session. */
  [Symbol.asyncIterator](): AsyncGenerator<VoiceMessage, void> {
    return this.#queue.read()
  }

  /**
   * Sends audio in pieces, no faster than the service accepts it; the promise is fulfilled when the last piece was sent.
   *
   * Errors: those of reading; `REQUEST_INVALID` after {@link end}.
   *
   * @param duration of the audio in milliseconds, for media types whose size does not determine it; without it such audio is sent at once
   */
  async send(data: Uint8Array, { duration }: { readonly duration?: number } = {}): Promise<void> {
    if (!(data instanceof Uint8Array)) throw new TypeError('audio must be a Uint8Array')
    return this.#sender?.send(data, duration)
  }

  /** Ends the audio: the service sends the rest of its messages and ends the session. */
  async end(): Promise<void> {
    return this.#sender?.end()
  }

  /** Closes the connection at once; loops over the messages end. */
  close(): void {
    this.#isOver = true
    this.#finish()
  }

  /**
   * Continues with a new token and connection after the old one was lost; messages in between are lost. Start a new loop to read on. Not
   * retried without `retry`: each request invalidates the previous token.
   *
   * Errors: `REQUEST_INVALID` for a session that has ended; those of a call and of connecting.
   */
  reconnect(options: TranslationCallOptions = {}): Promise<void> {
    this.#reconnecting ??= this.#again(options).finally(() => {
      this.#reconnecting = undefined
    })
    return this.#reconnecting
  }

  /** Returns the identifier only, so that a printed session shows no token. */
  toJSON(): object {
    return { sessionId: this.sessionId }
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `VoiceSession { ${this.sessionId ?? ''} }`
  }

  async #again(options: TranslationCallOptions): Promise<void> {
    if (this.#isOver) throw over()
    this.#finish(lost('the voice session was replaced by another connection'))
    this.#access = { ...this.#access, ...(await this.#parts.reconnect(this.#access.token, options)) }
    if (this.#isOver) throw over()
    this.#queue = new MessageQueue()
    this.#ending = new AbortController()
    try {
      await this.#connect()
    } catch (error) {
      this.#finish(error as AuthError)
      throw error
    }
  }

  async #connect(): Promise<void> {
    const { service, sockets, signal, sending } = this.#parts
    const { url, origin, allowPrivateNetwork } = lineAddress(await service.api(), this.#access)
    const open = await sockets(allowPrivateNetwork)
    const queue = this.#queue
    const closed = (code: number | undefined) => {
      if (queue === this.#queue) this.#finish(lost(`${origin}: the connection of the voice session was lost (close code ${code})`))
    }
    const line = await openLine(open, url, { service, signal }, (data) => this.#heard(data, queue), closed)
    if (this.#ending.signal.aborted) {
      line.close()
      throw this.#ending.signal.reason
    }
    this.#line = line
    this.#sender = new VoiceSender(sending, line, this.#ending.signal)
  }

  #heard(data: unknown, queue: MessageQueue<VoiceMessage>): void {
    if (queue !== this.#queue || this.#ending.signal.aborted) return
    try {
      this.#take(this.#parts.sending.codec.read(data))
    } catch (error) {
      this.#isOver = true
      this.#finish(error as AuthError)
    }
  }

  #take(message: VoiceMessage): void {
    if (message.type === 'source_transcript_update') this.source.update(message)
    if (message.type === 'target_transcript_update') this.target(message.language).update(message)
    for (const listener of this.#listeners.get(message.type) ?? []) this.#tell(listener, message)
    if (message.type === 'error') throw failed(message, (text) => this.#parts.service.client.scrub(text))
    // Kept for a reader, unless there are only listeners.
    if (this.#queue.isRead || this.#listeners.size === 0) this.#queue.push(message)
    if (message.type === 'end_of_stream') this.close()
  }

  #tell(listener: (message: never) => void, message: VoiceMessage): void {
    try {
      listener(message as never)
    } catch (error) {
      this.#parts.service.client.emit('hookError', { event: message.type, error })
    }
  }

  #finish(error?: AuthError): void {
    if (this.#isOver) this.#parts.signal?.removeEventListener('abort', this.#aborted)
    if (this.#ending.signal.aborted) return
    this.#ending.abort(error ?? over())
    this.#queue.end(error)
    this.#line?.close()
  }

  readonly #aborted = (): void => {
    this.#isOver = true
    this.#finish(new AbortedError(this.#parts.signal?.reason))
  }
}

function failed({ error_code, reason_code, request_type, error_message }: VoiceFailure, scrub: (text: string) => string): VoiceError {
  return new VoiceError(scrub(`the service ended the voice session: ${error_message ?? 'no details given'}`), {
    ...(error_code !== undefined && { serviceCode: String(error_code) }),
    ...(reason_code !== undefined && { reasonCode: String(reason_code) }),
    ...(request_type !== undefined && { requestType: request_type }),
  })
}

type VoiceFailure = Extract<VoiceMessage, { readonly type: 'error' }>

function lost(message: string): NetworkError {
  return new NetworkError('NETWORK_RESET', message, { retryable: true, hint: 'reconnect() continues with a new token' })
}

function over(): ValidationError {
  return new ValidationError('REQUEST_INVALID', 'the voice session has ended: start a new one; nothing was sent')
}

/** Buffers messages until they are read, and keeps the error or end after them. */
class MessageQueue<Message> {
  /** True after the first reader. */
  isRead = false
  readonly #messages: Message[] = []
  readonly #waiting: (() => void)[] = []
  #end: { readonly error?: unknown } | undefined

  push(message: Message): void {
    this.#messages.push(message)
    this.#waiting.shift()?.()
  }

  /** Ends the messages: readers get the rest, then the error if there is one. */
  end(error?: unknown): void {
    this.#end ??= error === undefined ? {} : { error }
    for (const wake of this.#waiting.splice(0)) wake()
  }

  /** Returns the messages; each message goes to one reader. */
  async *read(): AsyncGenerator<Message, void> {
    this.isRead = true
    for (;;) {
      const message = this.#messages.shift()
      if (message !== undefined) yield message
      else if (!this.#end) await new Promise<void>((resolve) => this.#waiting.push(resolve))
      else if ('error' in this.#end) throw this.#end.error
      else return
    }
  }
}

/**
 * The transcript of a voice session in one language, which grows while the session lasts.
 *
 * @example console.log(session.target('de').text)
 */
export class VoiceTranscript<Segment extends VoiceSegment = VoiceSegment> {
  readonly #concluded: Segment[] = []
  #tentative: readonly Segment[] = []

  /** Segments that no longer change. */
  get concluded(): readonly Segment[] {
    return this.#concluded
  }

  /** Segments that the next update replaces. */
  get tentative(): readonly Segment[] {
    return this.#tentative
  }

  /** The text of all segments. */
  get text(): string {
    return [...this.#concluded, ...this.#tentative].map(({ text }) => text).join('')
  }

  /** Adds concluded segments and replaces the tentative ones. @internal */
  update({ concluded, tentative }: { readonly concluded: readonly Segment[]; readonly tentative: readonly Segment[] }): void {
    for (const segment of concluded) this.#concluded.push(segment)
    this.#tentative = tentative
  }
}
