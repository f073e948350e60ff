import type { AuthError } from '../../errors.ts'

/** An answer that is no success, on its way to whoever decides whether to ask again. */
export class RefusedAnswer extends Error {
  readonly error: AuthError
  /** Milliseconds for which the server wants to be left alone. */
  readonly rest: number | undefined

  constructor(error: AuthError, rest: number | undefined) {
    super()
    this.error = error
    this.rest = rest
  }
}
