/** The advice to run `setup`, for errors of commands that lack a credential: of a document, or of a provider that the program knows. */

import { AuthError, isAuthError } from '../errors.ts'
import { isAddress } from '../http/url.ts'
import { canParseUrl } from '../text/can-parse-url.ts'
import { forLine } from '../text/sanitize.ts'
import { commandWord } from '../text/shell-word.ts'
import type { Context } from './context.ts'
import type { FailedRequest } from './known-providers.ts'
import type { CredentialsOption } from './options.ts'

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
  if (!lacks || name === '-' || /stac-auth |^this |no credential helps/.test(hint ?? '')) return withDocument(error, names)
  const document = code === 'AUTH_REJECTED' && canParseUrl(url) && isElsewhere(url, name) ? url : name
  const command = others.length > 0 ? 'stac-auth setup DOC' : setupCommand(document)
  return new AuthError(code, error.message, { ...error, hint: `${command}${hint === undefined ? '' : `\nor, ${hint}`}` })
}

/** Returns the error with the only document of the command in its advice to set up a document. */
function withDocument(error: AuthError, [name = '-', ...others]: readonly string[]): AuthError {
  const { hint, url } = error
  if (hint === undefined || name === '-' || name === url || others.length > 0) return error
  const better = namingDocument(hint, name)
  return better === hint ? error : new AuthError(error.code, error.message, { ...error, hint: better })
}

/** Returns a hint with a document in place of DOC in the command that sets it up. */
export function namingDocument(hint: string, document: string): string {
  // A function, because a name with `$&` or the like would be a pattern.
  return hint.replaceAll('stac-auth setup DOC', () => setupCommand(document))
}

/** Codes of errors that known providers answer with where a credential is missing or refused. */
const OF_PROVIDERS = /^(?:NO_CREDENTIAL|AUTH_REJECTED|LOGIN_PAGE|FILE_INTEGRITY|HTTP_40[49])$/

/** Codes that a redirect to another host does not bring about. */
const BY_ANY_URL = /^(?:NO_CREDENTIAL|AUTH_REJECTED)$/

/** Our own words, in hints that say that no credential will do or end with a command for a provider, and in errors of web pages. */
const HAS_COMMAND = /^this |^(?:.*: )?stac-auth (?:setup [a-z0-9-]+(?: --way [a-z0-9-]+)?|doctor)$/m
const IS_PAGE = /: it is a web page, but /

/**
 * Returns the error with the one command that helps at the end of its hint where it is an error of a provider that the program knows; other
 * errors as they are. Without the request, an error is recognized by its own URL.
 *
 * @param setUp returns the ids of the providers of which the user has a credential
 */
export async function withProviderHint(
  error: AuthError,
  request?: FailedRequest,
  setUp: () => Promise<ReadonlySet<string>> = async () => new Set(),
): Promise<AuthError> {
  const { code, hint = '', message } = error
  const isRelevant = request === undefined ? BY_ANY_URL.test(code) && error.url !== undefined : OF_PROVIDERS.test(code)
  if (!isRelevant || HAS_COMMAND.test(hint) || (code === 'FILE_INTEGRITY' && !IS_PAGE.test(message))) return error
  const { providerHint } = await import('./known-providers.ts')
  const better = providerHint(error, request ?? {}, await setUp())
  return better === undefined ? error : new AuthError(code, message, { ...error, hint: better })
}

/** Returns the ids of the providers of which the user has a credential; none where the file cannot be read, which other errors say. */
export async function providersSetUp(options: CredentialsOption, { io }: Pick<Context, 'io'>): Promise<ReadonlySet<string>> {
  const { credentialFileText, credentialsFromText } = await import('../node/credentials/index.ts')
  const { credentialPath } = await import('./options.ts')
  try {
    const { path } = await credentialPath(options, io)
    const text = await credentialFileText(path)
    const { credentials } = text === undefined ? { credentials: [] } : await credentialsFromText(text, path)
    return new Set(credentials.flatMap(({ provider }) => (typeof provider === 'string' ? [provider] : [])))
  } catch (error) {
    if (!isAuthError(error)) throw error
    return new Set()
  }
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
