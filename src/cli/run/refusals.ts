/** Remembers what the gateway refused: programs often show only the status of a response, and some, such as QGIS, end as if all was read. */
import { AuthError, type ErrorCode } from '../../errors.ts'
import type { GatewayRequest } from '../../node/gateway/index.ts'
import { forUrl } from '../../text/sanitize.ts'

interface Refusal {
  readonly code: ErrorCode
  readonly url: string
  readonly message: string
  readonly hint: string | undefined
}

/** Requests that the gateway answered with an error of its own, by code. */
export class Refusals {
  readonly #byCode: Counted = new Map()
  /** Targets by URL without query, with the refusal of their last request. */
  readonly #targets = new Map<string, Refusal | undefined>()

  /** Adds targets for {@link unread}, before a program requests them. */
  watch(targets: readonly { readonly href: string }[]): void {
    for (const { href } of targets) this.#targets.set(href.replace(/[?#].*$/s, ''), undefined)
  }

  /** Remembers a request that failed; others, and those that the program gave up, do not count. */
  add({ code, url, message = '', hint }: GatewayRequest): void {
    if (code === 'ABORTED' || url === '') return
    const refusal = code === undefined ? undefined : { code, url, message, hint }
    if (this.#targets.has(url)) this.#targets.set(url, refusal)
    if (refusal) count(this.#byCode, refusal)
  }

  /** Returns the first error of each code. */
  errors(): readonly AuthError[] {
    return errorsOf(this.#byCode)
  }

  /** Returns the first error of each code among the targets whose last request was refused. */
  unread(): readonly AuthError[] {
    const byCode: Counted = new Map()
    for (const refusal of this.#targets.values()) if (refusal) count(byCode, refusal)
    return errorsOf(byCode)
  }
}

type Counted = Map<ErrorCode, { readonly first: Refusal; count: number }>

function count(byCode: Counted, refusal: Refusal): void {
  const known = byCode.get(refusal.code)
  if (known) known.count++
  else byCode.set(refusal.code, { first: refusal, count: 1 })
}

function errorsOf(byCode: Counted): readonly AuthError[] {
  return [...byCode].map(([code, { first, count: times }]) => {
    const others = times === 1 ? '' : ` (and ${times - 1} more)`
    const message = `the gateway refused ${forUrl(first.url)}${others}: ${first.message}`
    return new AuthError(code, message, { url: first.url, ...(first.hint !== undefined && { hint: first.hint }) })
  })
}
