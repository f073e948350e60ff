/** The audio of a voice session: cut into pieces, and sent no faster than the service accepts it. */
import type { MessageSocket } from '../../../http/message.ts'
import { sleep } from '../../../net/cancellation.ts'
import type { Clock } from '../../../net/clock.ts'
import { ValidationError } from '../../client/errors.ts'
import type { VoiceCodec } from './messages.ts'

/** Settings of the audio that is sent. */
export interface VoiceSending {
  readonly codec: VoiceCodec
  readonly contentType: string
  /** Maximum speed at which audio is sent, as a multiple of its duration. */
  readonly speed: number
  readonly clock: Clock
}

/** Bytes that may be buffered in the connection before more is sent, and milliseconds between two checks of the buffer. */
const MOST_WAITING = 1_048_576

const LOOK = 50

/** Sends messages in the order of the calls, no faster than the service accepts them. */
export class VoiceSender {
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

function refused(why: string, field?: string): ValidationError {
  return new ValidationError('REQUEST_INVALID', `${why}; nothing was sent`, { ...(field !== undefined && { field }) })
}
