/** The operating system's keyring, through the optional package `@napi-rs/keyring`. */
import { installCommand, openFilesFailure } from '../base/system-error.ts'
import { sourceError } from './secret-source.ts'

/** The kernel keyring, the package's fallback, is emptied when the user logs out. */
export const KEYRING_OPTIONS = { linux: { store: 'secret-service' } } as const

/**
 * One secret in the keyring; its methods reject when the keyring is locked or unavailable, or refuses. While it asks the user to unlock it,
 * they wait; the package's `Entry` would stop the program for that time, also its end by Ctrl-C.
 */
export interface KeyringEntry {
  getPassword(): Promise<string | null>
  setPassword(password: string): Promise<void>
  /** False when there was nothing to delete. */
  deletePassword(): Promise<boolean>
}

/** The part of the optional package `@napi-rs/keyring` that is used. */
interface Keyring {
  readonly AsyncEntry: new (service: string, account: string, options?: KeyringOptions) => KeyringEntry
}

interface KeyringOptions {
  readonly linux?: { readonly store?: 'secret-service' }
}

/** Loads the package, which bundlers leave out: it has a native part. Errors: `CREDENTIAL_SOURCE` with the command that installs it. */
export async function loadKeyring(): Promise<Keyring> {
  try {
    // @ts-expect-error: its types are not installed
    return await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ '@napi-rs/keyring')
  } catch (error) {
    throw (
      openFilesFailure(error) ??
      sourceError(
        'the system keyring cannot be used: the optional package @napi-rs/keyring is not installed',
        installCommand(['@napi-rs/keyring']),
      )
    )
  }
}

let waiting = 0

/** True while the keyring has not answered, as while a person is asked to unlock it: `process.exit` would wait for it. */
export function isKeyringWaiting(): boolean {
  return waiting > 0
}

/** Returns the answer of the keyring. */
export async function keyringAnswer<T>(answer: Promise<T>): Promise<T> {
  waiting++
  try {
    return await answer
  } finally {
    waiting--
  }
}
