import { platform } from '#platform'
import { UnsupportedError } from '../../errors.ts'

/** `UNSUPPORTED_IN_BROWSER` where no connection can be held, for words whose authorization belongs to one. */
export function withoutConnections(scheme: string, hint: string): UnsupportedError | undefined {
  if (platform.connect) return undefined
  return new UnsupportedError('UNSUPPORTED_IN_BROWSER', `${scheme} belongs to one connection, which a web page cannot hold`, { hint })
}
