/** Redis connections, through the optional package `ioredis`. */

import { isIP } from 'node:net'
import type { Redis, RedisOptions } from 'ioredis'
import { type AuthError, abortedBy, ConfigurationError, CredentialError, NetworkError } from '../../errors.ts'
import { networkError } from '../../http/network-error.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { missingPackage, type PackageUse } from './system-error.ts'

/** An authenticated connection. */
export interface RedisConnection {
  /** Opens another connection with the same settings. */
  client(): Redis
  /** Rejects when the connection is lost for too long; never resolves. */
  readonly lost: Promise<never>
  /** Converts an error of the connection. */
  meaning(error: unknown): AuthError
  /** Closes all connections immediately. */
  close(): void
}

/** The purpose of a connection, for messages. */
export interface RedisUse extends PackageUse {
  /** How to give a password. */
  readonly passwordHint: string
  readonly rights: RedisRights
}

/** What a user of the access control list of Redis must be allowed. */
export interface RedisRights {
  /** Rules of `ACL SETUSER`. */
  readonly rules: string
  /** Sends a command of each kind that is needed, and leaves nothing behind. */
  attempt(client: Redis): Promise<unknown>
}

/** Timeout of the first connection in milliseconds. */
const CONNECT_TIMEOUT = 10_000

/** Reconnection attempts, with delays that grow to two seconds: about half a minute in total. */
const ATTEMPTS = 20

async function importRedis(use: RedisUse): Promise<typeof Redis> {
  try {
    return (await import('ioredis')).Redis
  } catch (error) {
    throw missingPackage(error, use)
  }
}

/**
 * Connects and checks the password, the rights of the user and the protocol. A connection that is lost later is retried for half a minute.
 *
 * Errors: `AUTH_REJECTED` for a wrong or missing password and for missing rights, `NETWORK_*`, `TLS_*` and `TIMEOUT_CONNECT` for an
 * unreachable server, `RESPONSE_INVALID` for a server that is not Redis or lacks a command, `SCHEME_UNSUPPORTED` without the packages, `ABORTED`.
 */
export async function connectRedis(address: RedisAddress, use: RedisUse, signal?: AbortSignal): Promise<RedisConnection> {
  const Client = await importRedis(use)
  const first = <T>(connection: RedisOptions, run: (client: Redis) => Promise<T>) =>
    probe(new Client({ ...connection, retryStrategy: () => null }), run, { address, use, ...(signal && { signal }) })
  const isOpen =
    address.password !== undefined &&
    (await first({ ...optionsOf(address), enableReadyCheck: false }, (made) => isWithoutPassword(made, address)))
  const options = { ...optionsOf(address), ...(!isOpen && loginOf(address)) }
  // Without the right to INFO, the check of readiness would print a warning of `ioredis`.
  await first({ ...options, enableReadyCheck: false }, (made) => checkRights(made, use))
  await first(options, (made) => greeted(made, address))
  const clients: Redis[] = []
  let lose: (error: AuthError) => void = () => {}
  const lost = new Promise<never>((_resolve, reject) => {
    lose = reject
  })
  lost.catch(() => undefined)
  const client = () => {
    let last: unknown
    const made = new Client({ ...options, maxRetriesPerRequest: null, retryStrategy })
    made.on('error', (error) => {
      last = error
    })
    made.on('end', () => lose(failureOf(last, address, use)))
    clients.push(made)
    return made
  }
  const close = () => {
    lose = () => {}
    for (const made of clients) made.disconnect()
  }
  return { client, lost, meaning: (error) => failureOf(error, address, use), close }
}

function retryStrategy(attempt: number): number | null {
  return attempt > ATTEMPTS ? null : Math.min(2000, attempt * 200)
}

/** Returns the options of a connection: the parts of the URL, so that error texts of the packages do not contain it. */
function optionsOf({ host, port, db, encrypted }: RedisAddress): RedisOptions {
  return {
    host,
    port,
    db,
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT,
    ...(encrypted && { tls: { rejectUnauthorized: true, ...(isIP(host) === 0 && { servername: host }) } }),
  }
}

function loginOf({ username, password }: RedisAddress): RedisOptions {
  return { ...(username !== undefined && { username }), ...(password !== undefined && { password }) }
}

interface Probe {
  readonly address: RedisAddress
  readonly use: RedisUse
  readonly signal?: AbortSignal
}

async function probe<T>(client: Redis, run: (client: Redis) => Promise<T>, { address, use, signal }: Probe): Promise<T> {
  let last: unknown
  client.on('error', (error) => {
    last = error
  })
  const late = new Promise<never>((_resolve, reject) => {
    setTimeout(() => reject(Object.assign(new Error(), { code: 'ETIMEDOUT' })), CONNECT_TIMEOUT).unref()
    if (signal?.aborted) reject(abortedBy(signal))
    signal?.addEventListener('abort', () => reject(abortedBy(signal)), { once: true })
  })
  try {
    return await Promise.race([run(client), late])
  } catch (error) {
    if (signal?.aborted) throw abortedBy(signal)
    throw failureOf(last ?? error, address, use)
  } finally {
    client.disconnect()
  }
}

/** True for a server that has no passwords: with one, `ioredis` would print a warning of its own for each connection. */
async function isWithoutPassword(client: Redis, { username, password = '' }: RedisAddress): Promise<boolean> {
  await client.connect()
  const refusal = await (username === undefined ? client.auth(password) : client.auth(username, password)).catch(String)
  return /no password is set|without any password configured/.test(refusal)
}

/** Reports missing rights only: a server that is still loading refuses the commands too, and the next connection reports anything else. */
async function checkRights(client: Redis, { rights }: RedisUse): Promise<void> {
  try {
    await client.connect()
    await rights.attempt(client)
  } catch (error) {
    if (wordOf(error) === 'NOPERM') throw error
  }
}

/** Selects the database, so that an invalid number is detected now. */
async function greeted(client: Redis, { db }: RedisAddress): Promise<void> {
  await client.connect()
  await client.ping()
  if (db > 0) await client.select(db)
}

/**
 * The code with which error texts of Redis start (RESP, simple errors); of a transaction, that of its first refused command. Before version
 * 7 the error of a script stands behind another one.
 */
function wordOf(error: unknown): string | undefined {
  const [cause = error] = (error as { previousErrors?: readonly unknown[] } | undefined)?.previousErrors ?? []
  return /^(?:ERR Error running script.*?: -)?([A-Z]{3,})\b/s.exec(cause instanceof Error ? cause.message : '')?.[1]
}

/** True for an error that the server has sent. */
export function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError'
}

const REFUSED_WRITES: Record<string, string> = {
  OOM: 'it is full',
  READONLY: 'it is a replica, which accepts no writes',
  MISCONF: 'it cannot write to its disk',
  NOREPLICAS: 'too few of its replicas are connected',
}

/** A server that starts, synchronizes, runs a long script or elects another one. */
const TEMPORARY: ReadonlySet<string> = new Set(['LOADING', 'BUSY', 'MASTERDOWN', 'CLUSTERDOWN', 'TRYAGAIN'])

/** Returns the policy by which a server drops keys when its memory is full; undefined where it keeps all. Errors: those of Redis. */
export async function evictionOf(client: Redis): Promise<string | undefined> {
  const [, policy = 'noeviction'] = /^maxmemory_policy:(\S+)/m.exec(await client.info('memory')) ?? []
  return policy === 'noeviction' ? undefined : policy
}

/** Says why a server accepts no writes. */
export function refusedWrite(error: unknown): string | undefined {
  return REFUSED_WRITES[wordOf(error) ?? '']
}

/** Describes a failure by its code; the rest of the text is not shown. */
function failureOf(error: unknown, address: RedisAddress, { passwordHint, rights }: RedisUse): AuthError {
  const word = wordOf(error)
  const { shown } = address
  if (word === 'NOPERM')
    return new CredentialError('AUTH_REJECTED', `${shown}: this user may not use what is needed there`, {
      hint: `its access control list must allow this user ${rights.rules}`,
    })
  if (word === 'WRONGPASS' || word === 'NOAUTH') {
    const what = address.password === undefined ? 'it requires a password' : 'it rejects this user name and password'
    return new CredentialError('AUTH_REJECTED', `${shown}: ${what}`, { hint: passwordHint })
  }
  const refusal = refusedWrite(error)
  if (refusal !== undefined)
    return new NetworkError('NETWORK_FAILED', `${shown}: it refuses writes: ${refusal}`, { hint: 'repair the Redis server' })
  const says = error instanceof Error ? error.message : ''
  if (word === 'ERR' && /\bDB\b|\bSELECT\b/.test(says))
    return new ConfigurationError('USAGE', `${shown}: it rejects these settings. Check the number of the database`)
  if (word !== undefined && TEMPORARY.has(word))
    return new NetworkError('NETWORK_FAILED', `${shown}: it does not accept commands now (${word})`, { retryable: true })
  if (word !== undefined && isReply(error))
    return new NetworkError('RESPONSE_INVALID', `${shown}: it refuses a command that is needed (${word})`, {
      hint: 'the log of the Redis server may say why',
    })
  if (error instanceof Error && error.name === 'ParserError')
    return new NetworkError('RESPONSE_INVALID', `${shown}: the server is not Redis`)
  const { code, message, hint } = networkError(error, 'http://queue/')
  const reason = code === 'NETWORK_FAILED' ? 'the connection failed' : message.replace(/^.*?: /, '')
  return new NetworkError(code, `${shown}: ${reason}`, { retryable: true, ...(hint !== undefined && { hint }) })
}

export interface RedisAddress {
  readonly host: string
  readonly port: number
  /** Number of the database. */
  readonly db: number
  readonly encrypted: boolean
  readonly username?: string
  /** Not enumerable, so that inspecting the object does not print it. */
  readonly password?: string
  /** Scheme, host, port and database, for messages. */
  readonly shown: string
}

/**
 * Parses `redis://[user][:password@]host[:port][/db]`, with `rediss:` for TLS (IANA registrations). Default port: 6379.
 *
 * Errors: `USAGE`, without the URL.
 */
export function redisAddressOf(text: string, subject = 'the queue'): RedisAddress {
  const url = canParseUrl(text) ? new URL(text) : undefined
  const db = /^\/?(\d{0,4})$/.exec(url?.pathname ?? '')?.[1]
  if (!url || !/^rediss?:$/.test(url.protocol) || url.hostname === '' || db === undefined || url.search !== '' || url.hash !== '')
    throw new ConfigurationError(
      'USAGE',
      `the URL of ${subject} is malformed: it must be redis://host:port or rediss://host:port, optionally with /number`,
      {
        hint: 'write a password after a colon, percent-encoded: redis://:p%40ss@host',
      },
    )
  const [username, password] = [decoded(url.username), decoded(url.password)]
  const port = url.port === '' ? 6379 : Number(url.port)
  const address = {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port,
    db: Number(db),
    encrypted: url.protocol === 'rediss:',
    shown: `${url.protocol}//${url.hostname}:${port}${db && `/${db}`}`,
    ...(username !== '' && { username }),
  }
  if (password !== '') Object.defineProperty(address, 'password', { value: password })
  return address
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
