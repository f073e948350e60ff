/** The operating system's secret store, through an optional package. */
import { sourceError } from './secret-text.ts'
import { openFilesFailure } from './system-error.ts'

/** One secret in the store; its methods throw when the store is locked, absent or refuses. */
export interface KeyringEntry {
  getPassword(): string | null
  setPassword(password: string): void
  /** False when there was nothing to delete. */
  deletePassword(): boolean
}

/** What of the optional package `@napi-rs/keyring` is used. */
export interface Keyring {
  readonly Entry: new (service: string, account: string, options?: KeyringOptions) => KeyringEntry
}

interface KeyringOptions {
  readonly linux?: { readonly store?: 'secret-service' }
}

/** Loads the package. Errors: `CREDENTIAL_SOURCE` with the command that installs it. */
export async function loadKeyring(): Promise<Keyring> {
  const name: string = '@napi-rs/keyring'
  try {
    return await import(name)
  } catch (error) {
    throw (
      openFilesFailure(error) ??
      sourceError('the system keyring needs the optional package @napi-rs/keyring', 'npm install @napi-rs/keyring')
    )
  }
}
