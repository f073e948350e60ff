/** The body that `fetch` hands on, held against all that is said about it. */
import { createHash } from 'node:crypto'
import type { Warning } from '../auth/strategy.ts'
import { type AuthError, IntegrityError } from '../errors.ts'
import type { HttpResponse } from '../http/message.ts'
import { type BodyPromise, looksLikePage } from '../http/web-page.ts'
import { codingProblem, type Delivery, deliveryOf, isWantedAsSent } from '../node/download/answer.ts'
import { inspected } from '../node/download/exchange.ts'
import { checkDigest, checkSize, type Promised, promiseOf } from '../node/download/verification.ts'
import { wantedFiles } from '../node/download/wanted-files.ts'
import { bareAddress } from '../node/transport/answer-failure.ts'
import { type AnsweredBody, pageRefusal, pageWarning } from '../node/transport/page-refusal.ts'
import type { Target } from '../stac/target.ts'
import { failedBody, incomplete } from './read-document.ts'

/** What is known about web pages beforehand. */
export interface PageRule {
  /** The URL that was asked. */
  readonly asked: string
  readonly promise: BodyPromise
  /** A web page is taken whatever was promised. */
  readonly accept: boolean
}

export interface BodyOptions {
  /** Name of the file that is written. */
  readonly output?: string
  /** Whether a body stays in its content coding; default: what the document promises, else what the names say. */
  readonly asSent?: boolean
}

export class FetchedBody {
  readonly status: number
  /** That have come so far. */
  bytes = 0
  readonly #response: HttpResponse
  readonly #target: Target | undefined
  readonly #delivery: Delivery
  readonly #promised: Promised
  readonly #page: PageRule

  private constructor(response: HttpResponse, target: Target | undefined, page: PageRule, { output = '', asSent }: BodyOptions) {
    const [wanted] = target ? wantedFiles(target, {}) : []
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

  /** What could be tried where this is not what was promised: the body in, or without, its content coding; undefined where it has none. */
  get otherCoding(): Pick<BodyOptions, 'asSent'> | undefined {
    const { coding, asSent } = this.#delivery
    const isCoded = !/^(?:identity)?$/i.test(this.#response.headers.get('content-encoding')?.trim() ?? '')
    return isCoded && coding === undefined ? { asSent: !asSent } : undefined
  }

  /**
   * Errors: `RANGE_INVALID` for a part of a file, which nobody asked for; `LOGIN_PAGE` or `FILE_INTEGRITY` for a web page where
   * something else is promised, unless it is accepted.
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

  /** Errors: `FILE_INCOMPLETE` where nothing would tell whether all of it came, so that it may not become a file. */
  async requireEnd(): Promise<void> {
    if (this.#hasEnd) return
    const { url } = this.#response
    await this.#response.discard()
    throw new IntegrityError('FILE_INCOMPLETE', `${bareAddress(url)}: ${NO_END}`, { url, hint: 'without -o it goes to stdout as it comes' })
  }

  /** What may not be what was meant. */
  *warnings(): Generator<Warning> {
    const pointer = this.#target && { pointer: this.#target.pointer }
    const page = pageWarning(this.#page.promise, this.#answered)
    // A login page often comes with 200.
    if (page !== undefined) yield { code: 'CONTENT_TYPE_UNEXPECTED', ...pointer, message: page }
    const { coding } = this.#delivery
    if (coding !== undefined && !this.#promised.hash) yield { code: 'CONTENT_CODING_UNKNOWN', ...pointer, message: codingProblem(coding) }
    if (!this.#hasEnd) yield { code: 'FILE_INCOMPLETE', ...pointer, message: NO_END }
  }

  /** The bytes. Errors: `LOGIN_PAGE` before the first one, `FILE_INCOMPLETE`, `FILE_INTEGRITY` after the last; `ABORTED`, those of the transport. */
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

  /** Where a checksum is going to be compared, only the first bytes count: servers give files wrong media types. */
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

const NO_END = 'nothing would tell whether all of it came: it has no length'

async function* noChunks(): AsyncGenerator<Uint8Array> {}
