/** A secret of the user. It prints as `[secret]` wherever it is printed; only strategies look inside. */

/** What a secret is made from in code: the text, or a function that is asked each time one is needed. */
export type SecretInput = string | (() => string | Promise<string>)

/** How one copy of this library in a program hands a secret to another; no document and no file can hold it. */
const HANDED_ON = Symbol.for('stac-auth.secret')

/** Holds a secret so that logs, errors and JSON cannot show it by accident. */
export class Secret {
  /** True when it was given as text: revealing it asks nobody and waits for nothing. */
  readonly isText: boolean
  /** True when a person is asked for it. */
  readonly isAsked: boolean
  readonly #read: () => string | Promise<string>

  constructor(input: SecretInput, isAsked = false) {
    this.isAsked = isAsked
    this.isText = typeof input === 'string'
    this.#read = typeof input === 'string' ? () => input : input
  }

  /** A secret as it is, also one that another copy of the library has made; undefined for anything else. */
  static from(value: unknown): Secret | undefined {
    if (value instanceof Secret) return value
    if (typeof value !== 'object' || value === null || !(HANDED_ON in value)) return undefined
    const other = value as Secret
    return new Secret(() => other[HANDED_ON](), other.isAsked)
  }

  /** The value, at once when it is known, else a promise. Errors: those of its source (`CREDENTIAL_SOURCE`). */
  reveal(): string | Promise<string> {
    return this.#read()
  }

  [HANDED_ON](): string | Promise<string> {
    return this.#read()
  }

  toString(): string {
    return '[secret]'
  }

  toJSON(): string {
    return '[secret]'
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[secret]'
  }
}
