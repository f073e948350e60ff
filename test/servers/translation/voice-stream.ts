import { parseStrictJson } from '../service/strict-json.ts'
import { isObject } from './fields.ts'
import { packMessage, unpackMessage } from './msgpack.ts'
import type { TranslationState } from './state.ts'
import { durationOf, farewell, heard } from './voice-script.ts'
import type { VoiceSession } from './voice-sessions.ts'
import { OPCODE } from './websocket-frames.ts'

/** The messages of a session, above its frames. */
export interface VoiceStream {
  receive(opcode: number, payload: Buffer): void
  /** Ends a session that was silent for too long. */
  watch(): void
}

interface Line {
  readonly send: (opcode: number, payload: Buffer) => void
  readonly close: (code: number) => void
  readonly drop: () => void
  readonly complain: (violation: string) => void
}

const LARGEST_CHUNK = 100_000
const LONGEST_SILENCE = 30_000

/** Thrown inside: the session ends with an error message. */
class SessionError extends Error {}

/** Judges what a client says in a session, and answers it. */
export function createVoiceStream(state: TranslationState, session: VoiceSession, line: Line): VoiceStream {
  const { choices } = session
  const packed = choices.message_format === 'msgpack'
  const progress = { chunks: 0, heardAt: state.clock.now(), chunkAt: Number.NEGATIVE_INFINITY, chunkLasts: 0, ended: false }
  const say = (message: unknown) => {
    if (packed) line.send(OPCODE.binary, packMessage(message))
    else line.send(OPCODE.text, Buffer.from(JSON.stringify(message, base64)))
  }
  const fail = (error_message: string) => {
    progress.ended = true
    session.ended = true
    say({ error: { request_type: 'source_media_chunk', error_code: 400, reason_code: 4000001, error_message } })
    line.close(1008)
  }
  const chunk = (data: Buffer) => {
    checkChunk(state, session, data, progress)
    const n = ++progress.chunks
    const { answers, errorAfter, dropAfter } = state.voiceScript
    for (const message of answers ? (answers[n - 1] ?? []) : heard(choices, data, n)) say(message)
    if (errorAfter === n) fail('The session failed as told')
    if (dropAfter === n) line.drop()
  }
  const end = () => {
    progress.ended = true
    session.ended = true
    for (const message of farewell(choices)) say(message)
    line.close(1000)
  }
  return {
    receive(opcode, payload) {
      try {
        if (progress.ended) throw new SessionError('A message after the end')
        const said = messageOf(opcode, payload, packed)
        if (said) chunk(said)
        else end()
      } catch (error) {
        if (!(error instanceof SessionError)) throw error
        line.complain(`a voice session: ${error.message}`)
        fail(error.message)
      }
    },
    watch() {
      if (!progress.ended && state.clock.now() - progress.heardAt > LONGEST_SILENCE) fail('Nothing was said for too long')
    },
  }
}

/** Refuses sound that comes earlier than half of what came before lasts. */
function checkChunk(
  { clock, settings }: TranslationState,
  { choices }: VoiceSession,
  data: Buffer,
  progress: { heardAt: number; chunkAt: number; chunkLasts: number },
) {
  const now = clock.now()
  const lasts = durationOf(choices.source_media_content_type, data.length)
  if (data.length > LARGEST_CHUNK || (lasts ?? 0) > 1000) throw new SessionError('A chunk that is too large')
  if (settings.voicePacing && now - progress.chunkAt < progress.chunkLasts / 2) throw new SessionError('A chunk that comes too early')
  Object.assign(progress, { heardAt: now, chunkAt: now, chunkLasts: lasts ?? 0 })
}

/** The sound of a chunk; nothing for the end. */
function messageOf(opcode: number, payload: Buffer, packed: boolean): Buffer | undefined {
  if (opcode !== (packed ? OPCODE.binary : OPCODE.text)) throw new SessionError('A frame that does not fit the message format')
  const message = decoded(payload, packed)
  const [[name, content] = [], ...others] = isObject(message) ? Object.entries(message) : []
  if (others.length || !isObject(content)) throw new SessionError('A message that has not exactly one key with an object')
  if (name === 'end_of_source_media' && Object.keys(content).length === 0) return undefined
  const { data, ...more } = content
  if (name !== 'source_media_chunk' || Object.keys(more).length) throw new SessionError(`An unknown message or field: ${name}`)
  return packed ? bytesOf(data) : decodedBase64(data)
}

function decoded(payload: Buffer, packed: boolean): unknown {
  try {
    return packed ? unpackMessage(payload) : parseStrictJson(payload)
  } catch {
    throw new SessionError('A message that cannot be read')
  }
}

function bytesOf(data: unknown): Buffer {
  if (data instanceof Uint8Array && data.length) return Buffer.from(data)
  throw new SessionError('A chunk without bytes')
}

function decodedBase64(data: unknown): Buffer {
  const bytes = typeof data === 'string' ? Buffer.from(data, 'base64') : undefined
  if (bytes?.length && bytes.toString('base64') === data) return bytes
  throw new SessionError('A chunk that is no base64')
}

/** Bytes as base64; buffers have become `{ type, data }` before a replacer sees them. */
function base64(_name: string, value: unknown): unknown {
  return isObject(value) && value.type === 'Buffer' && Array.isArray(value.data)
    ? Buffer.from(value.data as number[]).toString('base64')
    : value
}
