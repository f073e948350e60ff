/** What a service says in a voice session. */
import { ProtocolError } from '../../errors.ts'
import { ValidationError } from '../client/errors.ts'
import { checkCount } from './translate-text.ts'
import type { VoiceJobInput } from './voice-jobs.ts'

/** Words and when they were said, in milliseconds from the beginning. */
export interface VoiceSegment {
  readonly text: string
  readonly start_time: number
  readonly end_time: number
}

/** A transcribed part of what was said. */
export interface SourceVoiceSegment extends VoiceSegment {
  readonly language: string
}

/** One message; each has its own `type`. Concluded segments stay, tentative ones hold until the next update. */
export type VoiceMessage =
  | {
      readonly type: 'source_transcript_update'
      readonly concluded: readonly SourceVoiceSegment[]
      readonly tentative: readonly SourceVoiceSegment[]
    }
  | {
      readonly type: 'target_transcript_update'
      readonly language: string
      readonly concluded: readonly VoiceSegment[]
      readonly tentative: readonly VoiceSegment[]
    }
  | {
      readonly type: 'target_media_chunk'
      readonly language: string
      readonly data: readonly Uint8Array[]
      /** Milliseconds. */
      readonly duration: number
      /** On the first chunk. */
      readonly content_type?: string
      /** How many packets at the beginning are headers. */
      readonly headers?: number
      readonly text?: string
    }
  | { readonly type: 'end_of_source_transcript' }
  | { readonly type: 'end_of_target_transcript'; readonly language: string }
  | { readonly type: 'end_of_target_media'; readonly language: string }
  | { readonly type: 'end_of_stream' }
  | {
      readonly type: 'error'
      readonly request_type?: string
      readonly error_code?: string | number
      readonly reason_code?: string | number
      readonly error_message?: string
    }
  | { readonly type: 'unknown'; readonly name: string; readonly payload: unknown }

/** The types of messages of a voice session. */
export type VoiceMessageType = VoiceMessage['type']

type Payload = Readonly<Record<string, unknown>>

type Reader = (payload: Payload, bytes: (value: unknown) => Uint8Array) => Payload

const SAME: Reader = (payload) => payload

const SPOKEN: Reader = ({ language, ...rest }) => {
  if (typeof language !== 'string') throw unreadable('it does not name its language')
  return { language, ...rest }
}

const READERS: Readonly<Record<Exclude<VoiceMessageType, 'unknown'>, Reader>> = {
  source_transcript_update: transcript,
  target_transcript_update: (payload, bytes) => transcript(SPOKEN(payload, bytes)),
  target_media_chunk: ({ data, ...rest }, bytes) => ({ ...SPOKEN(rest, bytes), data: listOf(data).map(bytes) }),
  end_of_source_transcript: SAME,
  end_of_target_transcript: SPOKEN,
  end_of_target_media: SPOKEN,
  end_of_stream: SAME,
  error: SAME,
}

/**
 * A message as it was decoded, with its only key as `type`. Errors: `RESPONSE_INVALID` for one that has not exactly one key with an object.
 *
 * @param bytes reads sound as the format writes it
 */
export function voiceMessage(decoded: unknown, bytes: (value: unknown) => Uint8Array): VoiceMessage {
  const entries = isRecord(decoded) ? Object.entries(decoded) : []
  const [[name, payload] = ['', undefined]] = entries
  if (entries.length !== 1) throw unreadable('does not have exactly one key')
  const read = Object.hasOwn(READERS, name) ? READERS[name as keyof typeof READERS] : undefined
  if (!read) return { type: 'unknown', name, payload }
  if (!isRecord(payload)) throw unreadable(`"${name}" is not an object`)
  return { ...read(payload, bytes), type: name } as unknown as VoiceMessage
}

/** `RESPONSE_INVALID`. */
export function unreadable(why: string): ProtocolError {
  return new ProtocolError('RESPONSE_INVALID', `a message of the voice session cannot be read: ${why}`)
}

function isRecord(value: unknown): value is Payload {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
}

function transcript({ concluded, tentative, ...rest }: Payload): Payload {
  return { ...rest, concluded: segments(concluded), tentative: segments(tentative) }
}

function segments(value: unknown): readonly unknown[] {
  const list = listOf(value)
  if (list.every((segment) => isRecord(segment) && typeof segment.text === 'string')) return list
  throw unreadable('a segment has no text')
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value
  throw unreadable('a list is not an array')
}

/** What a voice session is asked for. */
export interface VoiceSessionInput {
  /** `audio/auto`, `audio/flac`, `audio/pcm;encoding=s16le;rate=16000`, …; without blanks. */
  readonly source_media_content_type: string
  readonly source_language?: string
  /** Default `auto`. */
  readonly source_language_mode?: 'auto' | 'fixed'
  /** At most 5. */
  readonly target_languages?: readonly string[]
  /** At most 1, which is among the target languages. */
  readonly target_media_languages?: readonly string[]
  /** Default `audio/webm;codecs=opus`. */
  readonly target_media_content_type?: string
  readonly target_media_voice?: 'male' | 'female'
  /** Default `json`; `msgpack` needs the optional package `@msgpack/msgpack`, see `messagePack`. */
  readonly message_format?: 'json' | 'msgpack'
  readonly spoken_terms_id?: string
  readonly glossary_id?: string
  readonly formality?: 'default' | 'formal' | 'more' | 'informal' | 'less'
}

const LARGEST_RECORDING = 1_073_741_824

const MOST_TARGETS = 5

/** Errors: `REQUEST_INVALID`, `REQUEST_TOO_LARGE` for what the service says that it refuses. Types of media are for it to know. */
export function checkVoiceJob({ source_file, targets }: VoiceJobInput): void {
  const { content_length: size } = source_file
  const field = 'source_file.content_length'
  if (!Number.isInteger(size) || size < 1)
    throw new ValidationError('REQUEST_INVALID', `${field} must be a number of bytes of at least 1; nothing was sent`, { field })
  if (size > LARGEST_RECORDING) {
    const message = `a recording has at most ${LARGEST_RECORDING} bytes; nothing was sent`
    throw new ValidationError('REQUEST_TOO_LARGE', message, { field, limit: LARGEST_RECORDING })
  }
  checkCount(targets, 'targets', { most: Number.POSITIVE_INFINITY })
}

/** Errors: `REQUEST_TOO_LARGE` for too many languages. */
export function checkVoiceSession({ target_languages = [], target_media_languages = [] }: VoiceSessionInput): void {
  checkCount(target_languages, 'target_languages', { least: 0, most: MOST_TARGETS })
  checkCount(target_media_languages, 'target_media_languages', { least: 0, most: 1 })
}
