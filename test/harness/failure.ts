/** Failures that a test expects. Not in canary.ts: the stack of an awaited error names the file, and tests search that stack for canaries. */

import { inspect } from 'node:util'
import { mustHoldNoSecret } from '../setup/revealed-secrets.ts'

/** What a promise was rejected with; a failed test when it was fulfilled, or rejected with something that is not an error; `Fields` is what the test reads of it. */
export async function failureOf<Fields = unknown>(work: Promise<unknown>): Promise<Error & Fields> {
  const outcome = await work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  mustHoldNoSecret('an error', inspect('error' in outcome ? outcome.error : undefined, { depth: 8 }))
  if ('value' in outcome) throw new Error(`expected a failure, got ${typeof outcome.value}`)
  if (outcome.error instanceof Error) return outcome.error as Error & Fields
  throw new Error(`expected an error, got ${typeof outcome.error}`)
}

/** What a function throws; a failed test when it returns. */
export function thrownBy(work: () => unknown): Error {
  try {
    work()
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('expected a failure')
}
