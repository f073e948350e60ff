/** Compares the response for a file and its bytes with what the document, the name and the server state about it. */

import { type AuthError, type ErrorCode, IntegrityError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { decodedPromise, type Misfit, misfitError, misfitOf, type PromisedFile, pageByType, pageWarning } from '../base/promised-file.ts'
import { checkDigest, checkSize, type KnownHash, promiseOf, serverDigest } from './checksums.ts'
import type { Part } from './destination/destination.ts'
import type { Verification } from './download.ts'
import type { DownloadContext } from './download-context.ts'
import { promisedBody } from './existing-file.ts'
import type { PlannedFile } from './file-plan.ts'
import type { Unverified } from './manifest.ts'
import type { Delivery } from './response.ts'

/** Why a body is not the promised file. */
interface Doubt {
  readonly misfit: Misfit
  readonly error: AuthError
}

/** A response whose body is compared. */
interface CheckedResponse {
  /** The requested URL. */
  readonly asked: string
  readonly response: HttpResponse
  readonly delivery: Delivery
  /** The extension that the server proposes; empty for none. */
  readonly suffix: string
}

export class FileCheck {
  readonly #planned: PlannedFile
  readonly #context: DownloadContext
  readonly #promise: PromisedFile
  readonly hasUnsupportedChecksum: boolean
  /** The checksum of the document, else that of the server; undefined until one is known. */
  hash: { readonly known: KnownHash; readonly by: 'checksum' | 'digest' } | undefined
  /** Why the body is not the promised file, unless a checksum matches. */
  doubt: Doubt | undefined
  /** What differs from the document, where the server is trusted more. */
  readonly unverified = new Set<Unverified>()
  /** True if the received bytes failed: they are not resumable. */
  isWrong = false

  constructor(planned: PlannedFile, context: DownloadContext) {
    const { hash, unsupported = false } = promiseOf(planned.selected)
    this.#planned = planned
    this.#context = context
    this.#promise = promisedBody(planned)
    this.hasUnsupportedChecksum = unsupported
    this.hash = hash && { known: hash, by: 'checksum' }
  }

  /** Forgets what the server stated. */
  restart(): void {
    this.isWrong = false
    if (this.hash?.by === 'digest') this.hash = undefined
  }

  /** Uses the hash that the server states, unless the document has one. */
  useDigest({ headers, status }: HttpResponse, { asSent }: Delivery, part: Part): void {
    const known = this.hash?.by === 'checksum' ? undefined : serverDigest(headers, status, asSent)
    if (known && part.hash(known.algorithm)) this.hash = { known, by: 'digest' }
  }

  /** Compares the media type with the promise. Errors: `LOGIN_PAGE`, `FILE_INTEGRITY`. */
  checkType(response: HttpResponse, { size }: Delivery, asked: string): void {
    const { acceptHtml } = this.#context.settings
    const body = this.#bodyOf(response, asked)
    const misfit = acceptHtml ? undefined : pageByType(this.#promise, body.contentType)
    this.doubt = misfit && { misfit, error: misfitError(misfit, this.#promise, body) }
    // A checksum decides whether these are the right bytes.
    const mayBeIt = this.hash?.by === 'checksum' && (size === undefined || (this.#planned.file.size ?? size) === size)
    if (this.doubt && !mayBeIt) throw this.doubt.error
    const warning = misfit ? undefined : pageWarning(this.#promise, body)
    if (warning === undefined) return
    if (acceptHtml) this.#warn('CONTENT_TYPE_UNEXPECTED', warning)
    else this.warnOrThrow('CONTENT_TYPE_UNEXPECTED', warning)
  }

  /** Compares the first bytes with the promise. Returns false if it needs more. Errors: `LOGIN_PAGE`, `FILE_INTEGRITY`. */
  isPromised(head: Uint8Array, isAll: boolean, { asked, response, delivery, suffix }: CheckedResponse): boolean {
    // Coded bytes show nothing of the file.
    if (delivery.stored !== undefined) return true
    const { names } = this.#promise
    const named = this.#planned.lacksSuffix ? { ...this.#promise, names: [...names, `x${suffix}`] } : this.#promise
    const promise = response.headers.get('content-encoding') === null ? named : decodedPromise(named)
    const body = this.#bodyOf(response, asked)
    const misfit = misfitOf(promise, head, isAll, body.contentType, response.sent?.())
    if (misfit === 'more') return false
    if (!misfit || (misfit.kind === 'page' && this.#context.settings.acceptHtml)) return true
    const doubt = { misfit, error: misfitError(misfit, promise, body) }
    // A checksum decides whether these are the right bytes.
    if (this.hash?.by === 'checksum') this.doubt ??= doubt
    else this.#ofBytes(() => this.#acceptMisfit(doubt))
    return true
  }

  /**
   * Compares a size with that in the document.
   *
   * @param isReceived whether it is that of the received bytes
   *
   * Errors: `FILE_INTEGRITY`, unless the server is trusted more.
   */
  requireSize(actual: number, isReceived = false): void {
    const { file } = this.#planned
    const { size } = file
    const check = () => {
      if (!this.#context.settings.trustServer || size === actual) checkSize(file, actual)
      else if (size !== undefined) this.#accept('size', `it has ${actual} bytes, its document states ${size}`)
    }
    if (isReceived) this.#ofBytes(check)
    else check()
  }

  /** Compares a complete file; returns what it agrees with. Errors: `FILE_INTEGRITY`, `LOGIN_PAGE`. */
  async verify(part: Part, size: number | undefined): Promise<readonly Verification[]> {
    const { hash } = this
    const { file } = this.#planned
    this.requireSize(part.length, true)
    const isSized = file.size !== undefined && !this.unverified.has('size')
    const verified: readonly Verification[] = isSized ? ['size'] : size !== undefined ? ['length'] : []
    if (!hash) return verified
    const digest = await part.digest(hash.known.algorithm)
    const isSame = digest.startsWith(hash.known.digest)
    this.#ofBytes(() => {
      if (this.doubt && !isSame) this.#acceptMisfit(this.doubt)
      if (isSame || hash.by === 'digest' || !this.#context.settings.trustServer) checkDigest(file, hash.known, digest, hash.by)
      else this.#accept('checksum', `it has another ${hash.known.algorithm} than its document states`)
    })
    return isSame ? [...verified, hash.by] : verified
  }

  /** Warns of content that may not be the intended file; with `strict` it is refused. */
  warnOrThrow(code: ErrorCode, message: string): void {
    const { name, url } = this.#planned.file
    if (this.#context.settings.strict) throw new IntegrityError(code, `"${name}": ${message}`, { url })
    this.#warn(code, message)
  }

  #bodyOf({ url, headers }: HttpResponse, asked: string) {
    return { asked, answered: url, contentType: headers.get('content-type'), pointer: this.#planned.file.pointer }
  }

  /** Keeps a file that is not the promised one, if the server is trusted more than the document. Errors: that of a file that is refused. */
  #acceptMisfit({ misfit, error }: Doubt): void {
    if (misfit.kind === 'page' || !this.#context.settings.trustServer) throw error
    this.#accept('type', `it is ${misfit.words}`)
  }

  /** Records what a file differs in, with one warning. */
  #accept(what: Unverified, words: string): void {
    if (this.unverified.has(what)) return
    this.unverified.add(what)
    this.#warn(what === 'type' ? 'CONTENT_TYPE_UNEXPECTED' : 'FILE_INTEGRITY', `${words}; it is kept because the server is trusted`)
  }

  /** Runs a check of the received bytes. Errors: those of the check. */
  #ofBytes(check: () => void): void {
    this.isWrong = true
    check()
    this.isWrong = false
  }

  #warn(code: ErrorCode, message: string): void {
    this.#context.tell({ kind: 'warning', file: this.#planned.file, code, message })
  }
}
