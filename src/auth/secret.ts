/** A secret of the user. It prints as `[secret]` wherever it is printed; only strategies look inside. */

/** What a secret is made from in code: the text, or a function that is asked each time one is needed. */
export type SecretInput = string | (() => string | Promise<string>)

/** Holds a secret so that logs, errors and JSON cannot show it by accident. */
export class Secret {
  /** True when it was given as text: revealing it asks nobody and waits for nothing. */
  readonly isText: boolean
  readonly #read: () => string | Promise<string>

  constructor(input: SecretInput) {
    this.isText = typeof input === 'string'
    this.#read = typeof input === 'string' ? () => input : input
  }

  /** The value, at once when it is known, else a promise. Errors: those of its source (`CREDENTIAL_SOURCE`). */
  reveal(): string | Promise<string> {
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
