import { UnsupportedError } from '../errors.ts'

/**
 * Refuses what needs a secure context: to pages that came by plain http browsers give nothing to make proofs and keys with.
 *
 * Errors: `UNSUPPORTED_IN_BROWSER`.
 */
export function needSecureContext(what: string): void {
  if (globalThis.isSecureContext !== false) return
  throw new UnsupportedError('UNSUPPORTED_IN_BROWSER', `${what} needs a page from https: or localhost; this one came by plain http`, {
    hint: 'serve the page by https:, and open it as http://localhost while it is developed',
  })
}
