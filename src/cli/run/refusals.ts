/** Remembers what the gateway refused: programs often show only the status of a response. */
import type { Warning } from '../../auth/strategy.ts'
import type { ErrorCode } from '../../errors.ts'
import type { GatewayRequest } from '../../node/gateway/gateway.ts'
import { forUrl } from '../../text/sanitize.ts'

interface Refusal {
  readonly url: string
  count: number
}

/** Requests that the gateway answered with an error of its own, by code. */
export class Refusals {
  readonly #byCode = new Map<string, Refusal>()

  /** Remembers a request that failed; others, and those that the program gave up, do not count. */
  add({ code, url }: GatewayRequest): void {
    if (code === undefined || code === 'ABORTED' || url === '') return
    const known = this.#byCode.get(code)
    if (known) known.count++
    else this.#byCode.set(code, { url, count: 1 })
  }

  /** Returns a warning for each code, with the first URL. */
  warnings(): readonly Warning[] {
    return [...this.#byCode].map(([code, { url, count }]) => {
      const requests = count === 1 ? 'the request' : `${count} requests, the first`
      const message = `the gateway could not answer ${requests} for ${forUrl(url)}`
      return { code: code as ErrorCode, message }
    })
  }
}
