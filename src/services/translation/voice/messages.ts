/** The messages of a voice session, and the two formats in which they are sent. */

import { base64, fromBase64url } from '../../../crypto/encoding.ts'
import { ProtocolError, UnsupportedError } from '../../../errors.ts'
import type { MessagePack } from '../../../platform/platform.ts'

/** A message of the client: audio, or the end of the audio. */
export type VoiceSaid = { readonly source_media_chunk: { readonly data: Uint8Array } } | { readonly end_of_source_media: object }

/** Encodes the messages of the client and decodes those of the service. Errors: `RESPONSE_INVALID` for a message that cannot be decoded. */
export interface VoiceCodec {
  write(message: VoiceSaid): string | Uint8Array<ArrayBuffer>
  /** @param data text, or an `ArrayBuffer` */
  read(data: unknown): VoiceMessage
}

/** Returns the codec of a format. Errors: `SCHEME_UNSUPPORTED` when the package for it is neither passed nor installed. */
export async function voiceCodec(format: 'json' | 'msgpack' = 'json', messagePack?: MessagePack): Promise<VoiceCodec> {
  if (format === 'json') return { write: inJson, read: reader('text', JSON.parse, base64Bytes) }
  const { encode, decode } = messagePack ?? (await installedMessagePack())
  const packedBytes = (value: unknown) => (value instanceof Uint8Array ? value : undefined)
  return { write: (message) => encode(message), read: reader('binary', decode, packedBytes) }
}

/** Bytes in JSON are base64 (RFC 4648 §4). */
function inJson(message: VoiceSaid): string {
  return JSON.stringify(message, (_name, value: unknown) => (value instanceof Uint8Array ? base64(value) : value))
}

function base64Bytes(value: unknown): Uint8Array | undefined {
  return typeof value === 'string' ? fromBase64url(value) : undefined
}

/** @param bytesOf decodes audio; undefined for anything else */
function reader<Data extends string | ArrayBuffer>(
  kind: 'text' | 'binary',
  decode: (data: Data) => unknown,
  bytesOf: (value: unknown) => Uint8Array | undefined,
): VoiceCodec['read'] {
  const audio = (value: unknown) => {
    const bytes = bytesOf(value)
    if (bytes) return bytes
    throw unreadable(`its audio is not in the form of a ${kind} message`)
  }
  return (data) => {
    if (kind === 'text' ? typeof data !== 'string' : !(data instanceof ArrayBuffer)) throw unreadable(`it is not a ${kind} message`)
    let decoded: unknown
    try {
      decoded = decode(data as Data)
    } catch {
      throw unreadable('it is not in the message format of the session')
    }
    return voiceMessage(decoded, audio)
  }
}

async function installedMessagePack(): Promise<MessagePack> {
  const { optionalPackages } = (await import('#platform')).platform
  try {
    if (optionalPackages) return await optionalPackages.messagePack()
  } catch {
    // Not installed.
  }
  const hint = optionalPackages
    ? 'npm install @msgpack/msgpack, or use the message format json'
    : "pass messagePack: await import('@msgpack/msgpack'), or use the message format json"
  throw new UnsupportedError('SCHEME_UNSUPPORTED', 'the message format msgpack needs the optional package @msgpack/msgpack', { hint })
}

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
function voiceMessage(decoded: unknown, bytes: (value: unknown) => Uint8Array): VoiceMessage {
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
