/** Lines of a document that must not be shown. */
import { hasUserInfo, isSecret, looksSecret, secretParameter } from '../secrets.ts'

/** A string of JSON, and the string that is its value when it is a name. */
const STRINGS = /("(?:[^"\\]|\\.)*")(?:\s*:\s*("(?:[^"\\]|\\.)*"))?/g

/** Characters of a line that is looked through; patterns cannot follow strings of many megabytes. */
const LONGEST = 2 ** 20

/**
 * True for a line that is too long to be looked through, and when a string in the line of a JSON text is or carries a secret. Whether
 * a rule has said so does not matter: it may be off, in the baseline, or too mild to be shown.
 */
export function isTellingLine(line: string): boolean {
  if (line.length > LONGEST) return true
  for (const [, first = '', second] of line.matchAll(STRINGS)) {
    const name = second === undefined ? '' : read(first)
    const value = read(second ?? first)
    if (isSecret(name, value) || looksSecret(name) || hasUserInfo(value) || secretParameter(value) !== undefined) return true
  }
  return false
}

/** What cannot be read is compared as it stands. */
function read(literal: string): string {
  try {
    return String(JSON.parse(literal))
  } catch {
    return literal
  }
}
