/** Live transcription and translation of speech: creates and opens sessions. */
import { ValidationError } from '../../client/errors.ts'
import { named, type Result, type TranslationCallOptions, type TranslationService } from '../translation-service.ts'
import type { VoiceAccess } from './connection.ts'
import type { VoiceSession } from './session.ts'

/** Parameters of a voice session (`POST /v3/voice/realtime`), with the names of the service. */
export interface VoiceSessionInput {
  /** Media type of the audio: `audio/auto`, `audio/flac`, `audio/pcm;encoding=s16le;rate=16000`, …; without spaces. */
  readonly source_media_content_type: string
  /** Language of the speech; default: detected. */
  readonly source_language?: string
  /** How `source_language` is used; default `auto`. */
  readonly source_language_mode?: 'auto' | 'fixed'
  /** At most 5 languages of translations. */
  readonly target_languages?: readonly string[]
  /** At most 1 language of translated speech, which is among the target languages. */
  readonly target_media_languages?: readonly string[]
  /** Media type of translated speech; default `audio/webm;codecs=opus`. */
  readonly target_media_content_type?: string
  /** Voice of translated speech. */
  readonly target_media_voice?: 'male' | 'female'
  /** Format of messages; default `json`. `msgpack` needs the package `@msgpack/msgpack`, see `messagePack`. */
  readonly message_format?: 'json' | 'msgpack'
  /** Spoken terms of the account. */
  readonly spoken_terms_id?: string
  /** Glossary for the translations. */
  readonly glossary_id?: string
  /** Formality of the translations. */
  readonly formality?: 'default' | 'formal' | 'more' | 'informal' | 'less'
}

/** Options of `voice.open`. */
export interface VoiceOpenOptions extends TranslationCallOptions {
  /** The class of the connection; default: that of the platform. */
  readonly WebSocket?: new (
    url: string,
  ) => {
    binaryType: 'arraybuffer' | 'blob'
    readonly bufferedAmount: number
    send(data: string | Uint8Array<ArrayBuffer>): void
    close(code?: number): void
    addEventListener(
      type: 'open' | 'message' | 'close' | 'error',
      listener: (event: { readonly data?: unknown; readonly code?: number }) => void,
    ): void
  }
  /**
   * The package `@msgpack/msgpack`, for `message_format: 'msgpack'` in pages and workers; Node, Bun and Deno find it if it is installed.
   */
  readonly messagePack?: { encode(value: unknown): Uint8Array<ArrayBuffer>; decode(bytes: ArrayBuffer): unknown }
  /** Maximum speed at which audio is sent, as a multiple of its duration: up to 2, which the service accepts; default 1.1. */
  readonly speed?: number
}

/** Slightly faster than real time, so that a delayed piece does not leave a gap. */
const SPEED = 1.1
const FASTEST = 2

/**
 * Live transcription and translation of speech. The connection is opened with a one-time token, never with the key.
 *
 * @example
 * const session = await client.voice.open({ source_media_content_type: 'audio/pcm;encoding=s16le;rate=16000', target_languages: ['de'] })
 * for await (const message of session) if (message.type === 'target_transcript_update') console.log(session.target('de').text)
 */
export class Voice {
  readonly #service: TranslationService

  /** @internal */
  constructor(service: TranslationService) {
    this.#service = service
  }

  /** Creates a session without connecting to it, for a connection of your own. The token is a secret. Errors: `REQUEST_TOO_LARGE`. */
  async createSession(input: VoiceSessionInput, options: TranslationCallOptions = {}): Promise<Result<VoiceAccess>> {
    const access = await this.#service.call<VoiceAccess>('voice.createSession', { body: input }, options)
    this.#service.client.protect(access.token)
    return access
  }

  /** Returns another token for a session in exchange for its latest one; an older one ends the session. Not retried without `retry`. */
  async reconnect({ token }: Pick<VoiceAccess, 'token'>, options: TranslationCallOptions = {}): Promise<Result<VoiceAccess>> {
    this.#service.client.protect(token)
    const once = { ...options, retry: options.retry ?? false }
    const access = await this.#service.call<VoiceAccess>('voice.reconnect', { query: { token } }, once)
    this.#service.client.protect(access.token)
    return access
  }

  /**
   * Creates a session and connects to it. `signal` ends it at any time.
   *
   * Errors: those of a call; `NETWORK_FAILED` and `TIMEOUT_CONNECT` of the connection; `SCHEME_UNSUPPORTED` if the package for a format is
   * missing, before anything is sent; `UNSUPPORTED_IN_BROWSER` where there is no WebSocket.
   */
  async open(
    input: VoiceSessionInput,
    { WebSocket, messagePack, speed = SPEED, ...options }: VoiceOpenOptions = {},
  ): Promise<VoiceSession> {
    await named('voice.open', async () => checkSpeed(speed))
    // Loaded on first use, because few programs need it.
    const [{ voiceCodec }, { VoiceSession: Session }] = await Promise.all([import('./messages.ts'), import('./session.ts')])
    const codec = await voiceCodec(input.message_format, messagePack)
    const access = await this.createSession(input, options)
    return Session.open(
      {
        service: this.#service,
        sending: { codec, contentType: input.source_media_content_type, speed, clock: this.#service.clock },
        sockets: async (allowPrivateNetwork) =>
          WebSocket ? (url) => new WebSocket(url) : (await import('#platform')).platform.socket(allowPrivateNetwork),
        reconnect: (token, more) => this.reconnect({ token }, more),
        signal: options.signal,
      },
      access,
    )
  }
}

function checkSpeed(speed: number): void {
  const message = `speed must be more than 0 and at most ${FASTEST}; nothing was sent`
  if (!(speed > 0 && speed <= FASTEST)) throw new ValidationError('REQUEST_INVALID', message, { field: 'speed', limit: FASTEST })
}
