/** The body of `fetch`, verified against the document and the response headers. */
import { createHash } from 'node:crypto'
import type { Warning } from '../auth/strategy.ts'
import { type AuthError, IntegrityError } from '../errors.ts'
import type { HttpResponse } from '../http/message.ts'
import { bareAddress } from '../http/url.ts'
import { codingProblem, type Delivery, deliveryOf, inspected, isWantedAsSent } from '../node/download/answer.ts'
import { selectFiles } from '../node/download/selected-files.ts'
import { checkDigest, checkSize, type Promised, promiseOf } from '../node/download/verification.ts'
import { type AnsweredBody, type BodyPromise, looksLikePage, pageRefusal, pageWarning } from '../node/transport/page-refusal.ts'
import type { Target } from '../stac/target.ts'
import { failedBody, incomplete } from './read-document.ts'

/** How HTML pages are treated. */
export interface PageRule {
  /** The requested URL. */
  readonly asked: string
  readonly promise: BodyPromise
  /** Accept an HTML page whatever is expected. */
  readonly accept: boolean
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
  readonly #page: PageRule

  private constructor(response: HttpResponse, target: Target | undefined, page: PageRule, { output = '', asSent }: BodyOptions) {
    const [wanted] = target ? selectFiles(target, {}) : []
    this.status = response.status
    this.#response = response
    this.#target = target
    this.#page = page
    this.#promised = wanted ? promiseOf(wanted) : {}
    const { size } = this.#promised
    const names = [output, new URL(response.url).pathname]
    const isAsSent = asSent ?? isWantedAsSent(response.headers, { names, ...(size !== undefined && { size }) })
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
   * for an HTML page where another media type is expected, unless it is accepted.
   */
  static async of(response: HttpResponse, target: Target | undefined, page: PageRule, options: BodyOptions = {}): Promise<FetchedBody> {
    try {
      const body = new FetchedBody(response, target, page, options)
      const refusal = body.#refusal()
      if (refusal) throw refusal
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
    const page = pageWarning(this.#page.promise, this.#answered)
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
    checkSize(file, bytes)
    if (hash && hashed) checkDigest(file, hash, hashed.digest('hex'), 'checksum')
  }

  /** Errors: those of {@link pageRefusal}. */
  readonly #look = (head: Uint8Array, isAll: boolean): boolean => {
    const isPage = looksLikePage(head, isAll)
    const refusal = isPage ? this.#refusal(true) : undefined
    if (refusal) throw refusal
    return isPage !== undefined
  }

  /** With a checksum, only the first bytes are checked: servers often send wrong media types. */
  #refusal(isPage?: boolean): AuthError | undefined {
    if (this.#page.accept || (this.#promised.hash && !isPage)) return undefined
    return pageRefusal(this.#page.promise, this.#answered, isPage)
  }

  get #answered(): AnsweredBody {
    const { url, headers } = this.#response
    return {
      asked: this.#page.asked,
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
