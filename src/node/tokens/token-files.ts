/** The folder of the token store: one file per key, with its lock beside it. */

import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { KeyedMutex, type SessionStore, withMemoryFallback } from '../../auth/session.ts'
import type { Warning } from '../../auth/strategy.ts'
import { IntegrityError } from '../../errors.ts'
import { withTimeout } from '../../net/cancellation.ts'
import { isObject } from '../../stac/document.ts'
import { shellWord } from '../../text/shell-word.ts'
import { checkNamed, FUNCTION, type Table, TEXT } from '../base/check-options.ts'
import { makeFolder } from '../base/files.ts'
import { checkFolder, readOwnFile, reserveOwnFile, setAside, wipeOwnFile, writeOwnFile } from '../base/own-file.ts'
import { type Lease, takeLock } from '../base/process-lock.ts'
import { readFailure, systemCode, writeFailure } from '../base/system-error.ts'
import { folderVariables, userFolder } from '../base/user-folder.ts'

/** Options of `tokenFiles`. */
export interface TokenFilesOptions {
  /** Absolute path; default `stac-auth/tokens` in the user's cache folder. Created with the first token, mode 0700. */
  readonly folder?: string
  /** Called once when tokens cannot be stored as requested. */
  readonly onWarning?: (warning: Warning) => void
}

export const TOKEN_FILES: Table<TokenFilesOptions> = { folder: TEXT, onWarning: FUNCTION }

/**
 * Returns a store shared by all processes of a user: one file per key, mode 0600, in a private folder. If the folder is not writable,
 * tokens are kept in memory, with the warning `CACHE_MEMORY_ONLY`.
 *
 * Errors: `CACHE_UNSAFE` for files and folders that others can, or could, read, with a command that repairs it; `CACHE_LOCK_TIMEOUT` when
 * another process holds a key for more than 30 s; `FILE_ACCESS` when a token cannot be removed; `ABORTED` while waiting. Damaged files and
 * files of another version are renamed to `.corrupt` and count as absent.
 *
 * @example createAuth({ credentials, session: tokenFiles() })
 */
export function tokenFiles(options: TokenFilesOptions = {}): SessionStore {
  checkNamed('tokenFiles', options, TOKEN_FILES)
  const { folder = defaultTokenFolder(), onWarning } = options
  if (folder === undefined) return withMemoryFallback(nowhere(), onWarning)
  const files = new TokenFolder(folder)
  const store: SessionStore = {
    read: async (key) => (await files.load(key))?.text,
    write: (key, text) => files.save(key, { text }),
    reserve: (key, length) => files.reserve(key, length),
    remove: (key) => files.remove(key),
    exclusively: (key, run, signal, meanwhile) => files.exclusively(key, run, signal, meanwhile),
  }
  return withMemoryFallback(store, onWarning)
}

/** Returns an in-memory store for a user without a cache folder. */
export function nowhere(): SessionStore {
  const fail = async () => {
    throw new IntegrityError('FILE_ACCESS', `there is no folder for tokens: neither ${folderVariables('cache')} is an absolute path`)
  }
  return { read: fail, write: fail, remove: async () => {}, exclusively: fail }
}

const MAX_BYTES = 1_048_576

/** Names of the files that {@link TokenFolder.remove} removes. */
const KEPT = /^([0-9a-f]{64})\.(?:json$|.*\.(?:corrupt|tmp)$)/

/** Milliseconds after which temporary files of a killed process are removed. */
const LEFT_AFTER = 60_000

/** Timeout of the lock in milliseconds. */
const LONGEST_WAIT = 30_000

/**
 * Returns the default folder of the token store (XDG Base Directory Specification; `LOCALAPPDATA` on Windows); undefined where the user
 * has no cache folder.
 *
 * @param account the home folder of the account
 */
export function defaultTokenFolder(
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
  account?: () => string,
): string | undefined {
  return userFolder('cache', ['stac-auth', 'tokens'], env, platform, account)
}

/**
 * The token sets by key. Nothing is read, created or checked before the first call.
 *
 * Errors of all methods: `CACHE_UNSAFE` for files and folders that others can, or could, read, with a command that repairs it;
 * `FILE_ACCESS`. A key that is not 64 hex digits is a `TypeError`.
 */
export class TokenFolder {
  readonly path: string
  readonly #wait: number
  readonly #mutex = new KeyedMutex()
  /** Files with reserved space, by key. */
  readonly #reserved = new Map<string, string>()
  /** The held locks, by key. */
  readonly #held = new Map<string, Held>()

  /** @param wait timeout of the lock in milliseconds */
  constructor(path: string, wait = LONGEST_WAIT) {
    this.path = path
    this.#wait = wait
  }

  /** Returns the content; undefined when there is none. A damaged file is renamed to `.corrupt`. */
  async load(key: string): Promise<TokenEnvelope | undefined> {
    const path = this.#pathOf(key, 'json')
    if (!(await this.#isThere())) return undefined
    const file = await readOwnFile(path, MAX_BYTES)
    if (!file) return undefined
    const envelope = parseEnvelope(file.bytes, key)
    if (!envelope) await setAside(path, file.stats)
    return envelope
  }

  /**
   * Replaces the file. If the key's lock was lost and another process has replaced the file, that file is newer and stays.
   *
   * Errors: also `DISK_FULL`, `CACHE_LOCK_TIMEOUT`; the old file stays.
   */
  async save(key: string, envelope: TokenEnvelope): Promise<void> {
    const path = this.#pathOf(key, 'json')
    const content = formatEnvelope(key, envelope)
    if (Buffer.byteLength(content) > MAX_BYTES)
      throw new IntegrityError('CACHE_UNSAFE', `the token set was not stored: it exceeds the limit of ${MAX_BYTES} bytes`)
    await this.#make()
    if (!(await this.mayReplace(key))) return
    const reserved = this.#reserved.get(key)
    this.#reserved.delete(key)
    await writeOwnFile(path, content, reserved)
    await this.#note(key)
    for (const name of await this.#namesOf(key, /\.tmp$|\.lock\./)) await this.#wipeOld(name)
  }

  /** Reserves that many bytes for the next write, until the end of {@link exclusively}. Errors: also `DISK_FULL`. */
  async reserve(key: string, bytes: number): Promise<void> {
    const path = this.#pathOf(key, 'json')
    await this.#make()
    await this.#release(key)
    this.#reserved.set(key, await reserveOwnFile(path, Math.min(bytes, MAX_BYTES)))
  }

  /** Overwrites and removes all files of that key, including damaged ones, but not locks. A newer file stays, as in {@link save}. */
  async remove(key: string): Promise<void> {
    const path = this.#pathOf(key, 'json')
    if (!(await this.#isThere()) || !(await this.mayReplace(key))) return
    // Reserved space is one of the files below: a later write must not look for it.
    await this.#release(key)
    await wipeOwnFile(path)
    await this.#note(key)
    for (const name of await this.#namesOf(key, /\.(?:corrupt|tmp)$/)) await wipeOwnFile(join(this.path, name))
  }

  /** Returns the keys that have a file, damaged or not, in no particular order. */
  async keys(): Promise<readonly string[]> {
    if (!(await this.#isThere())) return []
    const names = await readdir(this.path).catch((error) => {
      throw readFailure(error, this.path)
    })
    return [...new Set(names.flatMap((name) => KEPT.exec(name)?.[1] ?? []))]
  }

  /**
   * Runs `run` while holding the lock of the key; while another process holds it, returns the first result of `meanwhile`. Errors: also
   * `CACHE_LOCK_TIMEOUT` after 30 s, `DISK_FULL` when the lock cannot be created, `ABORTED`.
   */
  async exclusively<T>(key: string, run: () => Promise<T>, signal?: AbortSignal, meanwhile?: () => Promise<T | undefined>): Promise<T> {
    const path = this.#pathOf(key, 'lock')
    const waiting = withTimeout(signal, this.#wait, () => lockTimeout(path, this.#wait))
    const alone = async () => {
      await this.#make()
      const lease = await takeLock(path, waiting.signal, { ...(meanwhile && { meanwhile }) })
      waiting.clear()
      if ('found' in lease) return lease.found
      const held: Held = { lease, version: await this.#versionOf(key) }
      this.#held.set(key, held)
      try {
        return await run()
      } finally {
        this.#held.delete(key)
        await this.#release(key)
        await held.lease.release()
      }
    }
    try {
      return await this.#mutex.run(key, alone, waiting.signal)
    } finally {
      waiting.clear()
    }
  }

  /**
   * Makes sure that the lock of a held key is still held; returns false when another process has replaced the file. A process that was
   * suspended for longer than its lease takes the lock again, because tokens that it just received would be lost otherwise, and with them
   * the login.
   *
   * Errors: also `CACHE_LOCK_TIMEOUT`.
   */
  async mayReplace(key: string): Promise<boolean> {
    const held = this.#held.get(key)
    if (!held) return true
    if (!(await held.lease.confirm())) {
      const path = this.#pathOf(key, 'lock')
      const waiting = withTimeout(undefined, this.#wait, () => lockTimeout(path, this.#wait))
      held.lease = await takeLock(path, waiting.signal).finally(() => waiting.clear())
      if ((await this.#versionOf(key)) !== held.version) return false
    }
    return true
  }

  async #note(key: string): Promise<void> {
    const held = this.#held.get(key)
    if (held) held.version = await this.#versionOf(key)
  }

  /** Identifies the version of a file: every write creates a new one. */
  async #versionOf(key: string): Promise<string> {
    const stats = await lstat(this.#pathOf(key, 'json'), { bigint: true }).catch(() => undefined)
    return stats ? `${stats.ino} ${stats.mtimeNs} ${stats.size}` : ''
  }

  #pathOf(key: string, ending: string): string {
    if (!/^[0-9a-f]{64}$/.test(key)) throw new TypeError('the key of a token set must have 64 hex digits')
    return join(this.path, `${key}.${ending}`)
  }

  /** Releases reserved space that was not used. */
  async #release(key: string): Promise<void> {
    const reserved = this.#reserved.get(key)
    this.#reserved.delete(key)
    if (reserved !== undefined) await rm(reserved).catch(() => undefined)
  }

  async #isThere(): Promise<boolean> {
    try {
      checkFolder(this.path, await lstat(this.path))
      return true
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return false
      throw error instanceof IntegrityError ? error : readFailure(error, this.path)
    }
  }

  async #make(): Promise<void> {
    if (await this.#isThere()) return
    await makeFolder(this.path, 0o700).catch((error) => {
      throw writeFailure(error, `"${this.path}"`)
    })
    await this.#isThere()
  }

  async #namesOf(key: string, ending: RegExp): Promise<readonly string[]> {
    const names = await readdir(this.path).catch(() => [])
    return names.filter((name) => name.startsWith(`${key}.`) && ending.test(name))
  }

  async #wipeOld(name: string): Promise<void> {
    const path = join(this.path, name)
    const { mtimeMs = Date.now() } = (await lstat(path).catch(() => undefined)) ?? {}
    if (Date.now() - mtimeMs > LEFT_AFTER) await wipeOwnFile(path).catch(() => undefined)
  }
}

/** A held lock. */
interface Held {
  lease: Lease
  /** Version of the file when the lock was taken. */
  version: string
}

function lockTimeout(path: string, wait: number): IntegrityError {
  const message = `the token is locked: another process has been requesting it for over ${wait / 1000} s`
  const hint = `wait for it, or end the process named in ${shellWord(path)}, and try again`
  return new IntegrityError('CACHE_LOCK_TIMEOUT', message, { hint, retryable: true })
}

/** Content of a token file besides its version and key. */
interface TokenEnvelope {
  /** The token set; absent when only the keyring contains it. */
  readonly text?: string
  /** True when the keyring contains, or may contain, a token set with that key. */
  readonly keyring?: true
}

const VERSION = 1

/** Returns the content of a file. */
function formatEnvelope(key: string, { text, keyring }: TokenEnvelope): string {
  return `${JSON.stringify({ version: VERSION, key, keyring, text })}\n`
}

/** Parses a file; undefined when it is truncated, damaged, of another version or for another key. */
function parseEnvelope(bytes: Uint8Array, key: string): TokenEnvelope | undefined {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    return undefined
  }
  if (!isObject(value) || value.version !== VERSION || value.key !== key) return undefined
  const { text, keyring } = value
  if (keyring !== undefined && keyring !== true) return undefined
  if (text === undefined ? !keyring : typeof text !== 'string') return undefined
  return { ...(typeof text === 'string' && { text }), ...(keyring && { keyring }) }
}
