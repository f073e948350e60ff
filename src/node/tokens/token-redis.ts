/** A token store in Redis, for workers on several machines: encrypted entries, and locks with fencing numbers. */
import { createCipheriv, createDecipheriv, createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { SecretInput, SecretSource } from '../../auth/credential.ts'
import { isSource } from '../../auth/parse-credentials.ts'
import { KeyedMutex, type SessionStore } from '../../auth/session.ts'
import { AbortedError, type AuthError, ConfigurationError, IntegrityError, isAuthError } from '../../errors.ts'
import { sleep } from '../../net/cancellation.ts'
import { systemClock } from '../../net/clock.ts'
import { isObject } from '../../stac/document.ts'
import { AMOUNT, checkNamed, fits, required, type Table, TEXT } from '../base/check-options.ts'
import {
  connectRedis,
  evictionOf,
  type RedisAddress,
  type RedisConnection,
  type RedisUse,
  redisAddressOf,
  refusedWrite,
} from '../base/redis-connection.ts'
import { secretSource } from '../credentials/secret-source.ts'

/** A secret: text, a function that returns it when it is needed, or its source. */
type Readable = SecretInput | SecretSource

/** Options of `tokenRedis`. */
export interface TokenRedisOptions {
  /** `redis://host[:port][/db]`, or `rediss:` for TLS. */
  readonly url: string
  /** User of the access control list of Redis; default: the one in the URL. */
  readonly username?: string
  /** Default: the one in the URL. */
  readonly password?: Readable
  /** 32 bytes in base64, which encrypt all entries. Of several, the first one encrypts; all of them decrypt. */
  readonly key: Readable | readonly Readable[]
  /** Milliseconds after which the lock of a process that has stopped is free (default 60000). */
  readonly lockTime?: number
}

/** A token store with a connection to close. */
export interface TokenRedis extends SessionStore {
  /** Closes the connection, so that the process can end. */
  close(): Promise<void>
}

const isReadable = (value: unknown) => typeof value === 'string' || typeof value === 'function' || (isObject(value) && isSource(value))
const READABLE = fits('text, a function or the source of a secret', isReadable)

const OPTIONS: Table<TokenRedisOptions> = {
  url: required(TEXT),
  username: TEXT,
  password: READABLE,
  key: required(fits('a key, its source, or a list of these', (value) => [value].flat().every(isReadable))),
  lockTime: AMOUNT,
}

const PREFIX = 'stac-auth:tokens:'
/** A key that is never written. */
const UNUSED = `${PREFIX}unused`

const USE: RedisUse = {
  subject: 'the token store',
  passwordHint: 'check "username" and "password" of the token store',
  packages: ['ioredis'],
  rights: {
    rules: `~${PREFIX}* +@read +@write +@scripting +@connection +info`,
    attempt: async (client) => {
      await client.info('server')
      await client.hget(UNUSED, 'text')
      await client.eval('return 1', 0)
      await client.del(UNUSED)
    },
  },
}
const LOCK_TIME = 60_000
/** Timeout of the lock in milliseconds. */
const LONGEST_WAIT = 30_000
/** Delay between two attempts to take a lock, in milliseconds; the first ones are shorter. */
const SLOWEST_LOOK = 250
const MAX_TEXT = 1_048_576

/** Takes the lock when it is free. Each holder has a greater number than all before; Redis keeps it when the lock expires. */
const TAKE = `
if redis.call('set', KEYS[1] .. ':lock', ARGV[1], 'NX', 'PX', ARGV[2]) then return redis.call('hincrby', KEYS[1], 'granted', 1) end
return 0`

/** Prolongs the lock of its holder. */
const PROLONG = `
if redis.call('get', KEYS[1] .. ':lock') == ARGV[1] then return redis.call('pexpire', KEYS[1] .. ':lock', ARGV[2]) end
return 0`

const RELEASE = `
redis.call('del', KEYS[1] .. ':space')
if redis.call('get', KEYS[1] .. ':lock') == ARGV[1] then return redis.call('del', KEYS[1] .. ':lock') end
return 0`

/** Replaces the entry, unless a holder with a greater number has written since. */
const WRITE = `
if tonumber(redis.call('hget', KEYS[1], 'written') or '0') > tonumber(ARGV[1]) then return 0 end
redis.call('del', KEYS[1] .. ':space')
redis.call('hset', KEYS[1], 'written', ARGV[1], 'text', ARGV[2])
return 1`

/** Removes the entry and keeps its numbers, so that no earlier holder can bring it back. */
const REMOVE = `
if tonumber(redis.call('hget', KEYS[1], 'written') or '0') > tonumber(ARGV[1]) then return 0 end
redis.call('hset', KEYS[1], 'written', ARGV[1])
return redis.call('hdel', KEYS[1], 'text')`

/**
 * Returns a token store in Redis, shared by all processes that have its key: one token request for all of them, and no refresh token used
 * twice. Nothing is connected before the first call. A connection that is lost is retried for half a minute; tokens in memory stay usable.
 *
 * Requires the optional package `ioredis`. Redis must keep what it holds (`maxmemory-policy noeviction`, and persistence if logins must
 * survive its restart).
 *
 * Errors: `USAGE` for a malformed URL; `CREDENTIAL_VALUE_INVALID` for a malformed key or an entry of another key; `CACHE_UNSAFE` for an
 * entry that was changed; `CACHE_LOCK_TIMEOUT` when another process holds a key for more than 30 s; `AUTH_REJECTED`, `NETWORK_*`, `TLS_*`,
 * `TIMEOUT_CONNECT` of the connection; `SCHEME_UNSUPPORTED` without the package; `ABORTED` while waiting.
 *
 * @example createAuth({ credentials, session: tokenRedis({ url: 'rediss://tokens.example', key: { env: 'TOKENS_KEY' } }) })
 */
export function tokenRedis(options: TokenRedisOptions): TokenRedis {
  checkNamed('tokenRedis', options, OPTIONS)
  const address = redisAddressOf(options.url, USE.subject)
  const lockTime = options.lockTime ?? LOCK_TIME
  const mutex = new KeyedMutex()
  /** Numbers of the locks that this store holds, by key. */
  const held = new Map<string, number>()
  let opening: Promise<Opened> | undefined

  function opened(): Promise<Opened> {
    opening ??= open(address, options).catch((error) => {
      opening = undefined
      throw error
    })
    return opening
  }

  /** Runs a command; a connection that is lost for good is opened anew by the next call. */
  async function ask<T>(command: (redis: Redis, keys: readonly SealingKey[]) => Promise<T>): Promise<T> {
    const { redis, keys, connection } = await opened()
    try {
      return await Promise.race([command(redis, keys), connection.lost])
    } catch (error) {
      if (isAuthError(error)) {
        if (error.code.startsWith('NETWORK_')) opening = undefined
        throw error
      }
      throw writeProblem(error) ?? connection.meaning(error)
    }
  }

  async function exclusively<T>(
    key: string,
    run: () => Promise<T>,
    signal: AbortSignal | undefined,
    meanwhile: (() => Promise<T | undefined>) | undefined,
  ): Promise<T> {
    const name = nameOf(key)
    const owner = randomUUID()
    const take = () => ask((redis) => redis.eval(TAKE, 1, name, owner, lockTime) as Promise<number>)
    const number = await taken(take, signal, meanwhile)
    if (typeof number === 'object') return number.found
    held.set(key, number)
    const timer = setInterval(() => void ask((redis) => redis.eval(PROLONG, 1, name, owner, lockTime)).catch(() => {}), lockTime / 3)
    try {
      return await run()
    } finally {
      clearInterval(timer)
      held.delete(key)
      // A lock that cannot be released expires.
      await ask((redis) => redis.eval(RELEASE, 1, name, owner)).catch(() => {})
    }
  }

  /** The number to write with: that of the lock, else a new one. */
  async function numberFor(key: string): Promise<number> {
    return held.get(key) ?? ask((redis) => redis.hincrby(nameOf(key), 'granted', 1))
  }

  return {
    shared: true,
    read: (key) =>
      ask(async (redis, keys) => {
        const sealed = await redis.hget(nameOf(key), 'text')
        return sealed === null ? undefined : unseal(sealed, nameOf(key), keys)
      }),
    write: async (key, text) => {
      if (text.length > MAX_TEXT)
        throw new IntegrityError('CACHE_UNSAFE', `the token set was not stored: it exceeds the limit of ${MAX_TEXT} characters`)
      const number = await numberFor(key)
      await ask((redis, [first]) => redis.eval(WRITE, 1, nameOf(key), number, seal(text, nameOf(key), first as SealingKey)))
    },
    // A server that is full or read-only refuses this, before a refresh token is used up.
    reserve: async (key, length) => {
      await ask((redis) => redis.set(`${nameOf(key)}:space`, '0'.repeat(Math.min(length, MAX_TEXT) * 2), 'PX', lockTime))
    },
    remove: async (key) => {
      const number = await numberFor(key)
      await ask((redis) => redis.eval(REMOVE, 1, nameOf(key), number))
    },
    exclusively: (key, run, signal, meanwhile) => mutex.run(key, () => exclusively(key, run, signal, meanwhile), signal),
    close: async () => {
      const before = opening
      opening = undefined
      await before?.then(({ connection }) => connection.close()).catch(() => {})
    },
  }
}

/** Returns the policy by which the server drops logins when its memory is full; undefined where it keeps all. Errors: those of the store. */
export async function tokenEviction(options: TokenRedisOptions): Promise<string | undefined> {
  const { connection, redis } = await open(redisAddressOf(options.url, USE.subject), options)
  try {
    return await Promise.race([evictionOf(redis), connection.lost])
  } catch (error) {
    throw connection.meaning(error)
  } finally {
    connection.close()
  }
}

interface Opened {
  readonly connection: RedisConnection
  readonly redis: Redis
  readonly keys: readonly SealingKey[]
}

async function open(address: RedisAddress, { username, password, key }: TokenRedisOptions): Promise<Opened> {
  const keys = await Promise.all([key].flat().map(async (one) => sealingKey(await textOf(one as Readable))))
  if (keys.length === 0) sealingKey('')
  const user = { ...address, ...(username !== undefined && { username }) }
  const secret = password === undefined ? address.password : await textOf(password)
  if (secret !== undefined) Object.defineProperty(user, 'password', { value: secret })
  const connection = await connectRedis(user, USE)
  return { connection, redis: connection.client(), keys }
}

async function textOf(value: Readable): Promise<string> {
  if (typeof value === 'string') return value
  return typeof value === 'function' ? value() : secretSource(value).read()
}

/** Session keys are hashes, so names say nothing about the credential to anybody who does not know it already. */
function nameOf(key: string): string {
  if (!/^[0-9a-f]{64}$/.test(key)) throw new TypeError('a key of the token store has 64 hex digits')
  return `${PREFIX}${key}`
}

/**
 * Takes a lock and returns its number; while another process holds it, returns the first result of `meanwhile`. Errors:
 * `CACHE_LOCK_TIMEOUT`, `ABORTED`, those of `take` and `meanwhile`.
 */
async function taken<T>(
  take: () => Promise<number>,
  signal: AbortSignal | undefined,
  meanwhile: () => Promise<T | undefined> = async () => undefined,
): Promise<number | { readonly found: T }> {
  const deadline = Date.now() + LONGEST_WAIT
  for (let delay = 10; ; delay = Math.min(SLOWEST_LOOK, delay * 2)) {
    if (signal?.aborted) throw new AbortedError(signal.reason)
    const number = await take()
    if (number > 0) return number
    const found = await meanwhile()
    if (found !== undefined) return { found }
    if (Date.now() > deadline)
      throw new IntegrityError('CACHE_LOCK_TIMEOUT', `the tokens are locked by another process for more than ${LONGEST_WAIT / 1000} s`, {
        hint: 'the lock of a process that has stopped is free after a minute: try again',
        retryable: true,
      })
    // Spread out, so that waiting processes do not ask all at once.
    await sleep(delay * (0.5 + Math.random()), systemClock(), signal)
  }
}

/** The error when Redis accepts no writes. */
function writeProblem(error: unknown): AuthError | undefined {
  const why = refusedWrite(error)
  if (why === undefined) return undefined
  return new IntegrityError('CACHE_NOT_WRITABLE', `the token store refuses writes: ${why}`, {
    hint: 'repair the Redis server; no token was used up',
  })
}

/**
 * Entries are encrypted by AES-256-GCM (NIST SP 800-38D), each bound to its name. The format is `1.<id of the key>.<nonce>.<ciphertext and
 * tag>`, the parts in base64url.
 */
const FORMAT_VERSION = '1'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32

/** A key and its id, which tells keys apart and says nothing about them. */
interface SealingKey {
  readonly id: string
  /** Not enumerable, so that inspecting the object does not print it. */
  readonly bytes: Buffer
}

/** Parses 32 bytes in base64 or base64url. Errors: `CREDENTIAL_VALUE_INVALID` without the text. */
function sealingKey(text: string): SealingKey {
  const given = String(text).trim()
  const bytes = /^[A-Za-z0-9+/_-]{43}=?$/.test(given) ? Buffer.from(given, 'base64') : Buffer.alloc(0)
  if (bytes.length !== KEY_BYTES)
    throw new ConfigurationError(
      'CREDENTIAL_VALUE_INVALID',
      `the key of the token store is malformed: it must be ${KEY_BYTES} bytes in base64`,
      {
        hint: 'create one with: openssl rand -base64 32',
      },
    )
  const id = createHash('sha256').update('stac-auth sealing key').update(bytes).digest('base64url').slice(0, 8)
  return Object.defineProperty({ id } as SealingKey, 'bytes', { value: bytes })
}

/** Encrypts a text for one name. */
function seal(text: string, name: string, { id, bytes }: SealingKey): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', bytes, nonce).setAAD(boundTo(name, id))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return [FORMAT_VERSION, id, nonce.toString('base64url'), sealed.toString('base64url')].join('.')
}

/**
 * Decrypts a text that was sealed for that name with one of the keys.
 *
 * Errors: `CREDENTIAL_VALUE_INVALID` when none of the keys sealed it; `CACHE_UNSAFE` when it was changed, moved from another name, or has
 * another format.
 */
function unseal(sealed: string, name: string, keys: readonly SealingKey[]): string {
  const [version, id = '', nonce = '', body = ''] = sealed.split('.')
  if (version !== FORMAT_VERSION) throw changed('has a format that this version cannot read')
  const key = keys.find((one) => one.id === id)
  if (!key)
    throw new ConfigurationError('CREDENTIAL_VALUE_INVALID', 'a stored token cannot be decrypted: it was stored with another key', {
      hint: 'list the older key after the current one, or log out and in again',
    })
  const bytes = Buffer.from(body, 'base64url')
  const iv = Buffer.from(nonce, 'base64url')
  if (iv.length !== NONCE_BYTES || bytes.length < TAG_BYTES) throw changed('is incomplete')
  try {
    const cipher = createDecipheriv('aes-256-gcm', key.bytes, iv, { authTagLength: TAG_BYTES }).setAAD(boundTo(name, id))
    cipher.setAuthTag(bytes.subarray(-TAG_BYTES))
    return Buffer.concat([cipher.update(bytes.subarray(0, -TAG_BYTES)), cipher.final()]).toString('utf8')
  } catch {
    throw changed('was changed or moved by someone without the key')
  }
}

function boundTo(name: string, id: string): Buffer {
  return Buffer.from(`stac-auth ${FORMAT_VERSION} ${id} ${name}`)
}

function changed(what: string): IntegrityError {
  return new IntegrityError('CACHE_UNSAFE', `a stored token ${what}`, {
    hint: 'log out, which removes it, and find out who can write to the store',
  })
}
