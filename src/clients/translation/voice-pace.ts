/** How sound is cut and how fast it may come. */
import { ValidationError } from '../errors.ts'

/** A piece of sound, and milliseconds that it lasts where that is known. */
export interface VoicePiece {
  readonly data: Uint8Array
  readonly duration: number | undefined
}

const LARGEST = 100_000
/** Milliseconds of one piece of sound whose bytes tell how long they last. */
const PIECE = 250
const LONGEST = 1000

/**
 * Cuts sound into pieces that a session takes: at most 100 000 bytes and a second each; PCM in pieces of 250 ms, never within a sample.
 *
 * Errors: `REQUEST_INVALID` for a duration that is no time, and for raw sound of no samples a second.
 *
 * @param duration milliseconds of all of it, for media whose bytes do not tell
 */
export function* voicePieces(contentType: string, data: Uint8Array, duration?: number): Generator<VoicePiece> {
  if (duration !== undefined && !(duration >= 0 && duration < Number.POSITIVE_INFINITY))
    throw new ValidationError('REQUEST_INVALID', 'a duration is a number of milliseconds, 0 or more; nothing was sent', {
      field: 'duration',
    })
  const sample = sampleOf(contentType)
  const lasts = sample ? data.length / sample.bytes / sample.perMillisecond : duration
  const most = sample ? Math.max(1, Math.floor(PIECE * sample.perMillisecond)) * sample.bytes : largestPart(data.length, lasts)
  for (let at = 0; at < data.length; at += most) {
    const part = data.subarray(at, at + most)
    yield { data: part, duration: lasts === undefined ? undefined : (lasts * part.length) / data.length }
  }
}

/** Raw sound: bytes of a sample, and how many of them there are in a millisecond. */
function sampleOf(contentType: string): { readonly bytes: number; readonly perMillisecond: number } | undefined {
  const [, encoding, rate] = /^audio\/pcm;\s*encoding=(\w+);\s*rate=(\d+)$/.exec(contentType) ?? []
  if (Number(rate) === 0)
    throw new ValidationError('REQUEST_INVALID', 'raw sound has a rate above 0; nothing was sent', { field: 'source_media_content_type' })
  return rate === undefined ? undefined : { bytes: encoding === 's16le' ? 2 : 1, perMillisecond: Number(rate) / 1000 }
}

function largestPart(bytes: number, lasts: number | undefined): number {
  return lasts === undefined || lasts <= LONGEST ? LARGEST : Math.max(1, Math.min(LARGEST, Math.floor((bytes * LONGEST) / lasts)))
}
