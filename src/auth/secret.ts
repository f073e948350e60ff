/** A secret of the user. It is printed as `[secret]` everywhere; only strategies read its value. */

/** The value of a secret in code: text, or a function that is called for each use. */
export type SecretInput = string | (() => string | Promise<string>)

/** Passes secrets between two copies of this library in a program; no document and no file can contain it. */
const HANDED_ON = Symbol.for('stac-auth.secret')

/** Holds a secret so that logs, errors and JSON cannot show it by accident. */
export class Secret {
  /** True when it was given as text: reading it is immediate. */
  readonly isText: boolean
  /** True when the user is asked for it. */
  readonly isAsked: boolean
  readonly #read: () => string | Promise<string>

  constructor(input: SecretInput, isAsked = false) {
    this.isAsked = isAsked
    this.isText = typeof input === 'string'
    this.#read = typeof input === 'string' ? () => input : input
  }

  /** Returns the secret, also one created by another copy of the library; undefined for anything else. */
  static from(value: unknown): Secret | undefined {
    if (value instanceof Secret) return value
    if (typeof value !== 'object' || value === null || !(HANDED_ON in value)) return undefined
    const other = value as Secret
    return new Secret(() => other[HANDED_ON](), other.isAsked)
  }

  /** Returns the value, or a promise when it is not known yet. Errors: those of its source (`CREDENTIAL_SOURCE`). */
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
