/** JSON whose numbers keep the digits that the service wrote, for decimals and large ids. */

/** The text of numbers by their object or list and key, where a JavaScript number is written differently. */
const TEXTS = new WeakMap<object, Map<string, string>>()

/** Marks numbers; random, so that no text of a service contains it. */
export const MARK = `number ${crypto.randomUUID()} `

/** A number that JavaScript may write differently: with 16 digits, a last zero or an exponent. Also in strings, which only takes time. */
const UNUSUAL = /(?:^|[[:,\s])-?\d(?:[\d.]{15}|\d*(?:\.\d*0(?!\d)|(?:\.\d+)?[eE]))/

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** Parses JSON as `JSON.parse`, and remembers the text of numbers for {@link textOf}. Errors: `SyntaxError`. */
export function parseExactly(text: string): unknown {
  if (!UNUSUAL.test(text)) return JSON.parse(text)
  return JSON.parse(markedJson(text), function (this: object, key: string, value: unknown) {
    if (typeof value !== 'string' || !value.startsWith(MARK)) return value
    const number = value.slice(MARK.length)
    const texts = TEXTS.get(this) ?? new Map<string, string>()
    TEXTS.set(this, texts.set(key, number))
    return Number(number)
  })
}

/** Returns JSON in which numbers that JavaScript writes differently are strings that begin with {@link MARK}. Errors: `SyntaxError`. */
export function markedJson(text: string): string {
  JSON.parse(text)
  return text.replace(TOKEN, (token) => (token.startsWith('"') || String(Number(token)) === token ? token : `"${MARK}${token}"`))
}

/** Returns the text of a number as the service wrote it, if a JavaScript number is written differently: `12.30`. */
export function textOf(holder: object, key: string): string | undefined {
  return TEXTS.get(holder)?.get(key)
}

/** True if a JavaScript number cannot have all digits of that text. */
export function losesDigits(text: string): boolean {
  const [digits = ''] = text.replace(/[.-]/g, '').split(/e/i)
  return digits.replace(/^0+|0+$/g, '').length > 15 || !Number.isFinite(Number(text))
}
