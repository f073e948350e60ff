import type { CallOptions } from './call-options.ts'
import type { PreparedOperation } from './operation.ts'
import type { Timeouts } from './settings.ts'

/** Milliseconds for one attempt: what the call says, else the operation, else the client; a stream takes as long as it takes. */
export function attemptTimeout(
  { operation, responseKind }: PreparedOperation,
  { timeout }: CallOptions,
  timeouts: Required<Timeouts>,
): number {
  const usual = responseKind === 'stream' ? Number.POSITIVE_INFINITY : timeouts.attempt
  return timeout ?? operation.timeout ?? usual
}
