/** One request for the missing part of a file, and its response. */
import { type AuthError, type ErrorCode, IntegrityError } from '../../errors.ts'
import { proposedName } from '../../http/headers.ts'
import type { HttpResponse } from '../../http/message.ts'
import { retryHint, withRetryAfter } from '../../net/retry.ts'
import type { Target } from '../../stac/target.ts'
import { plainSuffix } from '../../text/file-name.ts'
import { answerFailure } from '../base/answer-failure.ts'
import { decodedPromise, type Misfit, misfitError, misfitOf, type PromisedFile, pageByType, pageWarning } from '../base/promised-file.ts'
import {
  type Asked,
  codingProblem,
  type Delivery,
  deliveryOf,
  Exchange,
  fileChanged,
  incomplete,
  invalid,
  isWantedAsSent,
  rangeHeaders,
  requireSameVersion,
} from './answer.ts'
import type { Content } from './destination/destination.ts'
import { targetAddress } from './destination/target-folder.ts'
import type { DownloadFile } from './download.ts'
import type { DownloadContext } from './download-context.ts'
import type { ManifestEntry, Unverified } from './manifest.ts'
import { isWithin, type SizeLimits } from './selected-files.ts'
import { endOfFirst, isShareable, receiveShared, type Shared } from './shared-body.ts'
import { checkSize, type KnownHash, serverDigest } from './verification.ts'

/** A file that is being fetched. */
export interface FileState {
  readonly file: DownloadFile
  /** What the document and the file name promise. */
  readonly promise: PromisedFile
  readonly content: Content
  /** Size limits, for a file without a size in its document. */
  readonly sizeLimits: SizeLimits
  /** The checksum of the document, else that of the server; undefined until one is known. */
  hash: { readonly known: KnownHash; readonly by: 'checksum' | 'digest' } | undefined
  /** Validators for later comparisons. */
  validators: Pick<ManifestEntry, 'etag' | 'lastModified'>
  /** The extension that the server proposes; empty for none. */
  suffix: string
  /** True if the name has no extension, and takes that of the server. */
  readonly lacksSuffix: boolean
  /** Size of the file in bytes, once known. */
  size: number | undefined
  /** Whether a coded body is stored as sent; undefined until one arrived. */
  asSent: boolean | undefined
  /** Bytes received over the network. */
  received: number
  /** The largest size of a resumable part so far: more is progress. */
  most: number
  /** True if the received bytes failed verification: they are not resumable. */
  isWrong: boolean
  /** How often the file changed during the download. */
  changes: number
  /** Why the body is not the promised file, unless a checksum matches. */
  doubt: { readonly misfit: Misfit; readonly error: AuthError } | undefined
  /** What differs from the document, where the server is trusted more. */
  readonly unverified: Set<Unverified>
  /** True after a part that could not be combined with earlier bytes: only the whole file is requested. */
  whole: boolean
  /** True if concurrent range requests brought no gain. */
  alone: boolean
  hasStarted: boolean
  reportedAt: number
  /** Called with each proposed suffix and the size of the file. Errors: those that end the transfer. */
  readonly onSuffix: (suffix: string, size: number | undefined) => void
}

/** Thrown for a file whose size is outside the limits: it is left out, which is not a failure. */
export class SizeNotSelected extends Error {
  readonly size: number

  constructor(size: number) {
    super(`a file of ${size} bytes is outside of the size limits`)
    this.size = size
  }
}

/** Thrown for a file that exists already, which is known once the server has proposed its name. */
export class FileExists extends Error {
  /** Size in bytes by the server. */
  readonly size: number | undefined

  constructor(size: number | undefined) {
    super('the file exists already')
    this.size = size
  }
}

export class Attempt {
  readonly #target: Target
  readonly #state: FileState
  readonly #context: DownloadContext

  constructor(target: Target, state: FileState, context: DownloadContext) {
    this.#target = target
    this.#state = state
    this.#context = context
  }

  /**
   * Fetches the missing part.
   *
   * Errors: `HTTP_<status>` and `AUTH_REJECTED` with their `Retry-After`; `FILE_CHANGED`, `RANGE_INVALID`, `FILE_INCOMPLETE`, `FILE_INTEGRITY`,
   * those of the engine, the transport and of writing; {@link SizeNotSelected}, {@link FileExists}.
   */
  async perform(): Promise<void> {
    const { content } = this.#state
    if (content.version && content.version.url !== targetAddress(this.#target).bare) await content.reset()
    if (!content.version && content.length > 0) await content.reset()
    const asked = this.#asked()
    this.#state.suffix = content.version?.suffix ?? ''
    if (asked.offset > 0 && asked.offset === asked.size) {
      this.#requireSelected(asked.size)
      this.#state.validators = validatorsOf(asked)
      return this.#started(asked.offset)
    }
    const origin = targetAddress(this.#target).origin
    const { limiter } = this.#context.origins
    await limiter.enter(origin, this.#context.signal)
    const exchange = new Exchange(this.#context, this.#state.file.url)
    try {
      const response = await this.#context.send(this.#target, rangeHeaders(asked), exchange.signal)
      await this.#take(response, asked, exchange)
      limiter.succeeded(origin)
    } catch (error) {
      // An unread body would keep its connection open.
      exchange.cancel()
      throw error
    } finally {
      exchange.end()
      limiter.leave(origin)
      await content.flush()
    }
  }

  #asked(): Asked {
    const { content } = this.#state
    const { version, length, total } = content
    if (!version || total === 0) return { offset: 0 }
    const { validator, modified, size, stored } = version
    const known = { validator, ...(modified !== undefined && { modified }), ...(stored !== undefined && { stored }) }
    if (stored !== undefined) this.#state.asSent = true
    if (size === undefined) return { offset: length, ...known }
    const end = endOfFirst(size, { state: this.#state, context: this.#context })
    return { offset: length, ...known, size, ...(end < size && { end }) }
  }

  async #take(response: HttpResponse, asked: Asked, exchange: Exchange): Promise<void> {
    if (response.status === 416 && asked.offset > 0) return this.#beyond(response, asked)
    if (response.status !== 200 && response.status !== 206) throw await this.#refused(response)
    const delivery = deliveryOf(response, asked, this.#isAsSent(response))
    await this.#prepare(response, delivery, asked)
    await this.#receive(response, delivery, exchange)
  }

  /** The size in the document decides, and earlier attempts. */
  #isAsSent({ status, headers }: HttpResponse): boolean {
    const state = this.#state
    const { file } = state
    if (status === 206 || headers.get('content-encoding') === null) return false
    const { size } = file
    state.asSent ??= isWantedAsSent(headers, { names: [file.name, file.url], ...(size !== undefined && { size }) })
    return state.asSent
  }

  /** Checks status and headers of a response, and reserves space for its body. */
  async #prepare(response: HttpResponse, delivery: Delivery, { offset, validator }: Asked): Promise<void> {
    const state = this.#state
    const { headers, status, url } = response
    // Received bytes are discarded only for a response that may be the file.
    if (delivery.offset === 0) this.#checkType(response, delivery)
    if (delivery.size !== undefined) {
      requireSize(state, this.#context, delivery.size)
      this.#requireSelected(delivery.size)
    }
    if (!delivery.framed && state.file.size === undefined && state.hash === undefined)
      throw new IntegrityError(
        'FILE_INCOMPLETE',
        `${state.file.url}: cannot verify that the response is complete: it has no length and the file has no checksum`,
        { url },
      )
    // A checksum decides whether these are the right bytes.
    if (delivery.coding !== undefined && state.hash?.by !== 'checksum')
      this.#object('CONTENT_CODING_UNKNOWN', codingProblem(delivery.coding))
    state.suffix = plainSuffix(proposedName(headers.get('content-disposition')) ?? '') || (delivery.offset > 0 ? state.suffix : '')
    state.onSuffix(state.suffix, delivery.size)
    if (status === 200 && validator !== undefined) await this.#anew(delivery, validator, url)
    state.validators = { ...(delivery.offset > 0 && state.validators), ...validatorsIn(headers) }
    const known = serverDigest(headers, status, delivery.asSent)
    if (known && state.hash?.by !== 'checksum' && state.content.canHash(known.algorithm)) state.hash = { known, by: 'digest' }
    const isSizeDoubtful = this.#context.settings.trustServer && delivery.framed
    state.size = delivery.size ?? (isSizeDoubtful ? undefined : state.file.size)
    const { content } = state
    const isSame = content.version !== undefined && content.version.validator === delivery.validator
    if (!isSame || content.total === 0) await content.begin(this.#version(delivery), state.size)
    if (state.hash) content.expect(state.hash.known.algorithm)
    content.expect('sha256')
    this.#started(offset)
  }

  #version({ validator, modified, size, divisible, stored }: Delivery) {
    if (validator === undefined || !divisible || this.#state.whole) return undefined
    // A date identifies versions of one resource, and a query may select another resource.
    const isDated = modified !== undefined && !this.#target.href.includes('?')
    if (validator === modified && !isDated) return undefined
    const url = targetAddress(this.#target).bare
    return {
      url,
      validator,
      ...(isDated && { modified }),
      ...(size !== undefined && { size }),
      ...(stored !== undefined && { stored }),
      ...(this.#state.suffix !== '' && { suffix: this.#state.suffix }),
    }
  }

  /** Handles a whole file in response to a range request: another version, or a server without range support. */
  async #anew({ validator }: Delivery, asked: string, url: string): Promise<void> {
    if (validator !== asked && this.#state.changes++ > 0) throw fileChanged(url)
    await this.#state.content.reset()
  }

  async #receive(response: HttpResponse, delivery: Delivery, exchange: Exchange): Promise<void> {
    const state = this.#state
    const { content } = state
    if (delivery.offset === 0) exchange.inspect((head, isAll) => this.#lookAt(head, isAll, response, delivery))
    const shared = this.#shared(delivery)
    if (shared && isShareable(delivery, state.size, shared)) return receiveShared(response, delivery, exchange, shared)
    for await (const chunk of exchange.receive(response, delivery)) {
      const room = content.add(chunk)
      if (room) await exchange.waiting(room)
      this.#came(chunk.byteLength)
      // A server that sends more bytes than the file has may never stop.
      if (content.length > (state.size ?? Number.POSITIVE_INFINITY)) break
    }
    if (delivery.framed || content.length > (state.size ?? 0)) checkBytes(state, () => requireSize(state, this.#context, content.length))
    if (state.size !== undefined && content.length !== state.size)
      throw incomplete(response.url, `${content.length} of ${state.size} bytes were received`)
  }

  #shared({ validator, modified }: Delivery): Shared | undefined {
    const [state, context, target] = [this.#state, this.#context, this.#target]
    if (state.size === undefined || validator === undefined) return undefined
    return {
      state,
      context,
      size: state.size,
      validator,
      ...(modified !== undefined && { modified }),
      origin: targetAddress(target).origin,
      send: (headers, signal) => context.send(target, headers, signal),
      came: (bytes) => this.#came(bytes),
    }
  }

  /** Handles 416: the file ends here, or is another version now (RFC 9110 §15.5.17). */
  async #beyond(response: HttpResponse, asked: Asked): Promise<void> {
    const { offset, size } = asked
    await response.discard()
    const total = /^bytes \*\/(\d{1,16})$/i.exec(response.headers.get('content-range')?.trim() ?? '')?.[1]
    if (total === undefined) throw invalid(response.url, `has no bytes after ${offset} and does not state the length of the file`)
    if (Number(total) !== offset || (size !== undefined && size !== offset)) throw fileChanged(response.url)
    requireSameVersion(response.headers, asked, response.url)
    this.#requireSelected(offset)
    this.#state.size = offset
    this.#started(offset)
  }

  async #refused(response: HttpResponse): Promise<AuthError> {
    const { status, headers } = response
    const rest = status === 202 || status === 429 || status >= 500 ? retryHint(headers, this.#context.clock.now()) : undefined
    const error = await answerFailure(response, this.#target)
    await response.discard()
    return withRetryAfter(error, rest)
  }

  #requireSelected(size: number): void {
    if (!isWithin(size, this.#state.sizeLimits)) throw new SizeNotSelected(size)
  }

  /** Checks the media type. Errors: `LOGIN_PAGE`, `FILE_INTEGRITY`. */
  #checkType(response: HttpResponse, { size }: Delivery): void {
    const { promise, hash, file } = this.#state
    const { acceptHtml } = this.#context.settings
    const body = this.#answered(response)
    const misfit = acceptHtml ? undefined : pageByType(promise, body.contentType)
    this.#state.doubt = misfit && { misfit, error: misfitError(misfit, promise, body) }
    // A checksum decides whether these are the right bytes.
    const mayBeIt = hash?.by === 'checksum' && (size === undefined || (file.size ?? size) === size)
    if (this.#state.doubt && !mayBeIt) throw this.#state.doubt.error
    const warning = misfit ? undefined : pageWarning(promise, body)
    if (warning === undefined) return
    if (acceptHtml) this.#tellWarning('CONTENT_TYPE_UNEXPECTED', warning)
    else this.#object('CONTENT_TYPE_UNEXPECTED', warning)
  }

  /** Compares the first bytes with the promise. Returns false if it needs more. Errors: `LOGIN_PAGE`, `FILE_INTEGRITY`. */
  #lookAt(head: Uint8Array, isAll: boolean, response: HttpResponse, { stored }: Delivery): boolean {
    // Coded bytes show nothing of the file.
    if (stored !== undefined) return true
    const state = this.#state
    const isCoded = response.headers.get('content-encoding') !== null
    const named = state.lacksSuffix ? { ...state.promise, names: [...state.promise.names, `x${state.suffix}`] } : state.promise
    const promise = isCoded ? decodedPromise(named) : named
    const body = this.#answered(response)
    const misfit = misfitOf(promise, head, isAll, body.contentType, response.sent?.())
    if (misfit === 'more') return false
    if (!misfit || (misfit.kind === 'page' && this.#context.settings.acceptHtml)) return true
    const doubt = { misfit, error: misfitError(misfit, promise, body) }
    // A checksum decides whether these are the right bytes.
    if (state.hash?.by === 'checksum') state.doubt ??= doubt
    else checkBytes(state, () => acceptMisfit(doubt, state, this.#context))
    return true
  }

  #answered({ url, headers }: HttpResponse) {
    const asked = targetAddress(this.#target).bare
    return { asked, answered: url, contentType: headers.get('content-type'), pointer: this.#state.file.pointer }
  }

  /** Handles content that may not be the intended file. */
  #object(code: ErrorCode, message: string): void {
    const { file } = this.#state
    if (this.#context.settings.strict) throw new IntegrityError(code, `"${file.name}": ${message}`, { url: file.url })
    this.#tellWarning(code, message)
  }

  #tellWarning(code: ErrorCode, message: string): void {
    this.#context.tell({ kind: 'warning', file: this.#state.file, code, message })
  }

  #started(resumed: number): void {
    const state = this.#state
    if (state.hasStarted) return
    state.hasStarted = true
    state.most = Math.max(state.most, resumed)
    this.#context.tell({ kind: 'started', file: state.file, resumed, ...(state.size !== undefined && { size: state.size }) })
  }

  #came(bytes: number): void {
    const state = this.#state
    state.received += bytes
    const { total, version } = state.content
    if (version && total > state.most) state.most = total
    const now = this.#context.clock.now()
    if (now - state.reportedAt < this.#context.settings.progressInterval) return
    state.reportedAt = now
    const { file, size, content } = state
    this.#context.tell({ kind: 'progress', file, bytes: content.total, ...(size !== undefined && { size }) })
  }
}

function validatorsIn(headers: HttpResponse['headers']): Pick<ManifestEntry, 'etag' | 'lastModified'> {
  const [etag, lastModified] = [headers.get('etag')?.trim(), headers.get('last-modified')?.trim()]
  return { ...(etag && { etag }), ...(lastModified && { lastModified }) }
}

/** Returns the validators of a part that is complete: no response states them again. */
function validatorsOf({ validator, modified }: Pick<Asked, 'validator' | 'modified'>): Pick<ManifestEntry, 'etag' | 'lastModified'> {
  return {
    ...(validator !== undefined && validator !== modified && { etag: validator }),
    ...(modified !== undefined && { lastModified: modified }),
  }
}

/** Keeps a file that is not the promised one, if the server is trusted more than the document. Errors: that of a file that is refused. */
export function acceptMisfit({ misfit, error }: NonNullable<FileState['doubt']>, state: FileState, context: DownloadContext): void {
  if (misfit.kind === 'page' || !context.settings.trustServer) throw error
  accept('type', `it is ${misfit.words}`, state, context)
}

/** Compares a size with that in the document. Errors: `FILE_INTEGRITY`, unless the server is trusted more. */
export function requireSize(state: FileState, context: DownloadContext, actual: number): void {
  const { size } = state.file
  if (!context.settings.trustServer || size === actual) checkSize(state.file, actual)
  else if (size !== undefined) accept('size', `it has ${actual} bytes, its document states ${size}`, state, context)
}

/** Records what a file differs in, with one warning. */
export function accept(what: Unverified, words: string, { file, unverified }: FileState, { tell }: DownloadContext): void {
  if (unverified.has(what)) return
  unverified.add(what)
  const code = what === 'type' ? 'CONTENT_TYPE_UNEXPECTED' : 'FILE_INTEGRITY'
  tell({ kind: 'warning', file, code, message: `${words}; it is kept because the server is trusted` })
}

/** Runs a check of the received content. Errors: those of the check; the content is discarded then. */
export function checkBytes(state: FileState, check: () => void): void {
  state.isWrong = true
  check()
  state.isWrong = false
}
