/** Remembers what the gateway refused: programs often show only the status of a response. */
import { AuthError, type ErrorCode } from '../../errors.ts'
import type { GatewayRequest } from '../../node/gateway/gateway.ts'
import { forUrl } from '../../text/sanitize.ts'

interface Refusal {
  readonly url: string
  readonly message: string
  readonly hint: string | undefined
  count: number
}

/** Requests that the gateway answered with an error of its own, by code. */
export class Refusals {
  readonly #byCode = new Map<ErrorCode, Refusal>()

  /** Remembers a request that failed; others, and those that the program gave up, do not count. */
  add({ code, url, message = '', hint }: GatewayRequest): void {
    if (code === undefined || code === 'ABORTED' || url === '') return
    const known = this.#byCode.get(code)
    if (known) known.count++
    else this.#byCode.set(code, { url, message, hint, count: 1 })
  }

  /** Returns the first error of each code. */
  errors(): readonly AuthError[] {
    return [...this.#byCode].map(([code, { url, message, hint, count }]) => {
      const others = count === 1 ? '' : ` (and ${count - 1} more)`
      return new AuthError(code, `the gateway refused ${forUrl(url)}${others}: ${message}`, hint === undefined ? {} : { hint })
    })
  }
}
