/** Faults that a service is told to show, in the order in which it was told. */

/** Which requests a rule is for; what is left out fits all. */
export interface Match {
  readonly op?: number | string
  readonly method?: string
  /** As in the request line, without the query. */
  readonly path?: string
  readonly credential?: string
  /** Lets the first `nth - 1` fitting requests pass. */
  readonly nth?: number
}

/** How the body of an answer is put on the wire. */
export type Framing = 'length' | 'chunked' | 'bytes' | 'gzip'

/** What happens to a request. Without `status`, `redirect`, `noResponse` or `resetBefore` the operation is performed. */
export interface Action {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Text and bytes as they are, anything else as JSON. */
  readonly body?: unknown
  /** Performs the operation, throws its answer away and does this. */
  readonly performThen?: Action
  /** Before the operation: real milliseconds, or until a promise is done. */
  readonly delay?: number | Promise<unknown>
  /** Pieces of the body, real milliseconds apart. */
  readonly dripBody?: { readonly bytes: number; readonly everyMs: number }
  readonly noResponse?: boolean
  /** RST before any byte of the answer. */
  readonly resetBefore?: boolean
  readonly resetAfterHeaders?: boolean
  /** RST after so many bytes of the body. */
  readonly resetAfter?: number
  /** FIN after so many bytes of a body that was announced as longer. */
  readonly truncate?: number
  readonly badJson?: boolean
  readonly htmlBody?: boolean
  readonly emptyBody?: boolean
  readonly wrongContentType?: string
  /** A field that the answer does not have, added to its outermost object. */
  readonly extraField?: string
  readonly dropField?: string
  readonly redirect?: { readonly status: number; readonly location: string }
  readonly retryAfter?: string | number
  /** Milliseconds that the Date field is ahead of the clock. */
  readonly dateSkew?: number
  readonly closeConnection?: boolean
  /** Reads so many bytes of the request's body and no more. */
  readonly stopReading?: number
  readonly framing?: Framing
}

/** What happens to most requests: nothing out of the ordinary. */
export const NO_ACTION: Action = {}

export interface Rule {
  readonly match?: Match
  /** How often; once when left out. */
  readonly times?: number
  readonly do: Action
}

/** What a rule is compared with. */
export type Matched = Readonly<Record<'op' | 'method' | 'path' | 'credential', string | number | undefined>>

export interface FaultScript {
  add(rule: Rule): void
  /** The action of the first rule that fits and is not used up. */
  take(request: Matched): Action | undefined
  /** Rules that wait in vain; those without an end count when they were never used. */
  unused(): readonly Rule[]
  clear(): void
}

export function createFaultScript(): FaultScript {
  let waiting: { readonly rule: Rule; toPass: number; left: number; used: boolean }[] = []
  return {
    add(rule) {
      waiting.push({ rule, toPass: (rule.match?.nth ?? 1) - 1, left: rule.times ?? 1, used: false })
    },
    take(request) {
      if (waiting.length === 0) return undefined
      for (const entry of waiting) {
        if (entry.left === 0 || !fits(entry.rule.match, request)) continue
        if (entry.toPass > 0) {
          entry.toPass--
          continue
        }
        entry.left--
        entry.used = true
        return entry.rule.do
      }
      return undefined
    },
    unused: () => waiting.filter(({ left, used }) => left > 0 && !(left === Number.POSITIVE_INFINITY && used)).map(({ rule }) => rule),
    clear() {
      waiting = []
    },
  }
}

function fits(match: Match = {}, request: Matched): boolean {
  const fields = ['op', 'method', 'path', 'credential'] as const
  return fields.every((field) => match[field] === undefined || match[field] === request[field])
}
