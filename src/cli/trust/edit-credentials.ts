/** Writes to the user's credential file; only what a person has answered for comes here. */
import type { CredentialObject, CredentialSet } from '../../auth/credential.ts'
import { ConfigurationError } from '../../errors.ts'
import { credentialFileText, credentialsFromText } from '../../node/credential-file.ts'
import { appended, extended } from './json-edit.ts'
import { replacePrivateFile } from './private-file.ts'

const EMPTY = '{\n  "version": 1,\n  "credentials": []\n}\n'

/** Adds an entry at the end; a file that is missing is made. Errors: `CONFIG_INVALID`, and nothing is written; those of the file system. */
export function addEntry(file: string, entry: CredentialObject): Promise<void> {
  return edit(file, (text) => appended(text, ['credentials'], entry))
}

/**
 * Adds a pattern to the `sendTo` of an entry. One that has none sends to its `signedUrlHosts`, and goes on doing so.
 *
 * Errors: `CONFIG_INVALID`, and nothing is written; those of the file system.
 */
export function addPattern(file: string, id: string, pattern: string): Promise<void> {
  return edit(file, (text, { credentials }) => {
    const index = credentials.findIndex((entry) => entry.id === id)
    const path = ['credentials', index]
    const entry: CredentialObject | undefined = credentials[index]
    const hosts = (entry?.signedUrlHosts as readonly string[] | undefined) ?? []
    if (entry?.sendTo === undefined) return extended(text, path, 'sendTo', [...hosts, pattern])
    return appended(text, [...path, 'sendTo'], pattern)
  })
}

function edit(file: string, change: (text: string, set: CredentialSet) => string | undefined): Promise<void> {
  return replacePrivateFile(file, async () => {
    const text = (await credentialFileText(file)) ?? EMPTY
    const changed = change(text, await credentialsFromText(text, file))
    if (changed === undefined) throw new ConfigurationError('CONFIG_INVALID', `the credential file ${file} has no place for it`)
    await credentialsFromText(changed, file)
    return changed
  })
}
