import { jsonReply, Refusal, type Reply } from '../service/reply.ts'
import type { Switches } from './options.ts'

/** One thing that is wrong with a request. */
export interface Problem {
  readonly field?: string
  readonly message: string
}

/** A record or a list in its envelope; `more` goes beside it where there is one. */
export function enveloped({ envelope }: Switches, value: unknown, more: Readonly<Record<string, unknown>> = {}): Reply {
  const hasMore = Object.keys(more).length > 0
  if (envelope === 'items' && Array.isArray(value)) return jsonReply(200, { items: value, ...more })
  if (envelope === 'none' && !hasMore) return jsonReply(200, value)
  return jsonReply(200, { data: value, ...more })
}

/** A failure in the shape that is switched on. */
export function failure({ errorShape }: Switches, status: number, message: string, problems: readonly Problem[] = []): Reply {
  switch (errorShape) {
    case 'message':
      return jsonReply(status, { status, message, ...(problems.length > 0 && { errors: problems }) })
    case 'error':
      return jsonReply(status, { error: { code: `E${status}`, message } })
    case 'errors':
      return jsonReply(status, { errors: problems.length > 0 ? problems : [message] })
    case 'text':
      return { status, headers: { 'Content-Type': 'text/plain' }, body: message }
    case 'empty':
      return { status, body: '' }
  }
}

/** Ends an operation with a failure; with a violation when no correct client sends such a request. */
export function refuse(switches: Switches, status: number, message: string, more: RefusalParts = {}): never {
  const reply = failure(switches, status, message, more.problems)
  throw new Refusal({ ...reply, headers: { ...reply.headers, ...more.headers } }, more.violation)
}

interface RefusalParts {
  readonly problems?: readonly Problem[]
  readonly headers?: Readonly<Record<string, string>>
  readonly violation?: string
}
