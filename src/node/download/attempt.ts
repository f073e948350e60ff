/** One request for what is missing of a file, and what its answer gives. */
import { IntegrityError } from '../../errors.ts'
import { pageProblem } from '../../http/media-type.ts'
import type { HttpResponse } from '../../http/message.ts'
import { retryHint } from '../../http/retry-after.ts'
import type { Target } from '../../stac/target.ts'
import { answerFailure } from '../answer-failure.ts'
import { type Asked, codingProblem, type Delivery, deliveryOf, fileChanged, invalid, rangeHeaders } from './answer.ts'
import type { Content } from './content.ts'
import type { DownloadFile } from './events.ts'
import { Exchange, incomplete } from './exchange.ts'
import type { KnownHash } from './multihash.ts'
import { RefusedAnswer } from './refused-answer.ts'
import { serverDigest } from './server-digest.ts'
import { endOfFirst, isShareable, receiveShared, type Shared } from './shared-body.ts'
import { targetAddress } from './target-address.ts'
import { checkSize } from './verification.ts'
import type { World } from './world.ts'

/** A file that is being fetched. */
export interface FileState {
  readonly file: DownloadFile
  /** Media type that the document promises; empty for none. */
  readonly type: string
  readonly content: Content
  /** The document's checksum, else what the server said; undefined as long as nobody said anything. */
  hash: { readonly known: KnownHash; readonly by: 'checksum' | 'digest' } | undefined
  /** Bytes of the whole, once somebody knows. */
  size: number | undefined
  /** Bytes that came over the network. */
  received: number
  /** The most bytes that ever were there of what can be gone on with: more is a gain. */
  most: number
  /** How often the file was another one all of a sudden. */
  changes: number
  /** More requests at a time did not help. */
  alone: boolean
  hasStarted: boolean
  toldAt: number
}

export class Attempt {
  readonly #target: Target
  readonly #state: FileState
  readonly #world: World

  constructor(target: Target, state: FileState, world: World) {
    this.#target = target
    this.#state = state
    this.#world = world
  }

  /**
   * Fetches what is missing from where it ended.
   *
   * Errors: `RefusedAnswer` for what is no success; `FILE_CHANGED`, `RANGE_INVALID`, `FILE_INCOMPLETE`, `FILE_INTEGRITY`, those of the
   * engine, of the transport and of writing.
   */
  async perform(): Promise<void> {
    const { content } = this.#state
    if (content.version && content.version.url !== targetAddress(this.#target).bare) await content.reset()
    if (!content.version && content.length > 0) await content.reset()
    const asked = this.#asked()
    if (asked.offset > 0 && asked.offset === asked.size) return this.#started(asked.offset)
    const origin = targetAddress(this.#target).origin
    const { gate } = this.#world.origins
    await gate.enter(origin, this.#world.signal)
    const exchange = new Exchange(this.#world, this.#state.file.url)
    try {
      const response = await this.#world.send(this.#target, rangeHeaders(asked), exchange.signal)
      await this.#take(response, asked, exchange)
      gate.succeeded(origin)
    } finally {
      exchange.end()
      gate.leave(origin)
      await content.flush()
    }
  }

  #asked(): Asked {
    const { content } = this.#state
    const { version, length, total } = content
    if (!version || total === 0) return { offset: 0 }
    const { validator, size } = version
    if (size === undefined) return { offset: length, validator }
    const end = endOfFirst(size, { state: this.#state, world: this.#world })
    return { offset: length, validator, size, ...(end < size && { end }) }
  }

  async #take(response: HttpResponse, asked: Asked, exchange: Exchange): Promise<void> {
    if (response.status === 416 && asked.offset > 0) return this.#beyond(response, asked)
    if (response.status !== 200 && response.status !== 206) throw await this.#refused(response)
    const delivery = deliveryOf(response, asked)
    try {
      await this.#prepare(response, delivery, asked)
    } catch (error) {
      exchange.cancel()
      throw error
    }
    await this.#receive(response, delivery, exchange)
  }

  /** Checks what the head of an answer tells, and makes room for its body. */
  async #prepare(response: HttpResponse, delivery: Delivery, { offset, validator }: Asked): Promise<void> {
    const state = this.#state
    const { headers, status, url } = response
    if (status === 200 && validator !== undefined) await this.#anew(delivery, validator, url)
    if (delivery.size !== undefined) checkSize(state.file, delivery.size)
    if (!delivery.framed && state.file.size === undefined && state.hash === undefined)
      throw new IntegrityError('FILE_INCOMPLETE', `${state.file.url}: nothing would tell whether all of it came: it has no length`, { url })
    if (offset === 0) this.#checkPage(headers.get('content-type'))
    // A checksum decides by itself whether these are the bytes.
    if (delivery.coding !== undefined && state.hash?.by !== 'checksum')
      this.#object('CONTENT_CODING_UNKNOWN', codingProblem(delivery.coding))
    const known = serverDigest(headers, status)
    if (known && !(state.hash?.by === 'checksum')) state.hash = { known, by: 'digest' }
    state.size = delivery.size ?? state.file.size
    const { content } = state
    const isSame = content.version !== undefined && content.version.validator === delivery.validator
    if (!isSame || content.total === 0) await content.begin(this.#version(delivery), state.size)
    if (state.hash) content.expect(state.hash.known)
    this.#started(offset)
  }

  #version({ validator, size, divisible }: Delivery) {
    if (validator === undefined || !divisible) return undefined
    return { url: targetAddress(this.#target).bare, validator, ...(size !== undefined && { size }) }
  }

  /** All of the file came instead of a part: another one, or the same from a server that gives no parts. */
  async #anew({ validator }: Delivery, asked: string, url: string): Promise<void> {
    if (validator !== asked && this.#state.changes++ > 0) throw fileChanged(url)
    await this.#state.content.reset()
  }

  async #receive(response: HttpResponse, delivery: Delivery, exchange: Exchange): Promise<void> {
    const state = this.#state
    const { content } = state
    const shared = this.#shared(delivery)
    if (shared && isShareable(delivery, state.size, shared)) return receiveShared(response, delivery, exchange, shared)
    for await (const chunk of exchange.receive(response, delivery)) {
      const room = content.add(chunk)
      if (room) await room
      this.#came(chunk.byteLength)
      // Whoever sends more than the file has may never end.
      if (content.length > (state.size ?? Number.POSITIVE_INFINITY)) break
    }
    if (delivery.framed || content.length > (state.size ?? 0)) checkSize(state.file, content.length)
    if (state.size !== undefined && content.length !== state.size)
      throw incomplete(response.url, `${content.length} of ${state.size} bytes were received`)
  }

  #shared({ validator }: Delivery): Shared | undefined {
    const [state, world, target] = [this.#state, this.#world, this.#target]
    if (state.size === undefined || validator === undefined) return undefined
    return {
      state,
      world,
      size: state.size,
      validator,
      origin: targetAddress(target).origin,
      send: (headers, signal) => world.send(target, headers, signal),
      came: (bytes) => this.#came(bytes),
    }
  }

  /** There is nothing behind what is here: that is the end of the file, or it is another one by now (RFC 9110 §15.5.17). */
  async #beyond(response: HttpResponse, { offset, size }: Asked): Promise<void> {
    await response.discard()
    const total = /^bytes \*\/(\d{1,16})$/i.exec(response.headers.get('content-range')?.trim() ?? '')?.[1]
    if (total === undefined) throw invalid(response.url, `has nothing behind ${offset} bytes and does not say how long it is`)
    if (Number(total) !== offset || (size !== undefined && size !== offset)) throw fileChanged(response.url)
    this.#state.size = offset
    this.#started(offset)
  }

  async #refused(response: HttpResponse): Promise<RefusedAnswer> {
    const { status, url, headers } = response
    const body = response.chunks?.() ?? null
    const rest = status === 429 || status >= 500 ? retryHint(headers, this.#world.clock.now()) : undefined
    const error = await answerFailure({ status, url, headers, body }, this.#target)
    await response.discard()
    return new RefusedAnswer(error, rest)
  }

  #checkPage(contentType: string | null): void {
    const message = pageProblem(this.#state.type, contentType)
    if (message !== undefined) this.#object('CONTENT_TYPE_UNEXPECTED', message)
  }

  /** What may not be the file that was meant. */
  #object(code: string, message: string): void {
    const { file } = this.#state
    if (this.#world.settings.strict) throw new IntegrityError(code, `"${file.name}": ${message}`, { url: file.url })
    this.#world.tell({ kind: 'warning', file, code, message })
  }

  #started(resumed: number): void {
    const state = this.#state
    if (state.hasStarted) return
    state.hasStarted = true
    state.most = Math.max(state.most, resumed)
    this.#world.tell({ kind: 'started', file: state.file, resumed, ...(state.size !== undefined && { size: state.size }) })
  }

  #came(bytes: number): void {
    const state = this.#state
    state.received += bytes
    const { total, version } = state.content
    if (version && total > state.most) state.most = total
    const now = this.#world.clock.now()
    if (now - state.toldAt < this.#world.settings.progressInterval) return
    state.toldAt = now
    const { file, size, content } = state
    this.#world.tell({ kind: 'progress', file, bytes: content.total, ...(size !== undefined && { size }) })
  }
}
