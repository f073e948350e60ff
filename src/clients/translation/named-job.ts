import { isAuthError } from '../../errors.ts'

/** The error of a job that goes on at the service, with its identifier in `jobId`: with it one can ask after it later. */
export function namedJob(error: unknown, jobId: string): unknown {
  if (!isAuthError(error) || 'jobId' in error || !Object.isExtensible(error)) return error
  return Object.defineProperty(error, 'jobId', { value: jobId, enumerable: true })
}
