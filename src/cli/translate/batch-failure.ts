import { BatchError } from '../../clients/translation/index.ts'

/** What stands behind a batch of which nothing was translated: a key that is wrong is wrong for all of it. Other failures stay as they are. */
export function batchFailure(error: unknown): unknown {
  if (!(error instanceof BatchError) || error.results.some((result) => result !== undefined)) return error
  return error.failures[0]?.error ?? error
}
