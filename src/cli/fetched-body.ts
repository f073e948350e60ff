/** The body of `fetch`, verified against the document and the response headers. */
import { createHash } from 'node:crypto'
import type { Warning } from '../auth/strategy.ts'
import { IntegrityError } from '../errors.ts'
import type { HttpResponse } from '../http/message.ts'
import { bareAddress } from '../http/url.ts'
import {
  type AnsweredBody,
  checkDigest,
  checkSize,
  codingProblem,
  type Delivery,
  decodedPromise,
  deliveryOf,
  emptyByStatus,
  inspected,
  isWantedAsSent,
  type Misfit,
  misfitError,
  misfitOf,
  type Promised,
  type PromisedFile,
  pageByType,
  pageWarning,
  promiseOf,
  selectFiles,
} from '../node/download/index.ts'
import type { Target } from '../stac/target.ts'
import { failedBody, incomplete } from './read-document.ts'

/** What is accepted as the body. */
export interface BodyRule {
  /** The requested URL. */
  readonly asked: string
  readonly promise: PromisedFile
  /** Accept an HTML page whatever is expected. */
  readonly acceptHtml: boolean
  /** Accept another size, checksum and format than the document states. */
  readonly trustServer: boolean
  /** Called for what differs, with `trustServer`. */
  readonly warn: (warning: Warning) => void
}

export interface BodyOptions {
  /** Path of the output file. */
  readonly output?: string
  /** Keep the content coding of the body; default: as the size in the document, else the file names imply. */
  readonly asSent?: boolean
}

export class FetchedBody {
  readonly status: number
  /** Bytes received so far. */
  bytes = 0
  readonly #response: HttpResponse
  readonly #target: Target | undefined
  readonly #delivery: Delivery
  readonly #promised: Promised
  readonly #rule: BodyRule
  /** Why the body is not the promised file, unless its checksum matches. */
  #doubt: Misfit | undefined

  private constructor(response: HttpResponse, target: Target | undefined, rule: BodyRule, { output = '', asSent }: BodyOptions) {
    const [wanted] = target ? selectFiles(target, {}) : []
    this.status = response.status
    this.#response = response
    this.#target = target
    this.#rule = rule
    this.#promised = wanted ? promiseOf(wanted) : {}
    const { size } = this.#promised
    const names = [output, new URL(response.url).pathname]
    const isAsSent = asSent ?? isWantedAsSent(response.headers, names, size)
    this.#delivery = deliveryOf(response, { offset: 0 }, isAsSent)
  }

  /** The length of the body; undefined if unknown. */
  get length(): number | undefined {
    return this.#delivery.length ?? this.#promised.size
  }

  /** Options for a second attempt with the other choice of content coding; undefined if the body has none. */
  get otherCoding(): Pick<BodyOptions, 'asSent'> | undefined {
    const { coding, asSent } = this.#delivery
    const isCoded = !/^(?:identity)?$/i.test(this.#response.headers.get('content-encoding')?.trim() ?? '')
    return isCoded && coding === undefined ? { asSent: !asSent } : undefined
  }

  /**
   * Checks the headers of a response. Errors: `RANGE_INVALID` for an unrequested partial response; `LOGIN_PAGE` or `FILE_INTEGRITY`
   * for what is not the promised file, unless it is accepted.
   */
  static async of(response: HttpResponse, target: Target | undefined, rule: BodyRule, options: BodyOptions = {}): Promise<FetchedBody> {
    try {
      const body = new FetchedBody(response, target, rule, options)
      const { promise, acceptHtml } = rule
      // Servers often send wrong media types: a checksum decides.
      const page = acceptHtml || body.#promised.hash ? undefined : pageByType(promise, response.headers.get('content-type'))
      body.#consider(page ?? emptyByStatus(promise, response.status))
      return body
    } catch (error) {
      await response.discard()
      throw error
    }
  }

  /** Refuses a body whose completeness cannot be verified. Errors: `FILE_INCOMPLETE`. */
  async requireEnd(): Promise<void> {
    if (this.#hasEnd) return
    const { url } = this.#response
    await this.#response.discard()
    throw new IntegrityError('FILE_INCOMPLETE', `${bareAddress(url)}: ${NO_END}`, {
      url,
      hint: 'without -o the body is written to stdout unverified',
    })
  }

  /** Returns warnings about the headers of the response. */
  *warnings(): Generator<Warning> {
    const pointer = this.#target && { pointer: this.#target.pointer }
    const page = pageWarning(this.#rule.promise, this.#answered)
    // A login page often comes with 200.
    if (page !== undefined) yield { code: 'CONTENT_TYPE_UNEXPECTED', ...pointer, message: page }
    const { coding } = this.#delivery
    if (coding !== undefined && !this.#promised.hash) yield { code: 'CONTENT_CODING_UNKNOWN', ...pointer, message: codingProblem(coding) }
    if (!this.#hasEnd) yield { code: 'FILE_INCOMPLETE', ...pointer, message: NO_END }
  }

  /** Reads the body. Errors: `LOGIN_PAGE` before the first byte, `FILE_INCOMPLETE` and `FILE_INTEGRITY` after the last; `ABORTED`, those of the transport. */
  async *chunks(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { url } = this.#response
    const { size, hash } = this.#promised
    const hashed = hash && createHash(hash.algorithm)
    try {
      for await (const chunk of inspected(this.#response.chunks?.(this.#delivery.asSent) ?? noChunks(), this.#look)) {
        this.bytes += chunk.byteLength
        hashed?.update(chunk)
        yield chunk
      }
    } catch (error) {
      throw failedBody(error, url, signal)
    }
    const { bytes } = this
    const { length = bytes } = this.#delivery
    if (bytes !== length) throw incomplete(url, `${bytes} of ${length} bytes were received`)
    const file = { url, pointer: this.#target?.pointer ?? '', ...(size !== undefined && { size }) }
    if (size !== bytes) this.#check('it has another size than its document states', () => checkSize(file, bytes))
    const digest = hashed?.digest('hex')
    if (!hash || digest === undefined || digest.startsWith(hash.digest)) return
    const doubt = this.#doubt
    if (doubt) this.#refuse(doubt)
    this.#check(`it has another ${hash.algorithm} than its document states`, () => checkDigest(file, hash, digest, 'checksum'))
  }

  /** Runs a check; with `trustServer` a failure is a warning. */
  #check(words: string, check: () => void): void {
    try {
      check()
    } catch (error) {
      if (!this.#rule.trustServer) throw error
      this.#warn('FILE_INTEGRITY', words)
    }
  }

  #warn(code: Warning['code'], words: string): void {
    this.#rule.warn({
      code,
      ...(this.#target && { pointer: this.#target.pointer }),
      message: `${words}; it is kept because the server is trusted`,
    })
  }

  /** Compares the first bytes with the promise. Returns false if it needs more. Errors: those of {@link misfitError}. */
  readonly #look = (head: Uint8Array, isAll: boolean): boolean => {
    // Coded bytes show nothing of the file.
    if (this.#delivery.stored !== undefined) return true
    const { headers } = this.#response
    const misfit = misfitOf(this.#expected, head, isAll, headers.get('content-type'), this.#response.sent?.())
    if (misfit === 'more') return false
    if (misfit?.kind !== 'page' || !this.#rule.acceptHtml) this.#consider(misfit)
    return true
  }

  get #expected(): PromisedFile {
    const isDecoded = this.#response.headers.get('content-encoding') !== null && !this.#delivery.asSent
    return isDecoded ? decodedPromise(this.#rule.promise) : this.#rule.promise
  }

  /** With a checksum, the whole body decides, unless it is a page. */
  #consider(misfit: Misfit | undefined): void {
    if (!misfit) return
    if (this.#promised.hash && misfit.kind !== 'page') this.#doubt = misfit
    else this.#refuse(misfit)
  }

  /** Errors: those of {@link misfitError}, unless the server is trusted. */
  #refuse(misfit: Misfit): void {
    if (misfit.kind === 'page' || !this.#rule.trustServer) throw misfitError(misfit, this.#expected, this.#answered)
    this.#warn('CONTENT_TYPE_UNEXPECTED', `it is ${misfit.words}`)
  }

  get #answered(): AnsweredBody {
    const { url, headers } = this.#response
    return {
      asked: this.#rule.asked,
      answered: url,
      contentType: headers.get('content-type'),
      ...(this.#target && { pointer: this.#target.pointer }),
    }
  }

  get #hasEnd(): boolean {
    const { size, hash } = this.#promised
    return this.#delivery.framed || this.#response.status === 204 || size !== undefined || hash !== undefined
  }
}

const NO_END = 'the response has no length or checksum, so its completeness cannot be verified'

async function* noChunks(): AsyncGenerator<Uint8Array> {}
