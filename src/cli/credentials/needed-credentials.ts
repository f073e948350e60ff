/** Reads the user's credentials and finds those that a document needs. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Auth } from '../../auth/auth.ts'
import type { CredentialObject } from '../../auth/credential.ts'
import { isAuthError } from '../../errors.ts'
import { isAddress } from '../../http/url.ts'
import { credentialFileText, credentialsFromText } from '../../node/credentials/index.ts'
import { forUrl } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { usageError } from '../exit-code.ts'
import { openAuth } from '../open-auth.ts'
import type { CredentialsOption } from '../options.ts'
import { credentialPath } from '../options.ts'
import { type ReadDocument, readDocument } from '../read-document.ts'
import { documentWord } from '../setup-hint.ts'
import { type AskingCommand, createCredentials, type Occasion } from './create-credentials.ts'
import { type Needs, type NewCredentialOptions, needsOf, privateOriginsOf } from './missing-credentials.ts'

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
  /** Number of assets and links that no credential can open. */
  readonly unusable: number
}

/**
 * Reads a document and creates the credentials that it needs, after confirmation.
 *
 * Errors: those of {@link neededBy} and {@link createCredentials}.
 */
export async function credentialsFor(
  name: string,
  user: UserCredentials,
  options: CredentialsOption & NewCredentialOptions,
  asker: AskingCommand,
  context: Context,
): Promise<NeededCredentials> {
  const found = await neededBy(name, user, options, asker, context)
  if ('waiting' in found) return { created: [], fitting: [found.waiting], unusable: 0 }
  const { needs, occasion, auth } = found
  const created = await createCredentials(needs, occasion, auth, context)
  return { created, fitting: [...needs.entries], unusable: needs.unusable.length }
}

/** The needs of a document, and what is asked about them. */
export interface NeededBy {
  readonly read: ReadDocument
  readonly needs: Needs
  readonly occasion: Occasion
  readonly auth: Auth
}

/**
 * Reads a document and finds the credentials that it needs; returns the id of the credential that must log in before it can be read.
 *
 * Errors: those of reading, `USAGE` for an existing id.
 *
 * @param known the document, if it was read already
 */
export async function neededBy(
  name: string,
  { file, credentials }: UserCredentials,
  options: CredentialsOption & NewCredentialOptions,
  asker: AskingCommand,
  context: Context,
  known?: ReadDocument,
): Promise<NeededBy | { readonly waiting: string }> {
  if (options.id !== undefined && credentials.some(({ id }) => id === options.id))
    throw usageError(`the credential "${options.id}" exists already`)
  const open = (...typed: readonly string[]) => openAuth(context, { ...options, mayBeMissing: true }, [name, ...typed])
  const first = open()
  const read = known ?? (await readOrWait(name, context, first))
  if ('waiting' in read) return read
  const others = asker.privateHosts ? await privateOriginsOf(read) : []
  const auth = await (others.length > 0 ? open(...others) : first)()
  const address = isAddress(name) ? (read.url ?? name) : pathToFileURL(resolve(name)).href
  const document = name === '-' ? {} : { document: address, title: isAddress(name) ? forUrl(address) : name }
  const occasion = {
    ...document,
    file,
    credentials,
    settings: options,
    asker: { ...asker, command: `${asker.command} ${documentWord(name)}` },
  }
  return { read, needs: await needsOf(read, auth), occasion, auth }
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
