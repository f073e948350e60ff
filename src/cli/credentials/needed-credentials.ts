/** Reads the user's credentials and finds those that a document needs. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Auth } from '../../auth/auth.ts'
import type { CredentialObject } from '../../auth/credential.ts'
import { isAuthError } from '../../errors.ts'
import { credentialFileText, credentialsFromText } from '../../node/credentials/credential-file.ts'
import { forUrl } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { credentialPath } from '../credential-path.ts'
import { openAuth } from '../open-auth.ts'
import type { CredentialsOption } from '../options.ts'
import { isAddress, type ReadDocument, readDocument } from '../read-document.ts'
import { usageError } from '../usage.ts'
import { createCredentials, type Errand } from './create-credentials.ts'
import { type NewCredentialOptions, needsOf, newCredentialSettingsOf } from './missing-credentials.ts'

/** The path of the credential file, which may be missing, and its credentials. */
export interface UserCredentials {
  readonly file: string
  readonly credentials: readonly CredentialObject[]
}

/** Reads the credential file; a missing one has no credentials. Errors: `CONFIG_INVALID`, `USAGE`. */
export async function userCredentials(options: CredentialsOption, { io }: Context): Promise<UserCredentials> {
  const { path: file } = await credentialPath(options, io)
  const text = await credentialFileText(file)
  return { file, credentials: text === undefined ? [] : (await credentialsFromText(text, file)).credentials }
}

/** Ids of the new credentials, and of existing credentials that match. */
export interface NeededCredentials {
  readonly created: readonly string[]
  readonly fitting: readonly string[]
}

/**
 * Reads a document and creates the credentials that it needs, after confirmation.
 *
 * Errors: those of reading, of {@link createCredentials}, `USAGE` for an existing id.
 */
export async function credentialsFor(
  name: string,
  { file, credentials }: UserCredentials,
  options: CredentialsOption & NewCredentialOptions,
  errand: Errand,
  context: Context,
): Promise<NeededCredentials> {
  if (options.id !== undefined && credentials.some(({ id }) => id === options.id))
    throw usageError(`the credential "${options.id}" exists already`)
  const auth = openAuth(context, { ...options, mayBeMissing: true }, [name])
  const read = await readOrWait(name, context, auth)
  if ('waiting' in read) return { created: [], fitting: [read.waiting] }
  const address = isAddress(name) ? (read.url ?? name) : pathToFileURL(resolve(name)).href
  const document = name === '-' ? {} : { document: address, title: isAddress(name) ? forUrl(address) : name }
  const opened = await auth()
  const needs = await needsOf(read, opened)
  const occasion = {
    ...document,
    file,
    credentials,
    settings: newCredentialSettingsOf(options),
    errand: { ...errand, command: `${errand.command} ${name}` },
  }
  return { created: await createCredentials(needs, occasion, opened, context), fitting: [...needs.entries] }
}

/** Reads the document, or returns the credential that must log in first. */
async function readOrWait(name: string, { io }: Context, auth: () => Promise<Auth>): Promise<ReadDocument | { readonly waiting: string }> {
  try {
    return await readDocument(name, io, auth)
  } catch (error) {
    if (isAuthError(error) && error.code === 'LOGIN_REQUIRED' && error.credential !== undefined) return { waiting: error.credential }
    throw error
  }
}
