/** Streams the features of a FeatureCollection that is too large to parse at once. */
import { IntegrityError } from '../../errors.ts'
import { DOCUMENT_LIMITS } from '../../stac/document.ts'

/** The text of an element of `features`. */
export interface FeatureText {
  readonly index: number
  readonly text: string
  /** Where it begins, from 1; columns in UTF-16 units. */
  readonly line: number
  readonly column: number
}

/**
 * Splits the text of an object: yields the elements of its `features`, and returns everything else with an empty list in their
 * place. The elements are not validated. Errors: `DOC_TOO_LARGE` for an element or rest beyond the size limit of a document;
 * `DOC_NOT_UTF8`.
 */
export async function* featuresOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<FeatureText, string> {
  const splitter = new Splitter()
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (chunk?: Uint8Array) => {
    try {
      return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode()
    } catch {
      throw new IntegrityError('DOC_NOT_UTF8', 'the document is not UTF-8 text')
    }
  }
  for await (const chunk of chunks) yield* splitter.push(decode(chunk))
  yield* splitter.push(decode())
  return splitter.rest
}

/** Characters of a string that neither end it nor are escapes or line feeds. */
const PLAIN = /[^"\\\n]+/y

class Splitter {
  rest = ''
  #depth = 0
  #quoted = false
  #escaped = false
  /** The name that was read last in the outermost object, and the one being read. */
  #name = ''
  #inside = false
  #element = ''
  #index = 0
  #line = 1
  #column = 1
  #start = { line: 1, column: 1 }

  /** Processes the next part of the text and returns the elements that end in it. */
  push(text: string): FeatureText[] {
    const found: FeatureText[] = []
    let from = 0
    for (let at = 0; at < text.length; at++) {
      at += this.#skipped(text, at)
      const character = text[at]
      if (character === undefined) break
      if (this.#quoted) this.#inString(character)
      else if (this.#inside && this.#depth === 2 && (character === ',' || character === ']')) {
        found.push(...this.#end(text.slice(from, at)))
        from = at + (character === ',' ? 1 : 0)
        if (character === ']') this.#close()
      } else if (this.#structure(character, text, from, at)) from = at + 1
      this.#advance(character)
    }
    this.#keep(text.slice(from))
    return found
  }

  /** Returns how many characters of a string, whose content does not matter here, can be skipped. */
  #skipped(text: string, at: number): number {
    if (!this.#quoted || this.#escaped || this.#depth === 1) return 0
    PLAIN.lastIndex = at
    PLAIN.test(text)
    const count = Math.max(0, PLAIN.lastIndex - at)
    this.#column += count
    return count
  }

  #inString(character: string): void {
    if (this.#escaped) this.#escaped = false
    else if (character === '\\') this.#escaped = true
    else if (character === '"') this.#quoted = false
    if (this.#depth === 1 && this.#quoted) this.#name += character
  }

  /** Processes a structural character; returns true if the list of features starts here. */
  #structure(character: string, text: string, from: number, at: number): boolean {
    if (character === '"') {
      this.#quoted = true
      if (this.#depth === 1) this.#name = ''
    } else if (character === '{' || character === '[') {
      this.#depth++
      if (character === '[' && this.#depth === 2 && this.#name === 'features' && !this.#inside) {
        this.#keep(text.slice(from, at + 1))
        this.#inside = true
        this.#start = { line: this.#line, column: this.#column + 1 }
        return true
      }
    } else if (character === '}' || character === ']') this.#depth--
    return false
  }

  #close(): void {
    this.#inside = false
    this.#depth--
    this.#name = ''
  }

  #end(tail: string): FeatureText[] {
    this.#keep(tail)
    const raw = this.#element
    const text = raw.trim()
    this.#element = ''
    const skipped = raw.slice(0, raw.length - raw.trimStart().length).split('\n')
    const { line, column } = this.#start
    const last = skipped.at(-1)?.length ?? 0
    const start = skipped.length > 1 ? { line: line + skipped.length - 1, column: last + 1 } : { line, column: column + last }
    this.#start = { line: this.#line, column: this.#column + 1 }
    return text === '' ? [] : [{ index: this.#index++, text, ...start }]
  }

  #keep(text: string): void {
    if (this.#inside) this.#element += text
    else this.rest += text
    if (Math.max(this.#element.length, this.rest.length) > DOCUMENT_LIMITS.other)
      throw new IntegrityError('DOC_TOO_LARGE', 'a part of the document is larger than a document may be')
  }

  #advance(character: string): void {
    if (character === '\n') {
      this.#line++
      this.#column = 1
    } else this.#column++
  }
}
