/** The messages of the service in a voice session. */
import { ProtocolError } from '../../errors.ts'
import { ValidationError } from '../client/errors.ts'
import { checkCount } from './translate-text.ts'
import type { VoiceJobInput } from './voice-jobs.ts'

/** A part of a transcript. */
export interface VoiceSegment {
  /** The words. */
  readonly text: string
  /** Begin in milliseconds from the start of the audio. */
  readonly start_time: number
  /** End in milliseconds from the start of the audio. */
  readonly end_time: number
}

/** A message of a voice session, by its `type`. Concluded segments are final, tentative ones are valid until the next update. */
export type VoiceMessage =
  | {
      readonly type: 'source_transcript_update'
      readonly concluded: readonly (VoiceSegment & { readonly language: string })[]
      readonly tentative: readonly (VoiceSegment & { readonly language: string })[]
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
      /** Number of packets at the beginning that are headers. */
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

type Payload = Readonly<Record<string, unknown>>

type Reader = (payload: Payload, bytes: (value: unknown) => Uint8Array) => Payload

const SAME: Reader = (payload) => payload

const SPOKEN: Reader = ({ language, ...rest }) => {
  if (typeof language !== 'string') throw unreadable('it does not name its language')
  return { language, ...rest }
}

const READERS: Readonly<Record<Exclude<VoiceMessage['type'], 'unknown'>, Reader>> = {
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
 * Returns a decoded message with its only key as `type`. Errors: `RESPONSE_INVALID` unless it has exactly one key, whose value is an
 * object.
 *
 * @param bytes decodes audio from the representation of the format
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

/** Returns a `RESPONSE_INVALID` error. */
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

const LARGEST_RECORDING = 1_073_741_824

const MOST_TARGETS = 5

/**
 * Checks a voice job. Errors: `REQUEST_INVALID`, `REQUEST_TOO_LARGE` for parameters that the service documents as refused. Media types are
 * left to the service.
 */
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

/** Checks a voice session. Errors: `REQUEST_TOO_LARGE` for too many languages. */
export function checkVoiceSession({ target_languages = [], target_media_languages = [] }: VoiceSessionInput): void {
  checkCount(target_languages, 'target_languages', { least: 0, most: MOST_TARGETS })
  checkCount(target_media_languages, 'target_media_languages', { least: 0, most: 1 })
}
