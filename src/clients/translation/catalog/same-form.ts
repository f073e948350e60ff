/** Translations that keep the form of what they stand for: words of the service begin nothing, close nothing and are no HTML. */
import { BAR } from './bar.ts'

/** What would begin a list, a heading, a quote, code, a rule, a table or a reference; the group is what may stand before the escape. */
const BEGINNING =
  /^(\d{1,9}(?=[.)](?:\s|$))|(?=[-+*](?:\s|$)|#{1,6}(?:\s|$)|>|~{3}|`{3}[^`]*$|(?:=+|-+)\s*$|(?:[-*_]\s*){3,}$|\[[^\]]*\]:|\|))/
const TAG = /<[A-Za-z/!?][^<>]*>?/g

/** The translation of a paragraph, or of a cell, with backslashes where it would otherwise be something else than its original is. */
export function inForm(translation: string, original: string, isCell: boolean): string {
  if (translation === original) return translation
  const text = isCell
    ? translation
        .split(BAR)
        .map(escapedBar)
        .join('')
        .replace(/(?<!\\)\\+$/, '')
    : translation
  // Four blanks at the beginning would make it code.
  const words = text.replace(/^[ \t]+/, '')
  const found = BEGINNING.test(original) ? undefined : BEGINNING.exec(words)
  if (!found) return words
  const [, number = ''] = found
  return `${number}\\${words.slice(number.length)}`
}

/** Whether the translation has tags, comments or declarations of HTML that its original has not. */
export function hasOtherTags(translation: string, original: string): boolean {
  const left = new Map<string, number>()
  for (const [tag] of original.matchAll(TAG)) left.set(tag, (left.get(tag) ?? 0) + 1)
  for (const [tag] of translation.matchAll(TAG)) {
    const count = left.get(tag) ?? 0
    if (count === 0) return true
    left.set(tag, count - 1)
  }
  return false
}

function escapedBar(piece: string): string {
  return piece === '|' ? '\\|' : piece
}
