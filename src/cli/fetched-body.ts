/** The body that `fetch` hands on, held against all that is said about it. */
import { createHash } from 'node:crypto'
import type { Warning } from '../auth/strategy.ts'
import { IntegrityError } from '../errors.ts'
import { mediaType, pageProblem } from '../http/media-type.ts'
import type { HttpResponse } from '../http/message.ts'
import { bareAddress } from '../node/answer-failure.ts'
import { codingProblem, type Delivery, deliveryOf } from '../node/download/answer.ts'
import { checkDigest, checkSize, type Promised, promiseOf } from '../node/download/verification.ts'
import { wantedFiles } from '../node/download/wanted-files.ts'
import { ownString } from '../stac/json.ts'
import type { Target } from '../stac/target.ts'
import { failedBody, incomplete } from './response.ts'

export class FetchedBody {
  readonly status: number
  /** That have come so far. */
  bytes = 0
  readonly #response: HttpResponse
  readonly #target: Target | undefined
  readonly #delivery: Delivery
  readonly #promised: Promised

  private constructor(response: HttpResponse, target: Target | undefined) {
    const [wanted] = target ? wantedFiles(target, {}) : []
    this.status = response.status
    this.#response = response
    this.#target = target
    this.#delivery = deliveryOf(response, { offset: 0 })
    this.#promised = wanted ? promiseOf(wanted) : {}
  }

  /** Errors: `RANGE_INVALID` for a part of a file, which nobody asked for. */
  static async of(response: HttpResponse, target: Target | undefined): Promise<FetchedBody> {
    try {
      return new FetchedBody(response, target)
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
    const { headers } = this.#response
    const pointer = this.#target && { pointer: this.#target.pointer }
    const page = pageProblem(mediaType(ownString(this.#target?.object ?? {}, 'type')), headers.get('content-type'))
    // A login page often comes with 200.
    if (page !== undefined) yield { code: 'CONTENT_TYPE_UNEXPECTED', ...pointer, message: page }
    const { coding } = this.#delivery
    if (coding !== undefined && !this.#promised.hash) yield { code: 'CONTENT_CODING_UNKNOWN', ...pointer, message: codingProblem(coding) }
    if (!this.#hasEnd) yield { code: 'FILE_INCOMPLETE', ...pointer, message: NO_END }
  }

  /** The bytes. Errors: `FILE_INCOMPLETE`, `FILE_INTEGRITY` after the last one; `ABORTED`, those of the transport. */
  async *chunks(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { url } = this.#response
    const { size, hash } = this.#promised
    const hashed = hash && createHash(hash.algorithm)
    try {
      for await (const chunk of this.#response.chunks?.() ?? []) {
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

  get #hasEnd(): boolean {
    const { size, hash } = this.#promised
    return this.#delivery.framed || this.#response.status === 204 || size !== undefined || hash !== undefined
  }
}

const NO_END = 'nothing would tell whether all of it came: it has no length'
