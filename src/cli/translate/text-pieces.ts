/** Splits texts into pieces that are translated one by one; joined, the pieces are the text. */

import { bodySize, operations } from '../../services/translation/operations.ts'
import type { TranslateParams } from '../../services/translation/translate-text.ts'
import { utf8Length } from '../../text/utf8-length.ts'

/** A piece of a text; whitespace is not translated. */
export interface TextPiece {
  readonly text: string
  readonly translate: boolean
}

/** Splits a text into paragraphs and the whitespace between them. */
export function paragraphsOf(text: string): readonly TextPiece[] {
  return text.split(/(\r?\n(?:[ \t]*\r?\n)+)/).flatMap(trimmed)
}

function trimmed(piece: string): readonly TextPiece[] {
  const words = piece.trim()
  if (words === '') return piece === '' ? [] : [{ text: piece, translate: false }]
  const start = piece.length - piece.trimStart().length
  return [
    { text: piece.slice(0, start), translate: false },
    { text: words, translate: true },
    { text: piece.slice(start + words.length), translate: false },
  ].filter(({ text }) => text !== '')
}

/** Returns the bytes that the texts of one request may have, by {@link textSize}. */
export function roomFor(params: TranslateParams): number {
  return (operations.translateText.largest?.most ?? 0) - bodySize({ text: [], ...params })
}

/** Returns the bytes of a text in a request, with the comma after it. */
export function textSize(text: string): number {
  return utf8Length(JSON.stringify(text)) + 1
}

/**
 * Splits a text that is larger than one request: between sentences, or where one is very long, between words or characters. Any other text is
 * one piece.
 */
export function requestPieces(text: string, room: number): readonly TextPiece[] {
  if (textSize(text) <= room || room < LEAST) return [{ text, translate: true }]
  const parts: string[] = []
  let rest = text
  while (rest.length > room || textSize(rest) > room) {
    const end = cutOf(rest, room)
    parts.push(rest.slice(0, end))
    rest = rest.slice(end)
  }
  return [...parts, rest].flatMap(trimmed)
}

/** Where a context leaves less room, the service is to say so. */
const LEAST = 1024

/** Characters at the end of a part in which a boundary is looked for: each segment of a long text takes as long as the text. */
const SEARCHED = 8192

function cutOf(text: string, room: number): number {
  let end = room
  for (let size = textSize(text.slice(0, end)); size > room; size = textSize(text.slice(0, end))) end = Math.floor((end * room) / size)
  const start = Math.max(0, end - SEARCHED)
  for (const granularity of ['sentence', 'word', 'grapheme'] as const) {
    // The last segment may go on after the end.
    const last = [...new Intl.Segmenter(undefined, { granularity }).segment(text.slice(start, end))].at(-1)
    if (last && last.index > 0) return start + last.index
  }
  return end
}
