/** Edits the user's credential file after a confirmation, and keeps its formatting. */

import { type FileHandle, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { CredentialObject, CredentialSet } from '../../auth/credential.ts'
import { type AuthError, ConfigurationError, IntegrityError, isAuthError } from '../../errors.ts'
import { folderHint, makeFolder, replaceAlone, systemCode, writeFailure } from '../../node/base/index.ts'
import { credentialFileText, credentialsFromText, defaultCredentialFile } from '../../node/credentials/index.ts'
import { applyEdits, type Edit, JsonText } from '../../stac/json-text.ts'

const EMPTY = '{\n  "version": 1,\n  "credentials": []\n}\n'

/** Appends a credential; creates a missing file. Errors: `CONFIG_INVALID` without writing; those of the file system. */
export function addCredential(file: string, credential: CredentialObject): Promise<void> {
  return edit(file, (text, { credentials }) => {
    if (credentials.some(({ id }) => id === credential.id)) throw taken(file, credential)
    return apply(text, (json) => json.push('/credentials', credential))
  })
}

function taken(file: string, { id }: CredentialObject): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', `the credential file ${file} already has a credential "${id}"`, {
    hint: 'choose another id; if another command has just added it, run this one again',
  })
}

/**
 * Writes the credentials of a provider together: one whose id a credential of that provider has takes its place, the others are appended.
 *
 * Errors: `CONFIG_INVALID` without writing, also for the id of another credential; those of the file system.
 */
export function putCredentials(file: string, credentials: readonly CredentialObject[]): Promise<void> {
  return edit(file, (before, set) => {
    return credentials.reduce((text, credential) => {
      const index = set.credentials.findIndex(({ id }) => id === credential.id)
      const present: CredentialObject | undefined = set.credentials[index]
      if (present && present.provider !== credential.provider) throw taken(file, credential)
      return apply(text, (json) => (present ? json.replace(`/credentials/${index}`, credential) : json.push('/credentials', credential)))
    }, before)
  })
}

/** Sets fields of a credential; its other fields stay as they are. Errors: `CONFIG_INVALID` without writing; those of the file system. */
export function setFields(file: string, id: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
  return edit(file, (before, { credentials }) => {
    const at = `/credentials/${credentials.findIndex((credential) => credential.id === id)}`
    return Object.entries(fields).reduce((text, [name, value]) => {
      return apply(text, (json) => json.replace(`${at}/${name}`, value) ?? json.insert(at, name, value))
    }, before)
  })
}

/**
 * Adds a URL pattern to the `sendTo` of a credential. Without `sendTo` its `signedUrlHosts` apply, so they are copied.
 *
 * Errors: `CONFIG_INVALID` without writing; those of the file system.
 */
export function addPattern(file: string, id: string, pattern: string): Promise<void> {
  return edit(file, (text, { credentials }) => {
    const index = credentials.findIndex((one) => one.id === id)
    const at = `/credentials/${index}`
    const { sendTo, signedUrlHosts = [] } = credentials[index] as CredentialObject
    if (sendTo !== undefined) return apply(text, (json) => json.push(`${at}/sendTo`, pattern))
    return apply(text, (json) => json.insert(at, 'sendTo', [...(signedUrlHosts as readonly string[]), pattern]))
  })
}

/** Removes a credential. Errors: `CONFIG_INVALID` without writing; those of the file system. */
export function dropCredential(file: string, id: string): Promise<void> {
  return edit(file, (text, { credentials }) => {
    const index = credentials.findIndex((one) => one.id === id)
    return index === -1 ? text : apply(text, (json) => json.remove(`/credentials/${index}`))
  })
}

/** Returns the text after edits. Errors: `CONFIG_INVALID` where there is no list or object to extend. */
function apply(text: string, edits: (json: JsonText) => readonly Edit[] | undefined): string {
  const made = edits(new JsonText(text))
  if (made) return applyEdits(text, made)
  throw new ConfigurationError('CONFIG_INVALID', 'the credential file cannot be edited: the list to extend is missing')
}

/** Returns the allowed URL patterns of a credential. */
export function patternsOf({ sendTo, signedUrlHosts }: CredentialObject): readonly string[] {
  const patterns = sendTo ?? (signedUrlHosts as string | readonly string[] | undefined) ?? []
  return typeof patterns === 'string' ? [patterns] : patterns
}

function edit(file: string, change: (text: string, set: CredentialSet) => string): Promise<void> {
  return replaceCredentialFile(file, async () => {
    const text = (await credentialFileText(file)) ?? EMPTY
    const changed = change(text, await credentialsFromText(text, file))
    await credentialsFromText(changed, file)
    return changed
  })
}

/**
 * Replaces a file with the text that `make` returns, with mode 0600; creates missing folders with mode 0700 and follows a link. The file is
 * locked meanwhile, so it does not change between the read in `make` and the write.
 *
 * Errors: `PATH_BUSY`, `FILE_ACCESS`, `DISK_FULL`, and those of `make`; the file is unchanged then.
 */
export async function replacePrivateFile(name: string, make: () => Promise<string>): Promise<void> {
  const refuse = (error: unknown): never => {
    throw writeFailure(error, `"${name}"`)
  }
  const target = await targetOf(name).catch(refuse)
  const write = async (file: FileHandle) => {
    const text = await make()
    await file.writeFile(text).catch(refuse)
  }
  for (const end = Date.now() + LONGEST_WAIT; ; ) {
    try {
      return await replaceAlone(target, name, 0o600, { write, durable: true })
    } catch (error) {
      if (!isAuthError(error) || error.code !== 'PATH_BUSY' || Date.now() > end) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

function isUnwritable(error: unknown): error is AuthError {
  return isAuthError(error) && error.code === 'FILE_ACCESS' && !error.retryable && error.message.startsWith('cannot write')
}

/** Replaces the credential file as {@link replacePrivateFile} does. An error of a file that may not be written says how to use another one. */
async function replaceCredentialFile(file: string, make: () => Promise<string>): Promise<void> {
  try {
    await replacePrivateFile(file, make)
  } catch (error) {
    if (!isUnwritable(error)) throw error
    const named = 'name a file in a folder that you can write with --credentials or STAC_AUTH_CREDENTIALS'
    const hint = isDefault(file) ? `${folderHint('config')}, or ${named}` : named
    throw new IntegrityError('FILE_ACCESS', error.message, { hint })
  }
}

function isDefault(file: string): boolean {
  try {
    return file === defaultCredentialFile()
  } catch {
    return false
  }
}

/** Other commands hold the lock for milliseconds. */
const LONGEST_WAIT = 1000

/** Resolves a link, or returns the path to create. */
async function targetOf(name: string): Promise<string> {
  try {
    return await realpath(name)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
  await makeFolder(dirname(name), 0o700)
  return join(await realpath(dirname(name)), basename(name))
}
