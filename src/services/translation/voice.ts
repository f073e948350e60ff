/** Live transcription and translation of what is said. */
import type { MessagePack } from '../../platform/platform.ts'
import { ValidationError } from '../client/errors.ts'
import { named, type Result, type TranslationCallOptions, type TranslationService } from './translation-service.ts'
import { checkVoiceSession, type VoiceSessionInput } from './voice-messages.ts'
import type { OpenSocket, VoiceAccess, VoiceSession } from './voice-session.ts'

/** The last argument of `open`. */
export interface VoiceOpenOptions extends TranslationCallOptions {
  /** Makes the connection; default: that of the platform. */
  readonly WebSocket?: new (
    url: string,
  ) => ReturnType<OpenSocket>
  /** The package `@msgpack/msgpack`, for the message format `msgpack` in pages and workers; Node, Bun and Deno find it when it is installed. */
  readonly messagePack?: MessagePack
  /** How many times as fast as it is spoken sound is sent at most, up to 2, the most that the service takes; default 1.1. */
  readonly speed?: number
}

/** Little more than it is spoken: pieces may come late on their way, and the next one is then early. */
const SPEED = 1.1
const FASTEST = 2

/**
 * Voice sessions. Their connection gets a token that opens it once, and never the key.
 *
 * @example
 * const session = await client.voice.open({ source_media_content_type: 'audio/pcm;encoding=s16le;rate=16000', target_languages: ['de'] })
 * for await (const message of session) if (message.type === 'target_transcript_update') console.log(session.target('de').text)
 */
export class Voice {
  readonly #service: TranslationService

  constructor(service: TranslationService) {
    this.#service = service
  }

  /** Asks for a session without connecting to it: for connections of one's own. The token is a secret. Errors: `REQUEST_TOO_LARGE`. */
  async createSession(input: VoiceSessionInput, options: TranslationCallOptions = {}): Promise<Result<VoiceAccess>> {
    const access = await named('voice.createSession', async () => {
      if (this.#service.validation(options) === 'strict') checkVoiceSession(input)
      return this.#service.call<VoiceAccess>('voice.createSession', { body: input }, options)
    })
    this.#service.protect(access.token)
    return access
  }

  /** Asks for another token for a session, with its latest one; an older one ends the session. Never tried again unless `retry` says so. */
  async reconnect({ token }: Pick<VoiceAccess, 'token'>, options: TranslationCallOptions = {}): Promise<Result<VoiceAccess>> {
    this.#service.protect(token)
    const access = await this.#service.call<VoiceAccess>(
      'voice.reconnect',
      { query: { token } },
      { ...options, retry: options.retry ?? false },
    )
    this.#service.protect(access.token)
    return access
  }

  /**
   * Asks for a session and connects to it. `signal` is heard as long as the session lasts.
   *
   * Errors: those of a call and of {@link VoiceSession.open}; `SCHEME_UNSUPPORTED` when the package for a format is missing, before anything
   * is asked for; `UNSUPPORTED_IN_BROWSER` where there is no WebSocket.
   */
  async open(
    input: VoiceSessionInput,
    { WebSocket, messagePack, speed = SPEED, ...options }: VoiceOpenOptions = {},
  ): Promise<VoiceSession> {
    await named('voice.open', async () => checkSpeed(speed))
    // What few need is loaded by those who do.
    const [{ voiceCodec }, { VoiceSession }] = await Promise.all([import('./voice-codec.ts'), import('./voice-session.ts')])
    const codec = await voiceCodec(input.message_format, messagePack)
    const access = await this.createSession(input, options)
    return VoiceSession.open(
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
  if (speed > 0 && speed <= FASTEST) return
  throw new ValidationError('REQUEST_INVALID', `speed must be more than 0 and at most ${FASTEST}; nothing was sent`, {
    field: 'speed',
    limit: FASTEST,
  })
}
