/** Transfers one file from its servers to its path. */

import { type AuthError, abortedBy, IntegrityError, isAuthError, NetworkError } from '../../errors.ts'
import { sleep } from '../../net/cancellation.ts'
import { Retries, retryAfterOf, retryAfterProblem } from '../../net/retry.ts'
import type { Target } from '../../stac/target.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { FILE_HEAD } from '../base/file-formats.ts'
import { presentFile } from '../base/files.ts'
import { misfitOf, type PromisedFile, promisedFile } from '../base/promised-file.ts'
import { leastIn, Preparation, UnverifiedPart } from './answer.ts'
import { Attempt, accept, acceptMisfit, checkBytes, FileExists, type FileState, requireSize, SizeNotSelected } from './attempt.ts'
import type { Content } from './destination/destination.ts'
import { targetAddress } from './destination/target-folder.ts'
import type { DownloadFile, FailedEvent, KeptEvent, SkippedEvent, Verification, WrittenEvent } from './download.ts'
import { DOWNLOAD_RETRIES, type DownloadContext } from './download-context.ts'
import type { PlannedFile } from './file-plan.ts'
import { askServer, differenceFrom, exchangeFailure } from './server-facts.ts'
import { checkDigest, type Promised, promiseOf, verifyPresent } from './verification.ts'

/** Fetches a file, or returns why it failed. */
export async function transfer(
  planned: PlannedFile,
  context: DownloadContext,
): Promise<WrittenEvent | KeptEvent | SkippedEvent | FailedEvent> {
  const { file, selected: wanted, repeats } = planned
  const existing = repeats === undefined ? context.settings.existing : 'keep'
  const promised = promiseOf(wanted)
  const naming = new Naming(planned, existing, context)
  let content: Content | undefined
  let state: FileState | undefined
  try {
    const { hasPart } = await context.folder.prepare(file.path)
    const kept = await keptFile(naming.remembered(), existing, context)
    if (kept) return kept
    if (promised.unsupported) context.tell({ kind: 'warning', file, code: 'CHECKSUM_UNSUPPORTED', message: UNSUPPORTED })
    const onWait = (longest: number) => context.tell({ kind: 'warning', file, code: 'PATH_BUSY', message: waiting(longest) })
    content = await context.folder.open(file.path, context.hashes, {
      taken: hasPart,
      resume: context.settings.resume,
      wait: { signal: context.signal, onWait },
    })
    state = begun(planned, content, promised, naming.onSuffix)
    const verified = await fetchedInEitherCoding(planned, state, context)
    const sha256 = await content.digest('sha256')
    const { file: named, suffix } = naming.decided(state.suffix)
    const unverified = [...state.unverified]
    const differs = unverified.length > 0 && { unverified }
    const facts = { sha256, ...state.validators, hadQuery: hadQuery(planned), ...(suffix !== '' && { suffix }), ...differs }
    await context.record.completing?.(named, content.length, facts)
    await content.complete(existing === 'replace', named.path)
    const problem = await context.record.written(named, content.length, facts)
    if (problem) context.tell({ kind: 'warning', file, code: problem.code, message: `${problem.message}; ${UNNOTED}` })
    return { kind: 'written', file: named, bytes: content.length, received: state.received, verified, ...differs }
  } catch (caught) {
    const thrown = caught instanceof FileExists ? await naming.kept(caught).catch((failure: unknown) => failure) : caught
    if (isKept(thrown)) {
      await content?.close(false)
      return thrown
    }
    if (thrown instanceof SizeNotSelected) {
      // A part of an earlier run without that limit stays.
      await content?.close(true)
      return { kind: 'skipped', file, size: thrown.size, received: state?.received ?? 0 }
    }
    const error = exchangeFailure(thrown, context.signal, file.url)
    const resumable = (await content?.close(!state?.isWrong && error.code !== 'FILE_CHANGED')) ?? 0
    return { kind: 'failed', file, error, received: state?.received ?? 0, resumable }
  }
}

const UNSUPPORTED = 'its checksum is malformed or of an unsupported algorithm'

function waiting(longest: number): string {
  return `a process on another host or in another container may be downloading it: waiting up to ${longest / 1000} s for its heartbeat`
}

function isKept(event: unknown): event is KeptEvent {
  return typeof event === 'object' && event !== null && 'kind' in event && event.kind === 'kept'
}

/** The name of a file that may get a suffix from its server. An existing file keeps its planned name. */
class Naming {
  readonly #planned: PlannedFile
  readonly #existing: DownloadContext['settings']['existing']
  readonly #context: DownloadContext

  constructor(planned: PlannedFile, existing: DownloadContext['settings']['existing'], context: DownloadContext) {
    this.#planned = planned
    this.#existing = existing
    this.#context = context
  }

  /** Returns the file under the name of an earlier run, if it exists. Errors: `PATH_UNSAFE`, `FILE_ACCESS`. */
  remembered(): NamedFile {
    const { lacksSuffix, file } = this.#planned
    const suffix = lacksSuffix ? this.#context.record.suffixes.of(file.name, file.url) : undefined
    const { file: named } = suffix === undefined ? { file } : this.#with(suffix)
    return named !== file && presentFile(named.path) ? this.#as(named) : this.#planned
  }

  /** Chooses the name with a suffix. Errors: {@link FileExists}, `PATH_UNSAFE`, `FILE_ACCESS`. */
  readonly onSuffix = (suffix: string, size: number | undefined): void => {
    const { file } = this.#with(suffix)
    if (file !== this.#planned.file && this.#existing !== 'replace' && presentFile(file.path)) {
      this.#context.record.proposed(this.#planned.file, suffix)
      throw new FileExists(size)
    }
  }

  /** The suffix is recorded before the file is named, so that a later run finds it. */
  decided(suffix: string): { readonly file: DownloadFile; readonly suffix: string } {
    const decided = this.#with(suffix)
    if (decided.suffix !== '') this.#context.record.proposed(this.#planned.file, suffix)
    return decided
  }

  /** Returns the existing file. Errors: as {@link keptFile}. */
  async kept({ size }: FileExists): Promise<KeptEvent | undefined> {
    return keptFile(this.remembered(), this.#existing, this.#context, size)
  }

  #as(file: DownloadFile): NamedFile {
    return { ...this.#planned, file, base: this.#planned.file.name }
  }

  #with(suffix: string): { readonly file: DownloadFile; readonly suffix: string } {
    const { file, lacksSuffix } = this.#planned
    const isFree = lacksSuffix && suffix !== '' && !presentFile(file.path)
    const named = isFree ? this.#context.plan.withSuffix(this.#planned, suffix) : undefined
    return named ? { file: named, suffix } : { file, suffix: '' }
  }
}

function begun(planned: PlannedFile, content: Content, { hash }: Promised, onSuffix: FileState['onSuffix']): FileState {
  const { file } = planned
  return {
    file,
    promise: promisedBody(planned),
    sizeLimits: planned.selected.sizeLimits ?? {},
    content,
    hash: hash && { known: hash, by: 'checksum' },
    validators: {},
    size: undefined,
    asSent: undefined,
    received: 0,
    most: content.total,
    changes: 0,
    doubt: undefined,
    unverified: new Set(),
    whole: false,
    isWrong: false,
    alone: false,
    hasStarted: false,
    reportedAt: Number.NEGATIVE_INFINITY,
    suffix: '',
    lacksSuffix: planned.lacksSuffix === true,
    onSuffix,
  }
}

/**
 * The size or checksum in the document may describe the body with or without its content coding: if one does not match, the other one is
 * tried once.
 *
 * Errors: those of the first attempt.
 */
async function fetchedInEitherCoding(planned: PlannedFile, state: FileState, context: DownloadContext): Promise<readonly Verification[]> {
  const fetched = async () => {
    await fromAnyTarget(planned, state, context)
    return verify(state, context)
  }
  try {
    return await fetched()
  } catch (error) {
    if (!isAuthError(error) || error.code !== 'FILE_INTEGRITY' || error === state.doubt?.error || state.asSent === undefined) throw error
    state.asSent = !state.asSent
    state.isWrong = false
    state.size = undefined
    if (state.hash?.by === 'digest') state.hash = undefined
    await state.content.reset()
    context.tell({ kind: 'retry', file: state.file, error, delay: 0, attempt: 1 })
    return await fetched().catch((second) => {
      throw isAuthError(second) && second.code === 'FILE_INTEGRITY' ? error : second
    })
  }
}

/** Tries the targets in order. Errors: that of the first one. */
async function fromAnyTarget({ file, selected: { targets } }: PlannedFile, state: FileState, context: DownloadContext): Promise<void> {
  let first: AuthError | undefined
  for (const [index, target] of targets.entries()) {
    try {
      await fetchTarget(target, state, context)
      // Alternates are compared with what the first server says.
      if (index > 0) state.validators = {}
      return
    } catch (error) {
      if (context.signal.aborted) throw abortedBy(context.signal)
      if (!isAuthError(error) || isOurs(error)) throw error
      first ??= error
      if (index + 1 < targets.length)
        context.tell({ kind: 'warning', file, code: error.code, message: `${error.message}; the next URL is tried` })
    }
  }
  throw first
}

/** Errors that another URL would not fix. */
function isOurs({ code }: AuthError): boolean {
  return /^(?:DISK_FULL|FILE_ACCESS|PATH_\w+|CONFIG_INVALID|CREDENTIAL_VALUE_INVALID|ABORTED)$/.test(code)
}

/** Checks the received content. Errors: `FILE_INTEGRITY`, `LOGIN_PAGE`. */
async function verify(state: FileState, context: DownloadContext): Promise<readonly Verification[]> {
  const { file, content, size, hash, doubt } = state
  await content.flush()
  checkBytes(state, () => requireSize(state, context, content.length))
  const verified: Verification[] =
    file.size !== undefined && !state.unverified.has('size') ? ['size'] : size !== undefined ? ['length'] : []
  if (!hash) return verified
  const digest = await content.digest(hash.known.algorithm)
  const isSame = digest.startsWith(hash.known.digest)
  checkBytes(state, () => {
    if (doubt && !isSame) acceptMisfit(doubt, state, context)
    if (isSame || hash.by === 'digest' || !context.settings.trustServer) checkDigest(file, hash.known, digest, hash.by)
    else accept('checksum', `it has another ${hash.known.algorithm} than its document states`, state, context)
  })
  return isSame ? [...verified, hash.by] : verified
}

/** A file under its local name; `base` is the planned name, without a suffix. */
interface NamedFile extends PlannedFile {
  readonly base?: string
}

/**
 * Returns the existing file if it agrees with its document, with the manifest, and with `verify` with its server.
 *
 * @param size size in bytes by the server
 *
 * Errors: `PATH_EXISTS`, `PATH_UNSAFE`, `FILE_ACCESS`; with `verify` those of {@link askServer}.
 */
async function keptFile(
  planned: NamedFile,
  existing: DownloadContext['settings']['existing'],
  context: DownloadContext,
  size?: number,
): Promise<KeptEvent | undefined> {
  const { file } = planned
  const present = await context.folder.present(file.path)
  if (!present || existing === 'replace') return undefined
  if (existing === 'refuse') throw inTheWay(file, 'exists already')
  if (size !== undefined && size !== present.size)
    throw inTheWay(file, `exists already and has ${present.size} bytes; the server has ${size}`)
  const verified = await verifiedHere(planned, present.size, context)
  const byServer = context.settings.verify && planned.repeats === undefined ? await verifiedThere(planned, present.size, context) : []
  const problem = await context.record.kept(file, present.size, hadQuery(planned))
  if (problem) context.tell({ kind: 'warning', file, code: problem.code, message: `${problem.message}; ${UNNOTED}` })
  return { kind: 'kept', file, bytes: present.size, verified: [...verified, ...byServer] }
}

/** The hint if nothing can be recorded about files. */
const UNNOTED = 'a later run cannot tell whether its files have changed since'

/**
 * Returns what the document and the name say about a file; an alternate without a media type has that of its asset. For an object that its
 * store lists with a size, that size is the promise: names of objects are anyone's.
 */
function promisedBody({ file, selected: { targets, type, folder, size } }: PlannedFile): PromisedFile {
  if (folder && size !== undefined) return { type: '', names: [], roles: [] }
  const promise = promisedFile(targets[0], [file.name])
  return type === undefined ? promise : { ...promise, type }
}

/** Returns true if the URL of a file has a query, which is not recorded. */
function hadQuery({ selected: { targets } }: PlannedFile): boolean {
  return targets[0].href.includes('?')
}

async function verifiedHere(
  planned: NamedFile,
  bytes: number,
  { folder, record, settings }: DownloadContext,
): Promise<readonly Verification[]> {
  const { file, base } = planned
  const owner = record.suffixes.baseOf(file.name)
  if (owner !== undefined && owner !== base) throw inTheWay(file, `exists already and is another file, which was planned as "${owner}"`)
  const verified = await verifyPresent((algorithm) => folder.digest(file.path, algorithm), bytes, promiseOf(planned.selected))
  const entry = record.known(file)
  const isTrusted = settings.trustServer && entry?.unverified !== undefined
  if (!verified && !isTrusted) throw inTheWay(file, 'exists already and does not match its document', entry?.unverified && TRUSTED)
  if (verified?.includes('checksum')) return verified
  const difference = entry && (await record.difference(entry, file.path))
  if (difference !== undefined) throw inTheWay(file, `exists already and differs from what was downloaded: ${difference}`)
  if (!verified) return ['manifest']
  const misfit = misfitOf(promisedBody(planned), await folder.head(file.path, FILE_HEAD), bytes <= FILE_HEAD)
  // A file of the manifest was compared when it arrived.
  if (misfit && misfit !== 'more' && !(misfit.kind === 'page' ? settings.acceptHtml : settings.trustServer || entry))
    throw inTheWay(file, `exists already and is ${misfit.words}: an earlier run may have saved a login page or an error`)
  return entry ? [...verified, 'manifest'] : verified
}

/** Asks the servers in order until one replies. */
async function verifiedThere(planned: PlannedFile, size: number, context: DownloadContext): Promise<readonly Verification[]> {
  const { file, selected: wanted } = planned
  const { limiter } = context.origins
  let first: AuthError | undefined
  for (const [index, target] of wanted.targets.entries()) {
    const { bare: url, origin } = targetAddress(target)
    await limiter.enter(origin, context.signal)
    try {
      const { retries } = context.settings
      const send = (headers: Readonly<Record<string, string>>, signal: AbortSignal) => context.send(target, headers, signal)
      const facts = await askServer({ ...context, send, url, target, promise: promisedBody(planned), retries })
      // The recorded validators are those of the first URL.
      const { etag, lastModified } = (index === 0 && context.record.known(file)) || {}
      const noted = { ...(etag !== undefined && { etag }), ...(lastModified !== undefined && { lastModified }) }
      const difference = await differenceFrom(facts, { digest: (algorithm) => context.folder.digest(file.path, algorithm), size, ...noted })
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

/**
 * Fetches the missing part with retries, until ten consecutive attempts have received no new byte (four if the host name cannot be resolved). A
 * file that changes on its server is restarted once.
 *
 * Errors: those of the last attempt; `RATE_LIMITED`, `RETRY_BUDGET`, `FILE_CHANGED`, `ABORTED`.
 */
async function fetchTarget(target: Target, state: FileState, context: DownloadContext): Promise<void> {
  const retries = new TargetRetries(target, state, context)
  for (;;) {
    const before = state.most
    try {
      await new Attempt(target, state, context).perform()
      retries.succeeded()
      if (state.size === undefined || state.content.missing(state.size).length === 0) return
    } catch (error) {
      await retries.wait(error, state.most - before)
    }
  }
}

class TargetRetries {
  readonly #target: Target
  readonly #state: FileState
  readonly #context: DownloadContext
  readonly #origin: string
  readonly #retries: Retries
  readonly #preparation: Preparation
  /** Consecutive attempts for which the host name was not resolved. */
  #unresolved = 0
  #hasRetried = false

  constructor(target: Target, state: FileState, context: DownloadContext) {
    this.#target = target
    this.#state = state
    this.#context = context
    this.#origin = targetAddress(target).origin
    const policy = { ...DOWNLOAD_RETRIES, retries: context.settings.retries }
    this.#retries = new Retries(policy, context.random, context.origins.budget(this.#origin))
    this.#preparation = new Preparation(context.settings.wait, context.clock, context.random)
  }

  succeeded(): void {
    if (!this.#hasRetried) this.#context.origins.budget(this.#origin).earn()
  }

  /** Waits before the next attempt. Errors: the one given, if there is none. */
  async wait(thrown: unknown, gained: number): Promise<void> {
    const [context, state] = [this.#context, this.#state]
    if (context.signal.aborted) throw abortedBy(context.signal)
    if (thrown instanceof SizeNotSelected || thrown instanceof FileExists) throw thrown
    const error = errorOf(thrown, this.#target)
    if (error.code === 'HTTP_202') return this.#untilPrepared(error)
    // A server that sends a byte now and then makes no progress: it would never end.
    const hasGained = gained > (error.code === 'TIMEOUT_BODY' ? leastIn(context.settings.stallTimeout) : 0)
    if (hasGained) this.#retries.count = 0
    this.#unresolved = error.code === 'NETWORK_DNS' ? this.#unresolved + 1 : 0
    if (error.code === 'FILE_CHANGED') {
      this.#retries.count++
      return this.#beginAnew(error)
    }
    // A retry does not open fewer files.
    if (error.code === 'FILE_ACCESS') throw error
    if (!error.retryable || this.#unresolved > DOWNLOAD_RETRIES.unresolved) throw finalError(error)
    const hint = retryAfterOf(error)
    const { status } = error
    const delay = this.#retries.next({ hint, status, free: hasGained })
    if (delay === 'retry-after') throw rateLimited(error, retryAfterProblem(hint ?? 0, DOWNLOAD_RETRIES.retryAfter.longest))
    if (delay === 'budget') throw budgetEmpty(error)
    if (typeof delay === 'string') throw finalError(error)
    this.#hasRetried = true
    if (status === 429 || status === 503 || hint !== undefined) context.origins.limiter.refused(this.#origin, hint ?? 0)
    context.tell({ kind: 'retry', file: state.file, error, delay, attempt: this.#retries.count })
    await sleep(delay, context.clock, context.signal)
  }

  /** Waits while the server prepares the file. Errors: `HTTP_202` after `wait` milliseconds in all. */
  async #untilPrepared(error: AuthError): Promise<void> {
    const { clock, signal, tell } = this.#context
    const delay = this.#preparation.next(error)
    tell({ kind: 'retry', file: this.#state.file, error, delay, attempt: this.#preparation.count })
    await sleep(delay, clock, signal)
  }

  /** Counts a change of the file. Errors: `FILE_CHANGED` for the second one. */
  async #beginAnew(error: AuthError): Promise<void> {
    // Ranges of a server that does not identify its versions are not requested again, so this happens once.
    if (error instanceof UnverifiedPart) this.#state.whole = true
    else if (this.#state.changes++ > 0) throw error
    await this.#state.content.reset()
    this.#context.tell({ kind: 'retry', file: this.#state.file, error, delay: 0, attempt: 1 })
  }
}

function errorOf(thrown: unknown, { href, scope }: Target): AuthError {
  return exchangeFailure(thrown, undefined, canParseUrl(href, scope.url) ? new URL(href, scope.url).href : '')
}

/** Returns the error of a file after its last attempt. */
function finalError(error: AuthError): AuthError {
  return error.code === 'HTTP_429' ? rateLimited(error, 'the server still answers 429 after the last retry') : error
}

function rateLimited({ url, status }: AuthError, why: string): NetworkError {
  return new NetworkError('RATE_LIMITED', `${url}: ${why}`, {
    retryable: true,
    ...(url !== undefined && { url }),
    ...(status !== undefined && { status }),
  })
}

function budgetEmpty(last: AuthError): NetworkError {
  const message = `too many requests to this server failed to retry any of them; the last error: ${last.message}`
  return new NetworkError('RETRY_BUDGET', message, { reasons: [last], retryable: true, ...(last.url !== undefined && { url: last.url }) })
}
