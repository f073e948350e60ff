/**
 * Downloads one file:
 *
 *     an existing file that agrees ──▶ kept
 *     request ◀── after a pause, at the next URL, or in the other content coding ───┐
 *        │ 202 (prepared), 429, 5xx, no connection, cut off, stalled, changed ─────▶│
 *        ▼ no byte is missing                                                       │
 *     verify ── another size or checksum ──────────────────────────────────────────▶┘
 *        ▼
 *     written
 *
 * An error without another attempt ends in `failed`, and a size that was not selected in `skipped`. A signed URL that has expired is signed
 * anew by a new download of the file: see `download-run.ts`.
 */

import { type AuthError, abortedBy, type ErrorCode, IntegrityError, isAuthError } from '../../errors.ts'
import { proposedName } from '../../http/headers.ts'
import type { HttpResponse } from '../../http/message.ts'
import { sleep } from '../../net/cancellation.ts'
import { retryAfterOf, retryHint, withRetryAfter } from '../../net/retry.ts'
import type { Target } from '../../stac/target.ts'
import { plainSuffix } from '../../text/file-name.ts'
import { answerFailure } from '../base/answer-failure.ts'
import { presentFile } from '../base/files.ts'
import { promiseOf } from './checksums.ts'
import type { Part } from './destination/destination.ts'
import type { DownloadFile, FailedEvent, KeptEvent, SkippedEvent, Verification, WrittenEvent } from './download.ts'
import type { DownloadContext } from './download-context.ts'
import { existingFor, hadQuery, keptFile, promisedBody, rememberedFile, warnUnrecorded, withSuffix } from './existing-file.ts'
import { FileCheck } from './file-check.ts'
import type { PlannedFile } from './file-plan.ts'
import type { ManifestEntry } from './manifest.ts'
import { Exchange, exchangeFailure, isRanged, leastIn, receiveRanges } from './receive-body.ts'
import {
  type Asked,
  codingProblem,
  type Delivery,
  deliveryOf,
  fileChanged,
  incomplete,
  invalid,
  isWantedAsSent,
  partVersionOf,
  rangeHeaders,
  requireSameVersion,
  UnverifiedPart,
  validatorsIn,
  validatorsOf,
} from './response.ts'
import { UrlRetries } from './retries.ts'
import { isWithin, originAndPath } from './selected-files.ts'

/** The last event of a file. */
export type FinalEvent = WrittenEvent | KeptEvent | SkippedEvent | FailedEvent

/** Downloads a file. Never rejects. */
export function downloadFile(planned: PlannedFile, context: DownloadContext): Promise<FinalEvent> {
  return new FileDownload(planned, context).run()
}

/**
 * After a request: nothing is missing, more is to be requested, or the response says that the file has the name of an existing one; or how the
 * file ends.
 */
type Outcome = 'complete' | 'partial' | 'named' | SkippedEvent

/** One of the URLs of a file. */
interface FileUrl {
  readonly target: Target
  readonly bare: string
  readonly origin: string
  readonly retries: UrlRetries
}

class FileDownload {
  readonly #planned: PlannedFile
  readonly #file: DownloadFile
  readonly #context: DownloadContext
  readonly #check: FileCheck
  /** The received bytes; undefined before the first request. */
  #opened: Part | undefined

  // The URL, of those of the asset and its alternates.
  #index = 0
  #url: FileUrl
  /** The error of the first URL. */
  #firstError: AuthError | undefined

  // The version of the file by its server.
  /** Size in bytes, once known. */
  #size: number | undefined
  #validators: Pick<ManifestEntry, 'etag' | 'lastModified'> = {}
  /** The extension that the server proposes; empty for none. */
  #suffix = ''
  /** How often it changed during the download. */
  #changes = 0
  /** True after a part that could not be combined with earlier bytes: only the whole file is requested. */
  #isWhole = false
  /** True if concurrent range requests brought no gain. */
  #isAlone = false

  // What was received.
  #received = 0
  /** The largest size of a resumable part so far, which is progress, and the one before the last request. */
  #most = 0
  #mostBefore = 0
  /** Whether a coded body is stored as sent, undefined until one arrived; and the error of the first of the two attempts. */
  #asSent: boolean | undefined
  #codingError: AuthError | undefined
  #verified: readonly Verification[] = []
  #hasStarted = false
  #reportedAt = Number.NEGATIVE_INFINITY

  constructor(planned: PlannedFile, context: DownloadContext) {
    this.#planned = planned
    this.#file = planned.file
    this.#context = context
    this.#check = new FileCheck(
      { file: planned.file, promise: promisedBody(planned), hash: promiseOf(planned.selected).hash, lacksSuffix: planned.lacksSuffix },
      { ...context.settings, warn: (code, message) => this.#warn(code, message) },
    )
    this.#url = this.#urlOf(planned.selected.targets[0])
  }

  async run(): Promise<FinalEvent> {
    try {
      const event = (await this.#kept()) ?? (await this.#fetched())
      // Of a file that is skipped, a part of an earlier run without that limit stays.
      if (event.kind !== 'written') await this.#opened?.close(event.kind === 'skipped')
      return event
    } catch (thrown) {
      const error = exchangeFailure(thrown, this.#context.signal, this.#file.url)
      const resumable = (await this.#opened?.close(!this.#check.isWrong && error.code !== 'FILE_CHANGED')) ?? 0
      return { kind: 'failed', file: this.#file, error, received: this.#received, resumable }
    }
  }

  /** Looks for the file; opens a part if there is none. */
  async #kept(): Promise<KeptEvent | undefined> {
    const { folder, settings, signal } = this.#context
    const { path } = this.#file
    const { hasPart } = await folder.prepare(path)
    const kept = await keptFile(rememberedFile(this.#planned, this.#context), this.#context)
    if (kept) return kept
    if (promiseOf(this.#planned.selected).unsupported)
      this.#warn('CHECKSUM_UNSUPPORTED', 'its checksum is malformed or of an unsupported algorithm')
    const onWait = (longest: number) =>
      this.#warn(
        'PATH_BUSY',
        `a process on another host or in another container may be downloading it: waiting up to ${longest / 1000} s for its heartbeat`,
      )
    this.#opened = await folder.open(path, { taken: hasPart, resume: settings.resume, wait: { signal, onWait } })
    this.#most = this.#part.total
    return undefined
  }

  async #fetched(): Promise<FinalEvent> {
    for (;;) {
      const end = await this.#receivedAll()
      if (end) return end
      if (await this.#isVerified()) return this.#placed()
    }
  }

  /** Requests what is missing until nothing is. Returns the event of a file that ends otherwise. */
  async #receivedAll(): Promise<SkippedEvent | KeptEvent | undefined> {
    for (;;) {
      const outcome = await this.#request().catch((error) => this.#afterFailure(error))
      if (outcome === 'complete') return undefined
      if (outcome === 'named') {
        const kept = await keptFile(withSuffix(this.#planned, this.#suffix, this.#context), this.#context, this.#size)
        if (kept) return kept
      } else if (outcome !== 'partial') return outcome
    }
  }

  /** Requests the missing part, compares the headers of the response with the document and with earlier responses, and receives the body. */
  async #request(): Promise<Outcome> {
    const part = this.#part
    const { limiter, signal, send } = this.#context
    const { target, bare, origin } = this.#url
    this.#mostBefore = this.#most
    if (part.version?.url !== bare && (part.version || part.length > 0)) await part.reset()
    const asked = this.#missing()
    this.#suffix = part.version?.suffix ?? ''
    if (asked.offset > 0 && asked.offset === asked.size) {
      this.#validators = validatorsOf(asked)
      return this.#allReceived(asked.size)
    }
    await limiter.enter(origin, signal)
    const exchange = new Exchange(this.#context, this.#file.url)
    let isRead = false
    try {
      const response = await send(target, rangeHeaders(asked), exchange.signal)
      if (response.status === 416 && asked.offset > 0) return await this.#nothingBehind(response, asked)
      if (response.status !== 200 && response.status !== 206) throw await this.#refused(response)
      const delivery = deliveryOf(response, asked, this.#isAsSent(response))
      const end = await this.#compareHeaders(response, delivery, asked)
      if (end) return end
      await this.#receive(exchange, response, delivery)
      isRead = true
      return this.#size === undefined || part.missing(this.#size).length === 0 ? 'complete' : 'partial'
    } finally {
      // An unread body would keep its connection open.
      if (!isRead) exchange.cancel()
      exchange.end()
      limiter.leave(origin)
      await part.flush()
    }
  }

  async #receive(exchange: Exchange, response: HttpResponse, delivery: Delivery): Promise<void> {
    const { limiter, settings } = this.#context
    const [part, size, { bare, origin, retries }] = [this.#part, this.#size, this.#url]
    if (delivery.offset === 0)
      exchange.inspect((head, isAll) => this.#check.isPromised(head, isAll, { asked: bare, response, delivery, suffix: this.#suffix }))
    if (size !== undefined && part.version && isRanged(part, delivery, size, settings))
      await this.#receiveRanges(exchange, response, delivery, size)
    else await this.#receiveInOrder(exchange, response, delivery)
    limiter.succeeded(origin)
    retries.succeeded()
  }

  /** Compares the received bytes with the document and with the server. Returns false if the file is requested in the other content coding. */
  async #isVerified(): Promise<boolean> {
    // Alternates are compared with what the first server says.
    if (this.#index > 0) this.#validators = {}
    try {
      this.#verified = await this.#check.verify(this.#part, this.#size)
      return true
    } catch (error) {
      if (this.#context.signal.aborted) throw abortedBy(this.#context.signal)
      if (!isAuthError(error) || isOurs(error)) throw error
      await this.#otherCoding(error)
      return false
    }
  }

  /** Names the file and records it. */
  async #placed(): Promise<WrittenEvent> {
    const part = this.#part
    const { record } = this.#context
    const sha256 = await part.digest('sha256')
    const { file: named, base } = withSuffix(this.#planned, this.#suffix, this.#context)
    const suffix = base === undefined ? {} : { suffix: this.#suffix }
    const unverified = [...this.#check.unverified]
    const differs = unverified.length > 0 && { unverified }
    const facts = { sha256, ...this.#validators, hadQuery: hadQuery(this.#planned), ...suffix, ...differs }
    await record.completing?.(named, part.length, facts)
    await part.complete(existingFor(this.#planned, this.#context) === 'replace', named.path)
    warnUnrecorded(named, await record.written(named, part.length, facts), this.#context)
    return { kind: 'written', file: named, bytes: part.length, received: this.#received, verified: this.#verified, ...differs }
  }

  /** Prepares the next attempt after a failed request. Errors: the one that ends the download. */
  async #afterFailure(error: unknown): Promise<'partial'> {
    const { signal } = this.#context
    if (signal.aborted) throw abortedBy(signal)
    try {
      await this.#retry(exchangeFailure(error, undefined, this.#url.bare))
    } catch (last) {
      if (signal.aborted) throw abortedBy(signal)
      if (!isAuthError(last) || isOurs(last)) throw last
      await this.#nextUrl(last)
    }
    return 'partial'
  }

  /** Continues with the next URL. Errors: that of the first one. */
  async #nextUrl(error: AuthError): Promise<void> {
    this.#firstError ??= error
    const target = this.#planned.selected.targets[this.#index + 1]
    if (!target) return this.#otherCoding(this.#firstError)
    this.#warn(error.code, `${error.message}; the next URL is tried`)
    this.#index++
    this.#url = this.#urlOf(target)
  }

  /**
   * Restarts once: the size or checksum in the document may describe the body with or without its content coding. Errors: the one given, if
   * that is not the reason; that of the first attempt.
   */
  async #otherCoding(error: AuthError): Promise<void> {
    if (error.code !== 'FILE_INTEGRITY') throw error
    if (this.#codingError) throw this.#codingError
    if (error === this.#check.doubt?.error || this.#asSent === undefined) throw error
    this.#codingError = error
    this.#asSent = !this.#asSent
    this.#size = undefined
    this.#check.restart()
    this.#index = 0
    this.#url = this.#urlOf(this.#planned.selected.targets[0])
    this.#firstError = undefined
    await this.#restart(error)
  }

  /** Waits before the next attempt at the same URL; a file that has changed is restarted once. Errors: the one given, if there is none. */
  async #retry(error: AuthError): Promise<void> {
    const { limiter, settings, clock, signal, tell } = this.#context
    const { retries, origin } = this.#url
    if (error.code === 'FILE_CHANGED') {
      // Ranges of a server that does not identify its versions are not requested again, so this happens once.
      if (error instanceof UnverifiedPart) this.#isWhole = true
      else if (this.#changes++ > 0) throw error
      return this.#restart(error)
    }
    // A server that sends a byte now and then makes no progress: it would never end.
    const gained = this.#most - this.#mostBefore
    const { delay, attempt } = retries.next(error, gained > (error.code === 'TIMEOUT_BODY' ? leastIn(settings.stallTimeout) : 0))
    const { status } = error
    const hint = retryAfterOf(error)
    if (error.code !== 'HTTP_202' && (status === 429 || status === 503 || hint !== undefined)) limiter.refused(origin, hint ?? 0)
    tell({ kind: 'retry', file: this.#file, error, delay, attempt })
    await sleep(delay, clock, signal)
  }

  async #restart(error: AuthError): Promise<void> {
    await this.#part.reset()
    this.#context.tell({ kind: 'retry', file: this.#file, error, delay: 0, attempt: 1 })
  }

  get #part(): Part {
    if (!this.#opened) throw new TypeError('the part is not open')
    return this.#opened
  }

  #urlOf(target: Target): FileUrl {
    const { budgets, settings, clock, random } = this.#context
    const { bare, origin } = originAndPath(target)
    return { target, bare, origin, retries: new UrlRetries(settings, budgets.of(origin), clock, random) }
  }

  /** Returns the part to request: what is missing from the beginning on. */
  #missing(): Asked {
    const part = this.#part
    const { version, length, total } = part
    if (!version || total === 0) return { offset: 0 }
    const { validator, modified, size, stored } = version
    const known = { validator, ...(modified !== undefined && { modified }), ...(stored !== undefined && { stored }) }
    if (stored !== undefined) this.#asSent = true
    if (size === undefined) return { offset: length, ...known }
    const { ranges, largeFrom, largestRange } = this.#context.settings
    // If other requests fetch the ranges behind it, a longer response would be wasted: bytes in flight are lost when a request is aborted.
    const isShared = ranges > 1 && !this.#isAlone && (total > length || size - length >= largeFrom)
    const end = Math.min(part.missing(size)[0]?.[1] ?? size, isShared ? length + largestRange : size)
    return { offset: length, ...known, size, ...(end < size && { end }) }
  }

  /** Ends with what an earlier run has received. */
  #allReceived(size: number): Outcome {
    if (!isWithin(size, this.#planned.selected.sizeLimits ?? {})) return this.#skipped(size)
    this.#start(size)
    return 'complete'
  }

  #skipped(size: number): SkippedEvent {
    return { kind: 'skipped', file: this.#file, size, received: this.#received }
  }

  /** Handles 416: the file ends here, or is another version now (RFC 9110 §15.5.17). */
  async #nothingBehind(response: HttpResponse, asked: Asked): Promise<Outcome> {
    const { offset, size } = asked
    await response.discard()
    const total = /^bytes \*\/(\d{1,16})$/i.exec(response.headers.get('content-range')?.trim() ?? '')?.[1]
    if (total === undefined) throw invalid(response.url, `has no bytes after ${offset} and does not state the length of the file`)
    if (Number(total) !== offset || (size !== undefined && size !== offset)) throw fileChanged(response.url)
    requireSameVersion(response.headers, asked, response.url)
    this.#size = offset
    return this.#allReceived(offset)
  }

  async #refused(response: HttpResponse): Promise<AuthError> {
    const { status, headers } = response
    const rest = status === 202 || status === 429 || status >= 500 ? retryHint(headers, this.#context.clock.now()) : undefined
    const error = await answerFailure(response, this.#url.target)
    await response.discard()
    return withRetryAfter(error, rest)
  }

  /** The size in the document decides, and earlier attempts. */
  #isAsSent({ status, headers }: HttpResponse): boolean {
    if (status === 206 || headers.get('content-encoding') === null) return false
    const { name, url, size } = this.#file
    this.#asSent ??= isWantedAsSent(headers, [name, url], size)
    return this.#asSent
  }

  /** Compares the headers of a response with the document, and reserves space for its body. Returns an outcome without a body. */
  async #compareHeaders(response: HttpResponse, delivery: Delivery, { offset, validator }: Asked): Promise<Outcome | undefined> {
    const { headers, status, url } = response
    const { settings } = this.#context
    const [file, part, check] = [this.#file, this.#part, this.#check]
    // Received bytes are discarded only for a response that may be the file.
    if (delivery.offset === 0) check.checkType(response, delivery, this.#url.bare)
    if (delivery.size !== undefined) {
      check.requireSize(delivery.size)
      if (!isWithin(delivery.size, this.#planned.selected.sizeLimits ?? {})) return this.#skipped(delivery.size)
    }
    if (!delivery.framed && file.size === undefined && check.hash === undefined)
      throw new IntegrityError(
        'FILE_INCOMPLETE',
        `${file.url}: cannot verify that the response is complete: it has no length and the file has no checksum`,
        { url },
      )
    // A checksum decides whether these are the right bytes.
    if (delivery.coding !== undefined && check.hash?.by !== 'checksum')
      check.warnOrThrow('CONTENT_CODING_UNKNOWN', codingProblem(delivery.coding))
    this.#suffix = plainSuffix(proposedName(headers.get('content-disposition')) ?? '') || (delivery.offset > 0 ? this.#suffix : '')
    this.#size = delivery.size
    if (this.#isNamePresent()) return 'named'
    if (status === 200 && validator !== undefined) {
      // Another version, or a server without range support.
      if (delivery.validator !== validator && this.#changes++ > 0) throw fileChanged(url)
      await part.reset()
    }
    this.#validators = { ...(delivery.offset > 0 && this.#validators), ...validatorsIn(headers) }
    check.useDigest(response, delivery, part)
    // A server that is trusted may have another size than the document.
    this.#size ??= settings.trustServer && delivery.framed ? undefined : file.size
    const isSame = part.version !== undefined && part.version.validator === delivery.validator
    if (!isSame || part.total === 0)
      await part.begin(this.#isWhole ? undefined : partVersionOf(delivery, this.#url.target, this.#suffix), this.#size)
    if (check.hash) part.hash(check.hash.known.algorithm)
    part.hash('sha256')
    this.#start(offset)
    return undefined
  }

  async #receiveInOrder(exchange: Exchange, response: HttpResponse, delivery: Delivery): Promise<void> {
    const [part, size] = [this.#part, this.#size ?? Number.POSITIVE_INFINITY]
    for await (const chunk of exchange.receive(response, delivery)) {
      const room = part.write(part.length, chunk)
      this.#count(chunk.byteLength)
      if (room) await exchange.waiting(room)
      // A server that sends more bytes than the file has may never stop.
      if (part.length > size) break
    }
    if (delivery.framed || part.length > (this.#size ?? 0)) this.#check.requireSize(part.length, true)
    if (this.#size !== undefined && part.length !== size) throw incomplete(response.url, `${part.length} of ${size} bytes were received`)
  }

  async #receiveRanges(exchange: Exchange, response: HttpResponse, delivery: Delivery, size: number): Promise<void> {
    const { validator, modified } = delivery
    const { target, origin } = this.#url
    const isShared = await receiveRanges(
      { exchange, response, delivery },
      {
        part: this.#part,
        context: this.#context,
        target,
        url: this.#file.url,
        origin,
        version: { size, ...(validator !== undefined && { validator }), ...(modified !== undefined && { modified }) },
        requests: this.#isAlone ? 0 : this.#context.settings.ranges,
        came: (bytes) => this.#count(bytes),
      },
    )
    // If no other request got its range, the next attempt reports the reason.
    if (!isShared) this.#isAlone = true
  }

  #warn(code: ErrorCode, message: string): void {
    this.#context.tell({ kind: 'warning', file: this.#file, code, message })
  }

  #start(resumed: number): void {
    if (this.#hasStarted) return
    this.#hasStarted = true
    this.#most = Math.max(this.#most, resumed)
    this.#context.tell({ kind: 'started', file: this.#file, resumed, ...(this.#size !== undefined && { size: this.#size }) })
  }

  /** Counts received bytes, and reports progress now and then. */
  #count(bytes: number): void {
    const { total, version } = this.#part
    this.#received += bytes
    if (version && total > this.#most) this.#most = total
    const now = this.#context.clock.now()
    if (now - this.#reportedAt < this.#context.settings.progressInterval) return
    this.#reportedAt = now
    this.#context.tell({ kind: 'progress', file: this.#file, bytes: total, ...(this.#size !== undefined && { size: this.#size }) })
  }

  /** True if the name with the suffix is that of an existing file. Errors: `PATH_UNSAFE`, `FILE_ACCESS`. */
  #isNamePresent(): boolean {
    const { file, base } = withSuffix(this.#planned, this.#suffix, this.#context)
    return base !== undefined && existingFor(this.#planned, this.#context) !== 'replace' && presentFile(file.path) !== undefined
  }
}

/** Errors that another URL would not fix. */
function isOurs({ code }: AuthError): boolean {
  return /^(?:DISK_FULL|FILE_ACCESS|PATH_\w+|CONFIG_INVALID|CREDENTIAL_VALUE_INVALID|ABORTED)$/.test(code)
}
