/** Compares downloaded files with their manifest, and with their servers. */

import { join } from 'node:path'
import type { Auth } from '../../auth/auth.ts'
import { type AuthError, abortedBy, ConfigurationError, IntegrityError, isAuthError } from '../../errors.ts'
import { systemClock } from '../../net/clock.ts'
import { AMOUNT, checkNamed, SIGNAL, type Table, TEXT, withMethods } from '../base/check-options.ts'
import { checkFolder, presentFile } from '../base/files.ts'
import { promisedFile } from '../base/promised-file.ts'
import { readFailure } from '../base/system-error.ts'
import { TargetFolder } from './destination/target-folder.ts'
import type { Verification } from './download.ts'
import { VERIFY_RETRIES } from './download-context.ts'
import { fileDigest, MANIFEST_NAME, type ManifestEntry, readManifest, type Unverified } from './manifest.ts'
import { askServer, differenceFrom, exchangeFailure } from './server-facts.ts'

/** Options of `verifyFolder`. */
export interface VerifyOptions {
  /** The folder with the manifest. */
  readonly folder: string
  /** Another manifest than the one in the folder; its paths are below the folder. */
  readonly manifest?: string
  /** Asks the servers too, with the credentials whose `sendTo` matches the URLs of the manifest. */
  readonly auth?: Pick<Auth, 'send'>
  /** Attempts per server; default 3. */
  readonly retries?: number
  /** Ends the run with `ABORTED`. */
  readonly signal?: AbortSignal
}

/** The file equals its entry in the manifest; with `auth` also what its server has, unless `unasked`. */
export interface VerifiedEvent {
  readonly kind: 'verified'
  /** Path of the file. */
  readonly path: string
  /** Its size in bytes. */
  readonly bytes: number
  /** The facts that the file agrees with. */
  readonly verified: readonly Verification[]
  /** Why its server was not asked, or had nothing to compare. */
  readonly unasked?: string
  /** What differed from the document when it was downloaded with `trustServer`. */
  readonly unverified?: readonly Unverified[]
}

/** The file is missing or differs (`FILE_INTEGRITY`), cannot be read, or its server cannot be asked. */
export interface UnverifiedEvent {
  readonly kind: 'failed'
  /** Path of the file. */
  readonly path: string
  /** The difference, or why it could not be checked. */
  readonly error: AuthError
}

/** The last event of `verifyFolder`. */
export interface VerifySummaryEvent {
  readonly kind: 'summary'
  /** Files of the manifest. */
  readonly files: number
  /** Files that agree. */
  readonly verified: number
  /** Files that differ or are missing. */
  readonly failed: number
  /** Files whose servers were not asked, or had nothing to compare. */
  readonly unasked: number
  /** Files that differ from their documents, and were downloaded with `trustServer`. */
  readonly unverified: number
}

/** An event of `verifyFolder`, by its `kind`. */
export type VerifyEvent = VerifiedEvent | UnverifiedEvent | VerifySummaryEvent

const SENDER = withMethods('an engine of createAuth', 'send')
const OPTIONS: Table<VerifyOptions> = { folder: TEXT, manifest: TEXT, auth: SENDER, retries: AMOUNT, signal: SIGNAL }

/** Concurrent files, with and without requests. */
const REMOTE = 8
const LOCAL = 2

/** Runs {@link verifyFolder}. */
export async function* verifyFiles(options: VerifyOptions): AsyncGenerator<VerifyEvent, void> {
  if (typeof Object(options).folder !== 'string' || !options.folder)
    throw new ConfigurationError('CONFIG_INVALID', 'folder is missing', { hint: "verifyFolder({ folder: 'data' })" })
  checkNamed('verifyFolder', options, OPTIONS)
  const { signal = new AbortController().signal } = options
  if (/^s3:\/\//i.test(options.folder))
    throw new ConfigurationError('USAGE', `"${options.folder}" is a bucket: only folders on the disk can be verified`)
  const folder = await TargetFolder.open(options.folder, false, 'check its name: it is the folder of a download')
  const entries = await entriesIn(options.manifest ?? join(folder.path, MANIFEST_NAME))
  const counts = { verified: 0, failed: 0, unasked: 0, unverified: 0 }
  const pending: Promise<VerifiedEvent | UnverifiedEvent>[] = []
  const next = async function* () {
    const event = await pending.shift()
    if (signal.aborted) throw abortedBy(signal)
    if (!event) return
    counts[event.kind]++
    if (event.kind === 'verified' && event.unasked !== undefined) counts.unasked++
    if (event.kind === 'verified' && event.unverified) counts.unverified++
    yield event
  }
  for (const entry of entries) {
    pending.push(verifyFile(entry, folder, options, signal))
    if (pending.length >= (options.auth ? REMOTE : LOCAL)) yield* next()
  }
  while (pending.length > 0) yield* next()
  yield { kind: 'summary', files: entries.length, ...counts }
}

/** Returns the last entry of each path. */
async function entriesIn(path: string): Promise<readonly ManifestEntry[]> {
  if (!presentFile(path)) {
    const { message } = readFailure(Object.assign(new Error(), { code: 'ENOENT' }), path)
    throw new IntegrityError('FILE_ACCESS', message, {
      hint: 'stac-auth download writes a manifest into its folder; --manifest names another one',
    })
  }
  const entries = new Map<string, ManifestEntry>()
  for await (const entry of readManifest(path)) entries.set(entry.path, entry)
  return [...entries.values()]
}

/** Verifies one file. Never rejects. */
async function verifyFile(
  entry: ManifestEntry,
  folder: TargetFolder,
  options: VerifyOptions,
  signal: AbortSignal,
): Promise<VerifiedEvent | UnverifiedEvent> {
  const { path: name, size: bytes, unverified } = entry
  try {
    const path = await verifiedPath(entry, folder)
    const server = options.auth ? await verifyAtServer(entry, path, options.auth, options.retries ?? VERIFY_RETRIES.retries, signal) : []
    const more = { ...(typeof server === 'string' && { unasked: server }), ...(unverified && { unverified }) }
    return { kind: 'verified', path: name, bytes, verified: ['manifest', ...(typeof server === 'string' ? [] : server)], ...more }
  } catch (thrown) {
    return { kind: 'failed', path: name, error: exchangeFailure(thrown, signal, entry.url) }
  }
}

/**
 * Returns the path of an entry, never outside the folder, because a manifest may come from another person.
 * Errors: `PATH_UNSAFE`, `FILE_ACCESS`, `FILE_INTEGRITY`.
 */
async function verifiedPath(entry: ManifestEntry, folder: TargetFolder): Promise<string> {
  const { path: name, size, sha256, url } = entry
  const path = folder.pathOf(name.split('/'))
  const wrong = (problem: string) => new IntegrityError('FILE_INTEGRITY', `"${name}" ${problem}`, { url, hint: AGAIN })
  if (!isThere(path)) throw wrong('is missing')
  checkFolder(path)
  const present = presentFile(path)
  if (!present) throw wrong('is missing')
  if (present.size !== size) throw wrong(`has ${present.size} bytes and had ${size} when it was downloaded`)
  if ((await fileDigest(path)) !== sha256) throw wrong('has changed since it was downloaded')
  return path
}

const AGAIN = 'stac-auth download with --existing replace fetches it again'

/** Returns false also if its folder is missing. */
function isThere(path: string): boolean {
  try {
    return presentFile(path) !== undefined
  } catch (error) {
    if (isAuthError(error) && error.message.endsWith('a part of the path is not a folder')) return false
    throw error
  }
}

/** Returns what was compared, or why nothing was. Errors: `FILE_INTEGRITY`, those of {@link askServer}. */
async function verifyAtServer(
  { path: name, url, hadQuery, size, etag, lastModified }: ManifestEntry,
  path: string,
  auth: Pick<Auth, 'send'>,
  retries: number,
  signal: AbortSignal,
): Promise<readonly Verification[] | string> {
  if (hadQuery || /[?#]/.test(url)) return 'its URL had a query, which the manifest does not store'
  const facts = await askServer({
    send: (headers, aborted) => auth.send({ method: 'GET', url, headers }, { signal: aborted, headers }),
    url,
    promise: promisedFile(undefined, [name.slice(name.lastIndexOf('/') + 1)]),
    retries,
    clock: systemClock(),
    random: Math.random,
    signal,
  })
  const validators = { ...(etag !== undefined && { etag }), ...(lastModified !== undefined && { lastModified }) }
  const difference = await differenceFrom(facts, { digest: (algorithm) => fileDigest(path, algorithm), size, ...validators })
  if (difference === 'unknown') return 'its server reports nothing that can be compared'
  if (difference === undefined) return ['server']
  throw new IntegrityError('FILE_INTEGRITY', `"${name}" differs from the file on its server: ${difference}`, { url, hint: AGAIN })
}
