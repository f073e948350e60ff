import { jsonReply, Refusal } from '../service/reply.ts'

/** Ends an operation with a message in JSON. */
export function refuse(status: number, message: string, more: Readonly<Record<string, unknown>> = {}): never {
  throw new Refusal(jsonReply(status, { message, ...more }))
}

/** Ends an operation that no correct client asks for, and records it. */
export function refuseViolation(message: string, more: Readonly<Record<string, unknown>> = {}): never {
  throw new Refusal(jsonReply(400, { message, ...more }), message)
}

/** Ends an operation with a status alone. */
export function refuseSilently(status: number): never {
  throw new Refusal({ status })
}
