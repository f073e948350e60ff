/** Whether a file that exists already is the one to download: it is compared with its document, the manifest and its server. */

import { type AuthError, abortedBy, IntegrityError, isAuthError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import type { Clock } from '../../net/clock.ts'
import { retryHint, withRetryAfter } from '../../net/retry.ts'
import type { Target } from '../../stac/target.ts'
import { answerFailure } from '../base/answer-failure.ts'
import { FILE_HEAD } from '../base/file-formats.ts'
import { presentFile } from '../base/files.ts'
import { misfitError, misfitOf, type PromisedFile, pageByType, promisedFile } from '../base/promised-file.ts'
import { type KnownHash, promiseOf, serverDigest } from './checksums.ts'
import type { DownloadFile, KeptEvent, Verification } from './download.ts'
import type { DownloadContext } from './download-context.ts'
import type { PlannedFile } from './file-plan.ts'
import type { ManifestEntry } from './manifest.ts'
import { exchangeFailure } from './receive-body.ts'
import { codingOf, validatorsIn } from './response.ts'
import { VERIFY_RETRIES, withRetries } from './retries.ts'
import { originAndPath } from './selected-files.ts'

/** A file under its local name; `base` is the planned name, without a suffix. */
export interface NamedFile extends PlannedFile {
  readonly base?: string
}

/**
 * Returns the event of an existing file if it agrees with its document, with the manifest, and with `verify` with its server; undefined if
 * there is none, or if it is to be replaced.
 *
 * @param size size in bytes by the server
 *
 * Errors: `PATH_EXISTS`, `PATH_UNSAFE`, `FILE_ACCESS`; with `verify` those of {@link askServer}.
 */
export async function keptFile(planned: NamedFile, context: DownloadContext, size?: number): Promise<KeptEvent | undefined> {
  const { file } = planned
  const { settings, folder, record } = context
  const existing = existingFor(planned, context)
  const present = await folder.present(file.path)
  if (!present || existing === 'replace') return undefined
  if (existing === 'refuse') throw inTheWay(file, 'exists already')
  if (size !== undefined && size !== present.size)
    throw inTheWay(file, `exists already and has ${present.size} bytes; the server has ${size}`)
  const verified = await comparedHere(planned, present.size, context)
  const byServer = settings.verify && planned.repeats === undefined ? await comparedThere(planned, present.size, context) : []
  warnUnrecorded(file, await record.kept(file, present.size, hadQuery(planned)), context)
  return { kind: 'kept', file, bytes: present.size, verified: [...verified, ...byServer] }
}

/** Returns a file under the name of an earlier run, if it exists. Errors: `PATH_UNSAFE`, `FILE_ACCESS`. */
export function rememberedFile(planned: PlannedFile, context: DownloadContext): NamedFile {
  const { file, lacksSuffix } = planned
  const named = withSuffix(planned, (lacksSuffix && context.record.suffixOf(file)) ?? '', context)
  return named.base !== undefined && presentFile(named.file.path) ? named : planned
}

/** Returns a file with the suffix that its server proposes, unless it exists under its planned name or the plan refuses that suffix. */
export function withSuffix(planned: PlannedFile, suffix: string, { plan }: DownloadContext): NamedFile {
  const isFree = planned.lacksSuffix && suffix !== '' && !presentFile(planned.file.path)
  const file = isFree ? plan.withSuffix(planned, suffix) : undefined
  return file ? { ...planned, file, base: planned.file.name } : planned
}

/** Returns how an existing file is treated: one of the same download is kept. */
export function existingFor({ repeats }: PlannedFile, { settings }: DownloadContext): DownloadContext['settings']['existing'] {
  return repeats === undefined ? settings.existing : 'keep'
}

/** Warns that nothing can be recorded about files. */
export function warnUnrecorded(file: DownloadFile, problem: AuthError | undefined, { tell }: DownloadContext): void {
  const message = `${problem?.message}; a later run cannot tell whether its files have changed since`
  if (problem) tell({ kind: 'warning', file, code: problem.code, message })
}

/**
 * Returns what the document and the name say about a file; an alternate without a media type has that of its asset. For an object that its
 * store lists with a size, that size is the promise: names of objects are anyone's.
 */
export function promisedBody({ file, selected: { targets, type, folder, size } }: PlannedFile): PromisedFile {
  if (folder && size !== undefined) return { type: '', names: [], roles: [] }
  const promise = promisedFile(targets[0], [file.name])
  return type === undefined ? promise : { ...promise, type }
}

/** Returns true if the URL of a file has a query, which is not recorded. */
export function hadQuery({ selected: { targets } }: PlannedFile): boolean {
  return targets[0].href.includes('?')
}

async function comparedHere(
  planned: NamedFile,
  bytes: number,
  { folder, record, settings }: DownloadContext,
): Promise<readonly Verification[]> {
  const { file, base } = planned
  const owner = record.plannedNameOf(file.name)
  if (owner !== undefined && owner !== base) throw inTheWay(file, `exists already and is another file, which was planned as "${owner}"`)
  const { size, hash } = promiseOf(planned.selected)
  const hasSize = size === undefined || size === bytes
  const isStated = hasSize && (!hash || (await folder.digest(file.path, hash.algorithm)).startsWith(hash.digest))
  const entry = record.known(file)
  const isTrusted = settings.trustServer && entry?.unverified !== undefined
  if (!isStated && !isTrusted) throw inTheWay(file, 'exists already and does not match its document', entry?.unverified && TRUSTED)
  const verified: Verification[] = isStated && size !== undefined ? ['size'] : []
  if (isStated && hash) return [...verified, 'checksum']
  const difference = entry && (await record.difference(entry, file.path))
  if (difference !== undefined) throw inTheWay(file, `exists already and differs from what was downloaded: ${difference}`)
  if (!isStated) return ['manifest']
  const misfit = misfitOf(promisedBody(planned), await folder.head(file.path, FILE_HEAD), bytes <= FILE_HEAD)
  // A file of the manifest was compared when it arrived.
  if (misfit && misfit !== 'more' && !(misfit.kind === 'page' ? settings.acceptHtml : settings.trustServer || entry))
    throw inTheWay(file, `exists already and is ${misfit.words}: an earlier run may have saved a login page or an error`)
  return entry ? [...verified, 'manifest'] : verified
}

/** Asks the servers in order until one replies. */
async function comparedThere(planned: PlannedFile, size: number, context: DownloadContext): Promise<readonly Verification[]> {
  const { file, selected } = planned
  const { limiter, settings, folder, record } = context
  const digest = (algorithm: string) => folder.digest(file.path, algorithm)
  let first: AuthError | undefined
  for (const [index, target] of selected.targets.entries()) {
    const { bare: url, origin } = originAndPath(target)
    await limiter.enter(origin, context.signal)
    try {
      const send = (headers: Readonly<Record<string, string>>, signal: AbortSignal) => context.send(target, headers, signal)
      const facts = await askServer({ ...context, send, url, target, promise: promisedBody(planned), retries: settings.retries })
      // The recorded validators are those of the first URL.
      const difference = await differenceFrom(facts, { ...(index === 0 && record.known(file)), digest, size })
      if (difference === 'unknown') return []
      if (difference !== undefined) throw inTheWay(file, `exists already and differs from the file on its server: ${difference}`)
      return ['server']
    } catch (error) {
      if (context.signal.aborted) throw abortedBy(context.signal)
      if (!isAuthError(error) || error.code === 'PATH_EXISTS') throw error
      first ??= error
    } finally {
      limiter.leave(origin)
    }
  }
  throw first
}

const REPLACE = 'remove it, or replace it with --existing replace'

const TRUSTED = `it was downloaded with --trust-server, which also keeps it; otherwise ${REPLACE}`

function inTheWay({ name }: DownloadFile, problem: string, hint = REPLACE): IntegrityError {
  return new IntegrityError('PATH_EXISTS', `"${name}" ${problem}`, { hint })
}

/** The facts about a file in a response. */
interface ServerFacts extends Pick<ManifestEntry, 'etag' | 'lastModified'> {
  /** Size in bytes. */
  readonly size?: number
  readonly hash?: KnownHash
}

/** How to ask a server. */
interface Inquiry {
  /** Sends a request with these headers. */
  send(headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<HttpResponse>
  /** Origin and path of the request. */
  readonly url: string
  readonly target?: Target
  /** The expected content of the file; an HTML page instead is an error. */
  readonly promise: PromisedFile
  readonly retries: number
  readonly clock: Clock
  readonly random: () => number
  readonly signal: AbortSignal
}

/**
 * Returns what the server says about the file, with retries.
 *
 * Errors: `AUTH_REJECTED`, `HTTP_<status>`, `LOGIN_PAGE`, `FILE_INTEGRITY` for an HTML page, those of the engine and the transport, `ABORTED`.
 */
export function askServer(inquiry: Inquiry): Promise<ServerFacts> {
  const { signal, retries, url } = inquiry
  return withRetries({ ...VERIFY_RETRIES, retries }, inquiry, () =>
    askOnce(inquiry).catch((error) => {
      throw signal.aborted ? abortedBy(signal) : exchangeFailure(error, undefined, url)
    }),
  )
}

/**
 * Compares a file with what its server says, by the strongest fact that both have: a hash, else the size and the recorded validators.
 *
 * @returns the difference, `undefined` for none, or `'unknown'` if there is nothing to compare
 *
 * Errors: `FILE_ACCESS`.
 */
export async function differenceFrom(
  { size, etag, lastModified, hash }: ServerFacts,
  local: Pick<ManifestEntry, 'etag' | 'lastModified'> & { readonly size: number; digest(algorithm: string): Promise<string> },
): Promise<string | undefined> {
  if (size !== undefined && size !== local.size) return `it has ${local.size} bytes here and ${size} bytes on the server`
  if (hash)
    return (await local.digest(hash.algorithm)).startsWith(hash.digest) ? undefined : `its ${hash.algorithm} is different on the server`
  if (etag !== undefined && local.etag !== undefined)
    return opaque(etag) === opaque(local.etag) ? undefined : 'its ETag is different on the server'
  if (lastModified !== undefined && local.lastModified !== undefined && lastModified !== local.lastModified)
    return `it was changed on the server: ${lastModified.slice(0, 40)}`
  return size === undefined ? 'unknown' : undefined
}

async function askOnce({ send, url, target, promise, clock, signal }: Inquiry): Promise<ServerFacts> {
  const controller = new AbortController()
  const abort = () => controller.abort(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    const response = await send({ 'accept-encoding': 'identity', range: 'bytes=0-0' }, controller.signal)
    const { status, headers, url: answered } = response
    if (status !== 200 && status !== 206 && status !== 416) {
      const error = await answerFailure(response, target)
      throw withRetryAfter(error, status === 429 || status >= 500 ? retryHint(headers, clock.now()) : undefined)
    }
    const contentType = status === 416 ? null : headers.get('content-type')
    const misfit = pageByType(promise, contentType)
    if (misfit) throw misfitError(misfit, promise, { asked: url, answered, contentType })
    return factsIn(response)
  } finally {
    signal.removeEventListener('abort', abort)
    // A server without range support would send the whole file.
    controller.abort(new Error('the rest is not needed'))
  }
}

function factsIn({ status, headers }: HttpResponse): ServerFacts {
  const range = headers.get('content-range')?.trim() ?? ''
  const text = status === 200 ? (codingOf(headers) ? undefined : headers.get('content-length')?.trim()) : /\/(\d{1,16})$/.exec(range)?.[1]
  const hash = serverDigest(headers, status, false)
  return {
    ...(text !== undefined && /^\d{1,16}$/.test(text) && { size: Number(text) }),
    ...validatorsIn(headers),
    ...(hash && { hash }),
  }
}

/** Weak comparison (RFC 9110 §8.8.3.2), of tags of one resource at two times. */
function opaque(tag: string): string {
  return tag.replace(/^W\//, '')
}
