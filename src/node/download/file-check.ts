/** Compares the response for a file and its bytes with what the document, the name and the server state about it. */

import { type AuthError, type ErrorCode, IntegrityError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import {
  decodedPromise,
  emptyByStatus,
  type Misfit,
  misfitError,
  misfitOf,
  type PromisedFile,
  pageByType,
  pageWarning,
} from '../base/promised-file.ts'
import { type CheckedFile, checkDigest, checkSize, type KnownHash, serverDigest } from './checksums.ts'
import type { Part } from './destination/destination.ts'
import type { Verification } from './download.ts'
import type { Unverified } from './manifest.ts'
import type { Delivery } from './response.ts'

/** What a body is compared with. */
export interface ExpectedFile {
  readonly file: CheckedFile
  readonly promise: PromisedFile
  /** The checksum of the document. */
  readonly hash?: KnownHash | undefined
  /** True if its name gets the extension that the server proposes. */
  readonly lacksSuffix?: boolean | undefined
}

/** What is accepted as the body. */
export interface BodyRules {
  /** Accept an HTML page whatever is expected. */
  readonly acceptHtml: boolean
  /** Accept another size, checksum and format than the document states, with a warning. */
  readonly trustServer: boolean
  /** Refuse what is warned of otherwise. */
  readonly strict?: boolean
  /** Refuse a page before a checksum decides: bytes that were passed on cannot be taken back. */
  readonly refusesPages?: boolean
  readonly warn: (code: ErrorCode, message: string) => void
}

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
  readonly #expected: ExpectedFile
  readonly #rules: BodyRules
  /** The checksum of the document, else that of the server; undefined until one is known. */
  hash: { readonly known: KnownHash; readonly by: 'checksum' | 'digest' } | undefined
  /** Why the body is not the promised file, unless a checksum matches. */
  doubt: Doubt | undefined
  /** What differs from the document, where the server is trusted more. */
  readonly unverified = new Set<Unverified>()
  /** True if the received bytes failed: they are not resumable. */
  isWrong = false

  constructor(expected: ExpectedFile, rules: BodyRules) {
    this.#expected = expected
    this.#rules = rules
    this.hash = expected.hash && { known: expected.hash, by: 'checksum' }
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

  /** Compares the status and the media type with the promise. Errors: `LOGIN_PAGE`, `FILE_INTEGRITY`. */
  checkType(response: HttpResponse, { size }: Delivery, asked: string): void {
    const { acceptHtml } = this.#rules
    const { promise, file } = this.#expected
    const body = this.#bodyOf(response, asked)
    const misfit = (acceptHtml ? undefined : pageByType(promise, body.contentType)) ?? emptyByStatus(promise, response.status)
    this.doubt = misfit && { misfit, error: misfitError(misfit, promise, body) }
    // A checksum decides whether these are the right bytes.
    const mayBeIt = this.hash?.by === 'checksum' && (size === undefined || (file.size ?? size) === size)
    if (this.doubt && !mayBeIt) this.#acceptMisfit(this.doubt)
    const warning = misfit ? undefined : pageWarning(promise, body)
    if (warning === undefined) return
    if (acceptHtml) this.#rules.warn('CONTENT_TYPE_UNEXPECTED', warning)
    else this.warnOrThrow('CONTENT_TYPE_UNEXPECTED', warning)
  }

  /** Compares the first bytes with the promise. Returns false if it needs more. Errors: `LOGIN_PAGE`, `FILE_INTEGRITY`. */
  isPromised(head: Uint8Array, isAll: boolean, { asked, response, delivery, suffix }: CheckedResponse): boolean {
    // Coded bytes show nothing of the file.
    if (delivery.stored !== undefined) return true
    const { promise: known, lacksSuffix } = this.#expected
    const named = lacksSuffix ? { ...known, names: [...known.names, `x${suffix}`] } : known
    const promise = response.headers.get('content-encoding') === null || delivery.asSent ? named : decodedPromise(named)
    const body = this.#bodyOf(response, asked)
    const misfit = misfitOf(promise, head, isAll, body.contentType, response.sent?.())
    if (misfit === 'more') return false
    if (!misfit || (misfit.kind === 'page' && this.#rules.acceptHtml)) return true
    const doubt = { misfit, error: misfitError(misfit, promise, body) }
    // A checksum decides whether these are the right bytes.
    if (this.hash?.by === 'checksum' && !(misfit.kind === 'page' && this.#rules.refusesPages)) this.doubt ??= doubt
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
    const { file } = this.#expected
    const { size } = file
    const check = () => {
      if (!this.#rules.trustServer || size === actual) checkSize(file, actual)
      else if (size !== undefined) this.#accept('size', `it has ${actual} bytes, its document states ${size}`)
    }
    if (isReceived) this.#ofBytes(check)
    else check()
  }

  /** Compares a complete file; returns what it agrees with. Errors: `FILE_INTEGRITY`, `LOGIN_PAGE`. */
  async verify(part: Pick<Part, 'length' | 'digest'>, size: number | undefined): Promise<readonly Verification[]> {
    const { hash } = this
    const { file } = this.#expected
    this.requireSize(part.length, true)
    const isSized = file.size !== undefined && !this.unverified.has('size')
    const verified: readonly Verification[] = isSized ? ['size'] : size !== undefined ? ['length'] : []
    if (!hash) return verified
    const digest = await part.digest(hash.known.algorithm)
    const isSame = digest.startsWith(hash.known.digest)
    this.#ofBytes(() => {
      if (this.doubt && !isSame) this.#acceptMisfit(this.doubt)
      if (isSame || hash.by === 'digest' || !this.#rules.trustServer) checkDigest(file, hash.known, digest, hash.by)
      else this.#accept('checksum', `it has another ${hash.known.algorithm} than its document states`)
    })
    return isSame ? [...verified, hash.by] : verified
  }

  /** Warns of content that may not be the intended file; with `strict` it is refused. */
  warnOrThrow(code: ErrorCode, message: string): void {
    const { name, url } = this.#expected.file
    if (this.#rules.strict) throw new IntegrityError(code, `"${name}": ${message}`, { url })
    this.#rules.warn(code, message)
  }

  #bodyOf({ url, headers }: HttpResponse, asked: string) {
    return { asked, answered: url, contentType: headers.get('content-type'), pointer: this.#expected.file.pointer }
  }

  /** Keeps a file that is not the promised one, if the server is trusted more than the document. Errors: that of a file that is refused. */
  #acceptMisfit({ misfit, error }: Doubt): void {
    if (misfit.kind === 'page' || !this.#rules.trustServer) throw error
    this.#accept('type', `it is ${misfit.words}`)
  }

  /** Records what a file differs in, with one warning. */
  #accept(what: Unverified, words: string): void {
    if (this.unverified.has(what)) return
    this.unverified.add(what)
    this.#rules.warn(what === 'type' ? 'CONTENT_TYPE_UNEXPECTED' : 'FILE_INTEGRITY', `${words}; it is kept because the server is trusted`)
  }

  /** Runs a check of the received bytes. Errors: those of the check. */
  #ofBytes(check: () => void): void {
    this.isWrong = true
    check()
    this.isWrong = false
  }
}
