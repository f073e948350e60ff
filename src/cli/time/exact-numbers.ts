/**
 * Numbers of a service as it wrote them. `JSON.parse` makes another number of an integer of twenty digits, and drops the zero of `12.50`;
 * such a number travels as a marked text and is printed as it came.
 */

/** Of this process only, so that no text of a service can look like one. */
const MARK = `number ${crypto.randomUUID()} `

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g')

/** As `JSON.parse`, with a marked text for each number that a JavaScript number does not print as it is written. Errors: `SyntaxError`. */
export function parseExactly(text: string): unknown {
  const plain: unknown = JSON.parse(text)
  const exact = text.replace(TOKEN, (token) => (token.startsWith('"') || String(Number(token)) === token ? token : `"${MARK}${token}"`))
  return exact === text ? plain : JSON.parse(exact)
}

/** JSON or text for people with the numbers that are marked in it. */
export function withExactNumbers(text: string): string {
  return text.replace(MARKED, '$1').replaceAll(MARK, '')
}
