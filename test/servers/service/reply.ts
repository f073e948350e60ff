/** What a service answers, as data. */
export interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Told once, when the last byte was handed to the system or the connection ended before. */
  readonly sent?: (complete: boolean) => void
}

/** An answer in JSON. */
export function jsonReply(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(value) }
}

/** Thrown by an operation to answer something else; with a violation when no correct client sends such a request. */
export class Refusal extends Error {
  readonly reply: Reply
  readonly violation: string | undefined

  constructor(reply: Reply, violation?: string) {
    super(violation ?? `answered ${reply.status}`)
    this.reply = reply
    this.violation = violation
  }
}
