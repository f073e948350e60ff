/** The two formats of the messages of a voice session. */

import { base64, fromBase64url } from '../../crypto/encoding.ts'
import { UnsupportedError } from '../../errors.ts'
import type { MessagePack } from '../../platform/platform.ts'
import { unreadable, type VoiceMessage, voiceMessage } from './voice-messages.ts'

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
  if (format === 'json') return JSON_CODEC
  const { encode, decode } = messagePack ?? (await installedMessagePack())
  return {
    write: (message) => encode(message),
    read(data) {
      if (!(data instanceof ArrayBuffer)) throw unreadable('it is text, but the session has a binary message format')
      return voiceMessage(
        decodedBy(() => decode(data)),
        packedBytes,
      )
    },
  }
}

/** The codec of JSON messages; bytes in them are base64 (RFC 4648 §4). */
const JSON_CODEC: VoiceCodec = {
  write: (message) => JSON.stringify(message, (_name, value: unknown) => (value instanceof Uint8Array ? base64(value) : value)),
  read(data) {
    if (typeof data !== 'string') throw unreadable('it is binary, but the session has a text message format')
    return voiceMessage(
      decodedBy(() => JSON.parse(data) as unknown),
      base64Bytes,
    )
  },
}

function decodedBy(decode: () => unknown): unknown {
  try {
    return decode()
  } catch {
    throw unreadable('it is not in the message format of the session')
  }
}

function base64Bytes(value: unknown): Uint8Array {
  const bytes = typeof value === 'string' ? fromBase64url(value) : undefined
  if (bytes) return bytes
  throw unreadable('its audio is not base64')
}

function packedBytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  throw unreadable('its audio is not binary')
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
