import type { Dispatcher } from 'undici'
import { keepChunk } from '../http/keep-chunk.ts'

/** Status line and fields of an answer. */
export interface ArrivalHead {
  readonly status: number
  readonly statusText: string
  readonly fields: Dispatcher.ResponseData['headers']
}

/** Bytes that may wait for their reader before the server is held back. */
const WAITING = 262_144

/**
 * An answer as it arrives: the head as a promise, then the body, which is pulled, never pushed, so that a slow reader slows the
 * server down. undici's own body is a stream of Node, which costs more than the rest of the exchange of a small document.
 */
export class UndiciArrival implements Dispatcher.DispatchHandler, AsyncIterable<Uint8Array> {
  readonly #over: () => void
  #answered: (head: ArrivalHead) => void = () => {}
  #failed: (error: unknown) => void = () => {}
  #controller: Dispatcher.DispatchController | undefined
  #waiting: Uint8Array[] = []
  #size = 0
  /** Bytes that are still to come, where the server has said how many there are. */
  #missing: number | undefined
  #isOver = false
  #error: unknown
  #news: Promise<void> | undefined
  #wake: () => void = () => {}

  /** @param over hears that nothing more will arrive */
  constructor(over: () => void) {
    this.#over = over
  }

  /** The head, asked for once and as soon as the request is dispatched. Rejects with what ended the exchange before. */
  head(): Promise<ArrivalHead> {
    return new Promise((resolve, reject) => {
      if (this.#isOver) return reject(this.#error)
      this.#answered = resolve
      this.#failed = reject
    })
  }

  /** Gives up at once, also while there is no connection yet; what arrived and was not read is lost. */
  destroy(reason?: unknown): void {
    if (this.#isOver) return
    this.#waiting = []
    this.#end(reason ?? new Error('the rest of the answer is not wanted'))
    this.#controller?.abort(this.#error as Error)
  }

  /** The whole body if it is here, in one piece and no longer than that, as small ones mostly are; otherwise it is still to be read. */
  whole(limit: number): Uint8Array | undefined {
    if (!this.#isOver || this.#error !== undefined || this.#waiting.length !== 1 || this.#size > limit) return undefined
    return this.#waiting.pop()
  }

  /** The chunks of the body, once. Whoever stops before the end gives the connection up. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, void> {
    return {
      next: () => this.#next(),
      return: async () => {
        this.destroy()
        return { done: true, value: undefined }
      },
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(this.#error as Error)
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, fields: ArrivalHead['fields'], statusText = ''): void {
    if (status < 200) return
    const length = Number(fields['content-length'])
    this.#missing = length > 0 ? length : undefined
    this.#answered({ status, statusText, fields })
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#isOver) return
    keepChunk(this.#waiting, chunk, (buffer, size) => new Uint8Array(buffer, 0, size))
    this.#size += chunk.length
    if (this.#missing !== undefined) this.#missing -= chunk.length
    if (this.#size > WAITING) controller.pause()
    this.#tell()
  }

  onResponseEnd(): void {
    this.#end(undefined)
  }

  /**
   * A server that closes its connection while its last bytes are held back is a failure to undici. A body is whole with its last
   * byte (RFC 9112 §6.2).
   */
  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.#isOver) this.#end(this.#missing === 0 ? undefined : error)
  }

  async #next(): Promise<IteratorResult<Uint8Array, void>> {
    for (;;) {
      const chunk = this.#waiting.shift()
      if (chunk) return { done: false, value: this.#taken(chunk) }
      if (this.#error !== undefined) throw this.#error
      if (this.#isOver) return { done: true, value: undefined }
      await this.#more()
    }
  }

  #taken(chunk: Uint8Array): Uint8Array {
    const wasFull = this.#size > WAITING
    this.#size -= chunk.length
    if (wasFull && this.#size <= WAITING) this.#controller?.resume()
    return chunk
  }

  #end(error: unknown): void {
    this.#isOver = true
    this.#error = error
    this.#over()
    if (error !== undefined) this.#failed(error)
    this.#tell()
  }

  #more(): Promise<void> {
    this.#news ??= new Promise((resolve) => {
      this.#wake = resolve
    })
    return this.#news
  }

  #tell(): void {
    this.#news = undefined
    this.#wake()
  }
}
