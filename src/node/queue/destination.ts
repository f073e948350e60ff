/** The identity of a folder, which workers and producers compare: a job is only for workers that see the same folder. */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { ConfigurationError, IntegrityError, isAuthError } from '../../errors.ts'
import { isObject, own } from '../../stac/document.ts'
import { TargetFolder, writeSmallFile } from '../download/target-folder.ts'
import { readRegularFile } from '../files.ts'
import { KEY_PREFIX } from './queue-server.ts'

/** File with the identity. No downloaded file begins with a dot. */
const IDENTITY_NAME = '.stac-auth-queue'

const FORMAT = 'stac-auth/queue'

/**
 * Returns the identity of a folder; a new folder gets one. Folders that several machines have mounted have one identity.
 *
 * Errors: `FILE_ACCESS`, `PATH_UNSAFE`, `DISK_FULL`.
 */
export async function destinationOf(folder: string): Promise<string> {
  const { path } = await TargetFolder.open(folder)
  const file = join(path, IDENTITY_NAME)
  const known = await identityIn(file)
  if (known !== undefined) return known
  const id = randomBytes(12).toString('hex')
  try {
    await writeSmallFile(file, [Buffer.from(`${JSON.stringify({ format: FORMAT, id })}\n`)], false)
    return id
  } catch (error) {
    if (!isAuthError(error) || error.code !== 'PATH_EXISTS') throw error
    // Another process was faster.
    const other = await identityIn(file)
    if (other !== undefined) return other
    throw error
  }
}

/** Returns the identity of a folder that has one. Errors: `USAGE` for any other, `FILE_ACCESS`, `PATH_UNSAFE`. */
export async function knownDestination(folder: string): Promise<string> {
  const { path } = await TargetFolder.open(folder)
  const known = await identityIn(join(path, IDENTITY_NAME))
  if (known !== undefined) return known
  throw new ConfigurationError('USAGE', `"${folder}" has no queue: no download --queue and no worker has used this folder`)
}

async function identityIn(file: string): Promise<string | undefined> {
  const reading = await readRegularFile(file, 1000)
  if ('problem' in reading) {
    if (reading.problem === 'does not exist') return undefined
    throw new IntegrityError('FILE_ACCESS', `cannot read "${file}": it ${reading.problem}`)
  }
  const id = idIn(Buffer.from(reading.bytes).toString())
  if (id !== undefined) return id
  throw new IntegrityError('FILE_ACCESS', `cannot read "${file}": it is not from stac-auth. Remove it if nothing else needs it`)
}

function idIn(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const id = own(value, 'id')
    return isObject(value) && value.format === FORMAT && typeof id === 'string' && /^[0-9a-f]{24}$/.test(id) ? id : undefined
  } catch {
    return undefined
  }
}

/** Milliseconds for which Redis keeps what nobody reads. */
const KEPT = 7 * 86_400_000

/** Most failed files that are listed. */
const MOST = 10_000

/** A hash in Redis with a value for each file of a destination. */
export class FileNotes {
  readonly #redis: Redis
  readonly #key: string

  /** @param kind `done`: complete files whose results may be lost; `failed`: files that failed, and why */
  constructor(redis: Redis, destination: string, kind: 'done' | 'failed') {
    this.#redis = redis
    this.#key = `${KEY_PREFIX}:files-${destination}:${kind}`
  }

  /** Returns the notes of these files, in their order. */
  get(names: readonly string[]): Promise<readonly (string | null)[]> {
    return this.#redis.hmget(this.#key, ...names)
  }

  async set(name: string, note: unknown): Promise<void> {
    await this.#redis.multi().hset(this.#key, name, JSON.stringify(note)).pexpire(this.#key, KEPT).exec()
  }

  /** Adds a note unless there are {@link MOST}. */
  async add(name: string, note: unknown): Promise<void> {
    if ((await this.#redis.hlen(this.#key)) < MOST) await this.set(name, note)
  }

  async remove(names: readonly string[]): Promise<void> {
    if (names.length > 0) await this.#redis.hdel(this.#key, ...names)
  }

  names(): Promise<readonly string[]> {
    return this.#redis.hkeys(this.#key)
  }

  /** Returns all notes by file. */
  async all(): Promise<ReadonlyMap<string, string>> {
    return new Map(Object.entries(await this.#redis.hgetall(this.#key)))
  }

  count(): Promise<number> {
    return this.#redis.hlen(this.#key)
  }

  async clear(): Promise<void> {
    await this.#redis.del(this.#key)
  }
}
