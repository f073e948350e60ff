/** Text of strangers in a report that a CI service may read line by line. */
import { forJson, forLine } from '../../text/sanitize.ts'

/** `##[…]`, `##vso[…]` and `##teamcity[…]` are commands to build services wherever they stand in a line. */
const COMMAND = /##(?=\w*\[)/g

/** One line that no terminal and no build service obeys: controls are written out, and so is what begins a command. */
export function inert(text: string): string {
  return forLine(text)
    .replace(COMMAND, '#\\u{23}')
    .replace(/^(\s*):(?=:)/, '$1\\u{3a}')
}

/** JSON that means the same, on the lines it seems to have, and that no build service obeys. */
export function inertJson(value: unknown, indent?: number): string {
  return forJson(value, indent)
    .replace(COMMAND, '#\\u0023')
    .replace(/[\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16)}`)
}
