import type { VoiceChoices } from './voice-sessions.ts'

/** What a session does out of the ordinary; set by tests. */
export interface VoiceScript {
  /** Messages of the service, one list for every chunk, instead of its own transcripts. */
  readonly answers?: readonly (readonly unknown[])[]
  /** Ends the session with an error after so many chunks. */
  readonly errorAfter?: number
  /** Cuts the connection after so many chunks. */
  readonly dropAfter?: number
}

/** Milliseconds that a chunk stands for where its bytes do not say it. */
const CHUNK = 100

/** What the service hears in the nth chunk, from 1. Bytes are left as bytes for the codec. */
export function heard(choices: VoiceChoices, data: Uint8Array, n: number): readonly unknown[] {
  const { source_language: language = 'en', target_languages: targets = [], target_media_languages: spoken = [] } = choices
  const times = { start_time: (n - 1) * CHUNK, end_time: n * CHUNK }
  const guess = { language, text: `word ${n + 1}`, start_time: n * CHUNK, end_time: (n + 1) * CHUNK }
  return [
    { source_transcript_update: { concluded: [{ language, text: `word ${n} `, ...times }], tentative: [guess] } },
    ...targets.map((target) => ({
      target_transcript_update: { language: target, concluded: [{ text: `[${target}] word ${n} `, ...times }], tentative: [] },
    })),
    ...spoken.map((target) => ({
      target_media_chunk: {
        ...{ language: target, data: [data], duration: CHUNK },
        ...(n === 1 && { content_type: choices.target_media_content_type ?? 'audio/webm;codecs=opus', headers: 1 }),
      },
    })),
  ]
}

/** How a session ends in order. */
export function farewell({ target_languages: targets = [], target_media_languages: spoken = [] }: VoiceChoices): readonly unknown[] {
  return [
    { end_of_source_transcript: {} },
    ...targets.map((language) => ({ end_of_target_transcript: { language } })),
    ...spoken.map((language) => ({ end_of_target_media: { language } })),
    { end_of_stream: {} },
  ]
}

/** Milliseconds of sound in so many bytes; nothing for media whose bytes do not say it. */
export function durationOf(contentType: string, bytes: number): number | undefined {
  const [, encoding, rate] = /^audio\/pcm;encoding=(\w+);rate=(\d+)$/.exec(contentType) ?? []
  return rate === undefined ? undefined : (bytes / (encoding === 's16le' ? 2 : 1) / Number(rate)) * 1000
}
