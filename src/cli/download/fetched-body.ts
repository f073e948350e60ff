/** The body of `fetch`, verified against the document and the response headers. */
import { createHash, type Hash } from 'node:crypto'
import type { Warning } from '../../auth/strategy.ts'
import { IntegrityError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { bareAddress } from '../../http/url.ts'
import {
  codingProblem,
  type Delivery,
  deliveryOf,
  FileCheck,
  inspected,
  isWantedAsSent,
  type Promised,
  type PromisedFile,
  promiseOf,
  selectFiles,
} from '../../node/download/index.ts'
import type { Target } from '../../stac/target.ts'
import { failedBody, incomplete } from '../read-document.ts'

/** What is expected and accepted as the body. */
export interface BodyRule {
  /** The requested URL. */
  readonly asked: string
  readonly promise: PromisedFile
  /** Accept an HTML page whatever is expected. */
  readonly acceptHtml: boolean
  /** Accept another size, checksum and format than the document states. */
  readonly trustServer: boolean
  /** Called for what differs. */
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
  readonly #delivery: Delivery
  readonly #promised: Promised
  readonly #check: FileCheck
  readonly #asked: string

  private constructor(response: HttpResponse, target: Target | undefined, rule: BodyRule, { output = '', asSent }: BodyOptions) {
    const { url, status, headers } = response
    const [wanted] = target ? selectFiles(target, {}) : []
    const { size, hash } = wanted ? promiseOf(wanted) : {}
    const warn: Warn = (code, message) => rule.warn({ code, ...(target && { pointer: target.pointer }), message })
    this.status = status
    this.#response = response
    this.#promised = { ...(size !== undefined && { size }), ...(hash && { hash }) }
    this.#asked = rule.asked
    this.#delivery = deliveryOf(response, { offset: 0 }, asSent ?? isWantedAsSent(headers, [output, new URL(url).pathname], size))
    const file = { url, pointer: target?.pointer ?? '', ...(size !== undefined && { size }) }
    this.#check = new FileCheck({ file, promise: rule.promise, hash }, { ...rule, refusesPages: true, warn })
    this.#checkHeaders(output !== '', warn)
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
   * for what is not the promised file, unless it is accepted; `FILE_INCOMPLETE` for a file whose completeness cannot be verified.
   */
  static async of(response: HttpResponse, target: Target | undefined, rule: BodyRule, options: BodyOptions = {}): Promise<FetchedBody> {
    try {
      return new FetchedBody(response, target, rule, options)
    } catch (error) {
      await response.discard()
      throw error
    }
  }

  #checkHeaders(isFile: boolean, warn: Warn): void {
    const { url, status } = this.#response
    const { size, hash } = this.#promised
    const { coding, framed } = this.#delivery
    this.#check.checkType(this.#response, this.#delivery, this.#asked)
    if (coding !== undefined && !hash) warn('CONTENT_CODING_UNKNOWN', codingProblem(coding))
    if (framed || status === 204 || size !== undefined || hash !== undefined) return
    const problem = 'the response has no length or checksum, so its completeness cannot be verified'
    const hint = 'without -o the body is written to stdout unverified'
    if (isFile) throw new IntegrityError('FILE_INCOMPLETE', `${bareAddress(url)}: ${problem}`, { url, hint })
    warn('FILE_INCOMPLETE', problem)
  }

  /** Reads the body. Errors: `LOGIN_PAGE` before the first byte, `FILE_INCOMPLETE` and `FILE_INTEGRITY` after the last; `ABORTED`, those of the transport. */
  async *chunks(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const response = this.#response
    const delivery = this.#delivery
    const hashed = this.#promised.hash && createHash(this.#promised.hash.algorithm)
    const checked = { asked: this.#asked, response, delivery, suffix: '' }
    const look = (head: Uint8Array, isAll: boolean) => this.#check.isPromised(head, isAll, checked)
    try {
      for await (const chunk of inspected(response.chunks?.(delivery.asSent) ?? noChunks(), look)) {
        this.bytes += chunk.byteLength
        hashed?.update(chunk)
        yield chunk
      }
    } catch (error) {
      throw failedBody(error, response.url, signal)
    }
    const { bytes } = this
    const { length = bytes } = delivery
    if (bytes !== length) throw incomplete(response.url, `${bytes} of ${length} bytes were received`)
    await this.#check.verify({ length: bytes, digest: async () => (hashed as Hash).digest('hex') }, length)
  }
}

type Warn = (code: Warning['code'], message: string) => void

async function* noChunks(): AsyncGenerator<Uint8Array> {}
