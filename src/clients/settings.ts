/** What the calls of one client have in common. */

import type { Redactor } from '../text/redactor.ts'
import type { Codec } from './decode.ts'
import type { Events } from './events.ts'
import type { FormOptions } from './form.ts'
import type { Interceptor } from './interceptor.ts'
import type { ServiceLimits } from './service-limits.ts'

/** Milliseconds. A transport that is only a function, such as `fetch`, knows no `headers` and `bodyIdle`: `attempt` ends those waits. */
export interface Timeouts {
  /** One attempt with its whole answer; default 30 000. Not for answers that are streams. */
  readonly attempt?: number
  /** From the end of the request to the headers of the answer; default 30 000. */
  readonly headers?: number
  /** Between two pieces of the answer; default 30 000. */
  readonly bodyIdle?: number
  /** A call with all its waits and retries; default 120 000; `false` for none. */
  readonly total?: number | false
}

/** Every choice made. */
export interface Settings {
  readonly origin: string
  /** Path of the base address without a slash at its end. */
  readonly base: string
  readonly form: FormOptions
  readonly pinned: ReadonlySet<string>
  readonly timeouts: Required<Timeouts>
  readonly maxRetries: number
  /** Milliseconds of a server's wish that are waited for. */
  readonly maxRetryAfter: number
  readonly queueLimit: number
  readonly renew: boolean
  /** What to tell the user about a status. */
  readonly hints: Readonly<Record<number, string>>
  readonly codec: Codec | undefined
  readonly parseJson: (text: string) => unknown
  readonly limits: ServiceLimits
  readonly events: Events
  readonly redactor: Redactor
  readonly interceptors: readonly Interceptor[]
}
