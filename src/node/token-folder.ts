/** The folder of the token store: one file per key, and the locks beside them. */
import { lstat, readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { Turns } from '../auth/turns.ts'
import { IntegrityError } from '../errors.ts'
import { expiring } from '../http/deadline.ts'
import { shellWord } from '../text/shell-word.ts'
import { makeFolder } from './make-folder.ts'
import { checkFolder, readOwnFile, setAside, wipeOwnFile, writeOwnFile } from './own-file.ts'
import { takeLock } from './process-lock.ts'
import { readFailure, systemCode, writeFailure } from './system-error.ts'
import { formatEnvelope, parseEnvelope, type TokenEnvelope } from './token-envelope.ts'

const MAX_BYTES = 1_048_576
/** Names of what {@link TokenFolder.remove} removes. */
const KEPT = /^([0-9a-f]{64})\.(?:json$|.*\.(?:corrupt|tmp)$)/
/** Milliseconds after which what a killed process left is nobody's work in progress. */
const LEFT_AFTER = 60_000
/** Milliseconds that a process waits for the others. */
const LONGEST_WAIT = 30_000

/** Where tokens are kept when nobody says otherwise (XDG base directories; `LOCALAPPDATA` on Windows). */
export function defaultTokenFolder(env: NodeJS.ProcessEnv = process.env, platform: NodeJS.Platform = process.platform): string {
  const base = platform === 'win32' ? env.LOCALAPPDATA : env.XDG_CACHE_HOME?.startsWith('/') ? env.XDG_CACHE_HOME : undefined
  return join(base || join(homedir(), platform === 'win32' ? 'AppData/Local' : '.cache'), 'stac-auth', 'tokens')
}

/**
 * Envelopes by key. Nothing is read, made or checked before the first call.
 *
 * Errors of all: `CACHE_UNSAFE` when others can, or could, look into the folder or file, with the command that repairs it;
 * `FILE_ACCESS`. A key that is not 64 hex digits is a `TypeError`.
 */
export class TokenFolder {
  readonly path: string
  readonly #wait: number
  readonly #turns = new Turns()

  constructor(path: string = defaultTokenFolder(), wait = LONGEST_WAIT) {
    this.path = path
    this.#wait = wait
  }

  /** The envelope; undefined when there is none. A damaged file is renamed to `.corrupt`. */
  async load(key: string): Promise<TokenEnvelope | undefined> {
    const path = this.#pathOf(key, 'json')
    if (!(await this.#isThere())) return undefined
    const file = await readOwnFile(path, MAX_BYTES)
    if (!file) return undefined
    const envelope = parseEnvelope(file.bytes, key)
    if (!envelope) await setAside(path, file.stats)
    return envelope
  }

  /** Replaces the file. Errors: also `DISK_FULL`; the old file stays. */
  async save(key: string, envelope: TokenEnvelope): Promise<void> {
    const path = this.#pathOf(key, 'json')
    const content = formatEnvelope(key, envelope)
    if (Buffer.byteLength(content) > MAX_BYTES)
      throw new IntegrityError('CACHE_UNSAFE', `a token set may have ${MAX_BYTES} bytes, not more: it was not kept`)
    await this.#make()
    await writeOwnFile(path, content)
    for (const name of await this.#namesOf(key, /\.tmp$|\.lock\./)) await this.#wipeOld(name)
  }

  /** Overwrites and removes everything of that key, damaged files too; locks stay. */
  async remove(key: string): Promise<void> {
    const path = this.#pathOf(key, 'json')
    if (!(await this.#isThere())) return
    await wipeOwnFile(path)
    for (const name of await this.#namesOf(key, /\.(?:corrupt|tmp)$/)) await wipeOwnFile(join(this.path, name))
  }

  /** The keys of which something is kept, damaged or not, in no order. */
  async keys(): Promise<readonly string[]> {
    if (!(await this.#isThere())) return []
    const names = await readdir(this.path).catch((error) => {
      throw readFailure(error, this.path)
    })
    return [...new Set(names.flatMap((name) => KEPT.exec(name)?.[1] ?? []))]
  }

  /** Runs alone. Errors: also `CACHE_LOCK_TIMEOUT` after 30 s of waiting, `DISK_FULL` when the lock cannot be made, `ABORTED`. */
  async exclusively<T>(key: string, run: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const path = this.#pathOf(key, 'lock')
    const waiting = expiring(signal, this.#wait, () => lockTimeout(path, this.#wait))
    const alone = async () => {
      await this.#make()
      const release = await takeLock(path, waiting.signal)
      waiting.clear()
      try {
        return await run()
      } finally {
        await release()
      }
    }
    try {
      return await this.#turns.take(key, alone, waiting.signal)
    } finally {
      waiting.clear()
    }
  }

  #pathOf(key: string, ending: string): string {
    if (!/^[0-9a-f]{64}$/.test(key)) throw new TypeError('the key of a token set has 64 hex digits')
    return join(this.path, `${key}.${ending}`)
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

function lockTimeout(path: string, wait: number): IntegrityError {
  const message = `another process has been obtaining the same token for over ${wait / 1000} s`
  const hint = `wait for it, or end the process that ${shellWord(path)} names, and try again`
  return new IntegrityError('CACHE_LOCK_TIMEOUT', message, { hint, retryable: true })
}
