/** A voice session: audio is sent to the service, transcripts and audio come back. */
import { AbortedError, type AuthError, abortedBy, NetworkError, TimeoutError } from '../../../errors.ts'
import type { MessageSocket } from '../../../http/message.ts'
import { Interruption, sleep } from '../../../net/cancellation.ts'
import { type Clock, startTimer } from '../../../net/clock.ts'
import type { ApiClient } from '../../client/api-client.ts'
import { ValidationError } from '../../client/errors.ts'
import { VoiceError } from '../errors.ts'
import type { TranslationCallOptions, TranslationService } from '../translation-service.ts'
import { unreadable, type VoiceCodec, type VoiceMessage, type VoiceSegment } from './messages.ts'

/** Settings of the audio that is sent. */
interface VoiceSending {
  readonly codec: VoiceCodec
  readonly contentType: string
  /** Maximum speed at which audio is sent, as a multiple of its duration. */
  readonly speed: number
  readonly clock: Clock
}

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
  return refused('the voice session has ended: start a new one')
}

function refused(why: string, field?: string): ValidationError {
  return new ValidationError('REQUEST_INVALID', `${why}; nothing was sent`, { ...(field !== undefined && { field }) })
}

export type OpenSocket = (url: string) => MessageSocket

/** The access to a voice session (`POST /v3/voice/realtime`). */
export interface VoiceAccess {
  /** WebSocket URL of the session. */
  readonly streaming_url: string
  /** Opens the session once; a secret. */
  readonly token: string
  /** Identifier of the session. */
  readonly session_id?: string
}

const CONNECT_TIMEOUT = 10_000

/**
 * Returns the URL of a session: encrypted, public, with the token in its query. Errors: `RESPONSE_INVALID`, without the URL.
 *
 * @param api the client whose service named it
 */
function lineAddress(
  api: ApiClient,
  { streaming_url, token }: VoiceAccess,
): { readonly url: string; readonly origin: string; readonly allowPrivateNetwork: boolean } {
  if (!/^wss?:/i.test(streaming_url)) throw unreadable('the URL of the session is not a WebSocket URL')
  // Checked as an https: URL, because wss: differs in the scheme only.
  const { url, allowPrivateNetwork } = api.allowed(streaming_url.replace(/^ws/i, 'http'))
  const search = `${url.search ? `${url.search}&` : '?'}token=${encodeURIComponent(token)}`
  const origin = url.origin.replace(/^http/, 'ws')
  return { url: origin + url.pathname + search, origin, allowPrivateNetwork }
}

/**
 * Opens the connection. Errors: `NETWORK_FAILED`, `TIMEOUT_CONNECT`, `ABORTED`; the URL is never shown.
 *
 * @param closed called when the connection has ended, on either side
 */
async function openLine(
  open: OpenSocket,
  url: string,
  { service, signal }: Pick<VoiceSessionParts, 'service' | 'signal'>,
  heard: (data: unknown) => void,
  closed: (code: number | undefined) => void,
): Promise<MessageSocket> {
  if (signal?.aborted) throw abortedBy(signal)
  const { host } = new URL(url)
  const socket = socketOf(open, url, host)
  const interruption = new Interruption(signal)
  const late = () => interruption.interrupt(new TimeoutError('TIMEOUT_CONNECT', `${host}: no connection within ${CONNECT_TIMEOUT} ms`))
  const stop = startTimer(service.clock, CONNECT_TIMEOUT, late, 'guard')
  let isOpen = false
  try {
    await new Promise<void>((resolve, reject) => {
      interruption.tell(reject)
      socket.addEventListener('open', () => {
        isOpen = true
        resolve()
      })
      socket.addEventListener('message', ({ data }) => heard(data))
      // A socket does not report why it failed; its close event follows.
      socket.addEventListener('error', () => undefined)
      socket.addEventListener('close', ({ code }) => (isOpen ? closed(code) : reject(notOpened(host))))
    })
    return socket
  } catch (error) {
    socket.close()
    throw error
  } finally {
    stop()
    interruption.close()
  }
}

/** The error of the constructor contains the URL with the token, so it is not passed on as a cause. */
function socketOf(open: OpenSocket, url: string, host: string): MessageSocket {
  try {
    const socket = open(url)
    socket.binaryType = 'arraybuffer'
    return socket
  } catch {
    throw notOpened(host)
  }
}

function notOpened(host: string): NetworkError {
  const hint = 'a token opens a session once: reconnect() requests a new one'
  return new NetworkError('NETWORK_FAILED', `${host}: the voice session could not be opened`, { hint, retryable: false })
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

/** Bytes that may be buffered in the connection before more is sent, and milliseconds between two checks of the buffer. */
const MOST_WAITING = 1_048_576

const LOOK = 50

/** Sends messages in the order of the calls, no faster than the service accepts them. */
class VoiceSender {
  readonly #sending: VoiceSending
  readonly #socket: MessageSocket
  readonly #ending: AbortSignal
  #last: Promise<void> = Promise.resolve()
  /** Time of the clock at which the next piece may be sent. */
  #next = 0
  #isSaid = false

  /** @param ending aborted, with the reason, when the connection has ended */
  constructor(sending: VoiceSending, socket: MessageSocket, ending: AbortSignal) {
    this.#sending = sending
    this.#socket = socket
    this.#ending = ending
  }

  /** Sends audio. Errors: the reason why the connection ended; `REQUEST_INVALID` after {@link end}. */
  send(data: Uint8Array, duration: number | undefined): Promise<void> {
    const { codec, contentType, clock, speed } = this.#sending
    return this.#inOrder(async () => {
      for (const piece of voicePieces(contentType, data, duration)) {
        await this.#turn()
        this.#socket.send(codec.write({ source_media_chunk: { data: piece.data } }))
        // Whole milliseconds: a timer that fires a fraction early would be too early.
        this.#next = clock.now() + Math.ceil((piece.duration ?? 0) / speed)
      }
    })
  }

  /** Sends the end of the audio. Errors: as of {@link send}. */
  end(): Promise<void> {
    return this.#inOrder(async () => {
      this.#check()
      this.#isSaid = true
      this.#socket.send(this.#sending.codec.write({ end_of_source_media: {} }))
    })
  }

  #inOrder(act: () => Promise<void>): Promise<void> {
    const done = this.#last.then(act)
    this.#last = done.catch(() => undefined)
    return done
  }

  /** Waits until the next piece may be sent. */
  async #turn(): Promise<void> {
    const { clock } = this.#sending
    for (;;) {
      this.#check()
      const wait = Math.max(this.#next - clock.now(), this.#socket.bufferedAmount > MOST_WAITING ? LOOK : 0)
      if (wait <= 0) return
      await sleep(wait, clock, this.#ending)
    }
  }

  #check(): void {
    if (this.#ending.aborted) throw this.#ending.reason
    if (this.#isSaid) throw refused('the end of the audio was already sent')
  }
}

interface VoicePiece {
  readonly data: Uint8Array
  readonly duration: number | undefined
}

const LARGEST = 100_000

/** Duration of a piece of raw audio in milliseconds. */
const PIECE = 250

const LONGEST = 1000

/**
 * Cuts audio into pieces that a session accepts: at most 100 000 bytes and one second each; PCM in pieces of 250 ms, never within a sample.
 *
 * Errors: `REQUEST_INVALID` for an invalid duration, and for raw audio with a sample rate of 0.
 *
 * @param duration of the whole audio in milliseconds, for media whose length in bytes does not determine it
 */
export function* voicePieces(contentType: string, data: Uint8Array, duration?: number): Generator<VoicePiece> {
  if (duration !== undefined && !(duration >= 0 && duration < Number.POSITIVE_INFINITY))
    throw refused('a duration must be a number of milliseconds of 0 or more', 'duration')
  const sample = sampleOf(contentType)
  const lasts = sample ? data.length / sample.bytes / sample.perMillisecond : duration
  const most = sample ? Math.max(1, Math.floor(PIECE * sample.perMillisecond)) * sample.bytes : largestPart(data.length, lasts)
  for (let at = 0; at < data.length; at += most) {
    const part = data.subarray(at, at + most)
    yield { data: part, duration: lasts === undefined ? undefined : (lasts * part.length) / data.length }
  }
}

/** Returns the bytes of a sample and the number of samples in a millisecond for raw audio; `undefined` for other media types. */
function sampleOf(contentType: string): { readonly bytes: number; readonly perMillisecond: number } | undefined {
  const [, encoding, rate] = /^audio\/pcm;\s*encoding=(\w+);\s*rate=(\d+)$/.exec(contentType) ?? []
  if (Number(rate) === 0) throw refused('raw audio must have a rate above 0', 'source_media_content_type')
  // The name has the number of bits: s16le, f32le; A-law and µ-law have 8.
  const bits = Number(/\d+/.exec(encoding ?? '')?.[0] ?? 8)
  return rate === undefined ? undefined : { bytes: Math.max(1, Math.ceil(bits / 8)), perMillisecond: Number(rate) / 1000 }
}

function largestPart(bytes: number, lasts: number | undefined): number {
  return lasts === undefined || lasts <= LONGEST ? LARGEST : Math.max(1, Math.min(LARGEST, Math.floor((bytes * LONGEST) / lasts)))
}
