/** Stores secrets that the user types: in the keyring of the system, else in files that only the user can read. */
import { type FileHandle, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { SecretSource } from '../../auth/credential.ts'
import { ConfigurationError, IntegrityError } from '../../errors.ts'
import { makeFolder } from '../base/files.ts'
import { systemCode, writeFailure } from '../base/system-error.ts'
import { folderHint, folderVariables, HOME_HINT, userFolder } from '../base/user-folder.ts'
import { replaceAlone } from '../base/write-file.ts'
import { KEYRING_OPTIONS, keyringAnswer, loadKeyring } from './keyring.ts'
import { KEYRING_SERVICE, secretSource, sourceError } from './secret-source.ts'

/** A stored secret. */
export interface StoredSecret {
  /** Where a credential finds it. */
  readonly source: SecretSource
  /** The path of its file; absent in the keyring. */
  readonly path?: string
  remove(): Promise<void>
}

/**
 * Stores a secret under a name, or under the name and a number if that is taken: no stored secret is replaced.
 *
 * Errors: `CONFIG_INVALID` without a configuration folder, `FILE_ACCESS`, `DISK_FULL`.
 *
 * @param name of letters, digits, `.`, `_` and `-`
 */
export async function storeSecret(
  name: string,
  secret: string,
  env: Readonly<Record<string, string | undefined>>,
  load = loadKeyring,
): Promise<StoredSecret> {
  return (await inKeyring(name, secret, load)) ?? inFile(name, secret, env)
}

/** Returns undefined if the keyring cannot be used, or does not return what was stored. */
async function inKeyring(name: string, secret: string, load: typeof loadKeyring): Promise<StoredSecret | undefined> {
  try {
    const { AsyncEntry } = await load()
    const isFree = async (one: string) => (await keyringAnswer(new AsyncEntry(KEYRING_SERVICE, one).getPassword())) === null
    const account = await freeName(name, isFree)
    const entry = new AsyncEntry(KEYRING_SERVICE, account, KEYRING_OPTIONS)
    await keyringAnswer(entry.setPassword(secret))
    const remove = async () => void (await keyringAnswer(entry.deletePassword()))
    const source = { keyring: account }
    if ((await secretSource(source, { load }).read()) === secret) return { source, remove }
    await remove()
  } catch {
    // Not installed, locked or refused: a file will do. Texts of the package may contain secrets.
  }
  return undefined
}

/** Returns true for a source whose secret {@link replaceSecret} and {@link removeStoredSecret} can change. */
export function isStored(
  source: unknown,
  env: Readonly<Record<string, string | undefined>>,
): source is { readonly [kind: string]: string } {
  const [kind, place] = Object.entries((source ?? {}) as object)[0] ?? []
  if (typeof place !== 'string') return false
  return kind === 'keyring' || (kind === 'file' && dirname(place) === userFolder('config', ['stac-auth', 'secrets'], env))
}

/** Replaces a stored secret. Errors: `CREDENTIAL_SOURCE`, `FILE_ACCESS`, `DISK_FULL`. */
export async function replaceSecret(
  { keyring, file }: { readonly [kind: string]: string },
  secret: string,
  load = loadKeyring,
): Promise<void> {
  if (file !== undefined) {
    const write = async (part: FileHandle) => part.writeFile(`${secret}\n`)
    return replaceAlone(file, file, 0o600, { write })
  }
  const { AsyncEntry } = await load()
  try {
    await keyringAnswer(new AsyncEntry(KEYRING_SERVICE, keyring ?? '', KEYRING_OPTIONS).setPassword(secret))
  } catch {
    throw sourceError(`the secret of the account "${keyring}" cannot be replaced: the keyring is locked or unavailable`, 'unlock it')
  }
}

/** Removes a stored secret; one that is gone already is no error. Errors: `CREDENTIAL_SOURCE`, `FILE_ACCESS`. */
export async function removeStoredSecret({ keyring, file }: { readonly [kind: string]: string }, load = loadKeyring): Promise<void> {
  if (file !== undefined) {
    return rm(file, { force: true }).catch((error) => {
      throw writeFailure(error, `"${file}"`)
    })
  }
  const { AsyncEntry } = await load()
  try {
    await keyringAnswer(new AsyncEntry(KEYRING_SERVICE, keyring ?? '', KEYRING_OPTIONS).deletePassword())
  } catch {
    throw sourceError(`the secret of the account "${keyring}" cannot be removed: the keyring is locked or unavailable`, 'unlock it')
  }
}

async function inFile(name: string, secret: string, env: Readonly<Record<string, string | undefined>>): Promise<StoredSecret> {
  const folder = userFolder('config', ['stac-auth', 'secrets'], env)
  if (folder === undefined)
    throw new ConfigurationError(
      'CONFIG_INVALID',
      `the secret cannot be stored: neither ${folderVariables('config')} is an absolute path`,
      {
        hint: HOME_HINT,
      },
    )
  const refuse = (error: unknown): never => {
    const failure = writeFailure(error, `"${join(folder, name)}"`)
    // The path is made here, so there is no other name to choose.
    if (failure.code !== 'FILE_ACCESS' || failure.retryable) throw failure
    throw new IntegrityError(failure.code, failure.message, { hint: folderHint('config') })
  }
  for (const each of [dirname(folder), folder]) await makeFolder(each, 0o700).catch(refuse)
  let path = ''
  await freeName(name, async (one) => {
    path = join(folder, one)
    try {
      // Exclusive: neither another secret nor the target of a link is overwritten.
      const file = await open(path, 'wx', 0o600)
      await file.writeFile(`${secret}\n`).finally(() => file.close())
      return true
    } catch (error) {
      return systemCode(error) === 'EEXIST' ? false : refuse(error)
    }
  })
  return { source: { file: path }, path, remove: () => rm(path, { force: true }) }
}

/** Returns the name, or the name with the first number, that is free. */
async function freeName(name: string, isFree: (name: string) => Promise<boolean>): Promise<string> {
  for (let count = 1; ; count++) {
    const one = count === 1 ? name : `${name}-${count}`
    if (await isFree(one)) return one
  }
}
