/** The identity of a destination, which workers and producers compare: a job is only for workers that see the same one. */

import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { ConfigurationError, IntegrityError, isAuthError } from '../../errors.ts'
import { isObject, own } from '../../stac/document.ts'
import { type Destination, openDestination } from '../download/destination/destination.ts'
import { KEY_PREFIX } from './queue-names.ts'

/** File with the identity. No downloaded file begins with a dot. */
const IDENTITY_NAME = '.stac-auth-queue'

const FORMAT = 'stac-auth/queue'

/**
 * Returns the identity of a destination, which is created if it has none. A folder has the same identity on all machines that mount it,
 * and so does a bucket.
 *
 * Errors: `FILE_ACCESS`, `PATH_UNSAFE`, `DISK_FULL`.
 */
export async function identityOf(destination: Destination): Promise<string> {
  const id = randomBytes(12).toString('hex')
  for (let tries = 1; ; tries++) {
    const known = await identityIn(destination)
    if (known !== undefined) return known
    try {
      if (await destination.createOwn(IDENTITY_NAME, `${JSON.stringify({ format: FORMAT, id })}\n`)) return id
    } catch (error) {
      // A worker and a producer that start together may both be about to create it.
      if (!isAuthError(error) || error.code !== 'PATH_BUSY' || tries === MOST_TRIES) throw error
      await sleep(50)
    }
  }
}

/** Number of times that the identity is looked for while another process creates it. */
const MOST_TRIES = 20

/** Returns the identity of a destination that has one. Errors: `USAGE` for any other, `FILE_ACCESS`, `PATH_UNSAFE`. */
export async function knownIdentity(name: string): Promise<string> {
  const known = await identityIn(await openDestination(name))
  if (known !== undefined) return known
  throw new ConfigurationError('USAGE', `"${name}" has no queue: no download --queue and no worker has used it`)
}

async function identityIn(destination: Destination): Promise<string | undefined> {
  const text = await destination.readOwn(IDENTITY_NAME, 1000)
  const id = text === undefined ? undefined : idIn(text)
  if (text === undefined || id !== undefined) return id
  const file = `${destination.path}/${IDENTITY_NAME}`
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

/** Milliseconds after which Redis removes unread entries. */
const KEPT = 7 * 86_400_000

/** Maximum number of listed failed files. */
const MOST = 10_000

/** A hash in Redis with a value for each file of a destination. */
export class FileNotes {
  readonly #redis: Redis
  readonly #key: string

  /**
   * @param kind `done`: complete files whose results may be lost; `failed`: files that failed, and why; `jobs`: the jobs of failed files
   */
  constructor(redis: Redis, destination: string, kind: 'done' | 'failed' | 'jobs') {
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
