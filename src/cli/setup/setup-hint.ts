/** The advice to run `setup`, for errors of commands that lack a credential. */

import { AuthError } from '../../errors.ts'
import { isAddress } from '../../http/url.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { forLine } from '../../text/sanitize.ts'
import { commandWord } from '../../text/shell-word.ts'

/**
 * Returns the error with the command that asks for the missing credential as first line of its hint; other errors as they are.
 *
 * @param names the documents of the command; the advice names the only one
 * @param isTarget true for the error of a target of a document (default: true for an error with `ref`)
 */
export function withSetupHint(error: AuthError, names: readonly string[], isTarget = error.ref !== undefined): AuthError {
  const { code, credential, url = '', hint } = error
  // A document whose server refuses a bare request, or a target; not the key of a service, nor the password of a queue.
  const lacks = (code === 'NO_CREDENTIAL' && isTarget) || (code === 'AUTH_REJECTED' && credential === undefined && url !== '')
  const [name = 'DOC', ...others] = names
  // A hint that names a command, or says that no credential will do, stands alone.
  if (!lacks || name === '-' || /stac-auth |^this /.test(hint ?? '')) return error
  const document = code === 'AUTH_REJECTED' && canParseUrl(url) && isElsewhere(url, name) ? url : name
  const command = others.length > 0 ? 'stac-auth setup DOC' : setupCommand(document)
  return new AuthError(code, error.message, { ...error, hint: `${command}${hint === undefined ? '' : `\nor, ${hint}`}` })
}

/** Returns the command that sets up a document. */
export function setupCommand(document: string): string {
  return `stac-auth setup ${documentWord(document)}`
}

/** Returns a document as an argument of a command to try. A query may contain keys, and without it the URL would be another one. */
export function documentWord(document: string): string {
  return isAddress(document) && document.includes('?') ? 'DOC' : commandWord(forLine(document))
}

function isElsewhere(url: string, name: string): boolean {
  return isAddress(name) && canParseUrl(name) && new URL(url).origin !== new URL(name).origin
}
