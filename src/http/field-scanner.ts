/** Reads structured field values from left to right (RFC 9110 §5.6). */
export class FieldScanner {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** True at the end of the text. */
  get done(): boolean {
    return this.#at === this.#text.length
  }

  /** Skips spaces and tabs; true when there were any. */
  blanks(): boolean {
    return this.#take(BLANKS) !== undefined
  }

  /** Skips the end of a list element and empty ones after it; true when there was a comma. */
  commas(): boolean {
    return this.#take(COMMAS)?.includes(',') === true
  }

  /** Takes an equals sign and the blanks around it, if it comes next. */
  equals(): boolean {
    return this.#take(EQUALS) !== undefined
  }

  token(): string | undefined {
    return this.#take(TOKEN)
  }

  /** A token68 (§11.2): only where a list element ends with it, else it is the name of a parameter. */
  token68(): string | undefined {
    return this.#take(TOKEN68)
  }

  /** The value of a parameter: a quoted string without its escapes, a token, or base64 that somebody forgot to quote. */
  value(): string | undefined {
    return this.#take(QUOTED)?.slice(1, -1).replace(/\\(.)/g, '$1') ?? this.#take(UNQUOTED)
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    this.#at += found?.length ?? 0
    return found
  }
}

const BLANKS = /[\t ]+/y
const COMMAS = /[\t ,]+/y
const EQUALS = /[\t ]*=[\t ]*/y
const TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y
const TOKEN68 = /[A-Za-z0-9._~+/-]+=*(?=[\t ]*(?:,|$))/y
const QUOTED = /"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\uffff]|\\[\t\x20-\x7e\x80-\uffff])*"/y
const UNQUOTED = /[!#$%&'*+.^_`|~0-9A-Za-z/-]+=*/y
