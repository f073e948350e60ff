/** Receives the body of a file: from one response, or of a large file by concurrent range requests. */

import { type AuthError, isAuthError, TimeoutError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { failure, isKnownFailure } from '../../http/network-error.ts'
import { originOf } from '../../http/url.ts'
import type { Target } from '../../stac/target.ts'
import { internalError } from '../base/system-error.ts'
import type { Part } from './destination/destination.ts'
import type { Span } from './destination/part-journal.ts'
import type { DownloadContext, RequestLimiter } from './download-context.ts'
import { type Asked, type Delivery, deliveryOf, fileChanged, incomplete, rangeHeaders } from './response.ts'

/** Bytes per second that must arrive on average. */
const SLOWEST = 1024

/** Inspects the first bytes of a body; returns false to see more. Throws what ends the exchange. */
type Inspect = (head: Uint8Array, isAll: boolean) => boolean

/** One exchange that can be aborted separately. */
export class Exchange {
  readonly #context: DownloadContext
  readonly #controller = new AbortController()
  readonly #abort = () => this.#controller.abort(this.#context.signal.reason)
  #timer: ReturnType<typeof setInterval> | undefined
  #came = 0
  /** Waits of our own in progress. */
  #waits = 0
  #inspect: Inspect | undefined
  #url: string

  constructor(context: DownloadContext, url: string) {
    this.#context = context
    this.#url = url
    context.signal.addEventListener('abort', this.#abort, { once: true })
    if (context.signal.aborted) this.#abort()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Registers a function that inspects the first bytes before any of them is yielded. */
  inspect(inspect: Inspect): void {
    this.#inspect = inspect
  }

  /** Yields the body. Errors: `FILE_INCOMPLETE`, `TIMEOUT_BODY`, those of the transport and of the inspection. */
  async *receive(response: HttpResponse, { length, asSent }: Pick<Delivery, 'length' | 'asSent'>): AsyncGenerator<Uint8Array, void> {
    const { stallTimeout } = this.#context.settings
    this.#url = response.url
    this.#timer = setInterval(this.#look, stallTimeout)
    this.#timer.unref()
    let bytes = 0
    try {
      for await (const chunk of inspected(chunksOf(response, asSent), this.#inspect)) {
        bytes += chunk.byteLength
        this.#came += chunk.byteLength
        const excess = length === undefined ? 0 : Math.max(0, bytes - length)
        if (excess < chunk.byteLength) yield excess > 0 ? chunk.subarray(0, -excess) : chunk
        if (excess > 0) throw incomplete(response.url, `more than ${length} bytes were received`)
        const waiting = this.#context.throttle?.(chunk.byteLength, this.signal)
        if (waiting) await this.waiting(waiting)
      }
    } catch (error) {
      throw cutShort(failure(error, this.signal, response.url), response.url)
    }
    if (length !== undefined && bytes !== length) throw incomplete(response.url, `${bytes} of ${length} bytes were received`)
  }

  /** Releases the exchange; to be called in any case. */
  end(): void {
    clearInterval(this.#timer)
    this.#context.signal.removeEventListener('abort', this.#abort)
  }

  /** Aborts the rest of the body. */
  cancel(): void {
    this.#controller.abort(new Error('the rest is not needed'))
  }

  /** Excludes time that we wait ourselves from the minimum rate. */
  async waiting(what: Promise<void>): Promise<void> {
    this.#waits++
    try {
      await what
    } finally {
      this.#waits--
      this.#came += SLOWEST * this.#context.settings.stallTimeout
    }
  }

  readonly #look = (): void => {
    const { stallTimeout } = this.#context.settings
    if (this.#waits > 0) return
    if (this.#came < leastIn(stallTimeout)) this.#controller.abort(stalled(this.#url, stallTimeout))
    this.#came = 0
  }
}

/** Bytes that must arrive within that many milliseconds. */
export function leastIn(milliseconds: number): number {
  return (SLOWEST * milliseconds) / 1000
}

/** Maps every way in which a connection breaks off to one error. */
function cutShort(error: AuthError, url: string): AuthError {
  if (!/^(?:NETWORK_\w+|RESPONSE_TRUNCATED)$/.test(error.code)) return error
  return incomplete(url, 'the connection ended before the whole body was received')
}

function stalled(url: string, milliseconds: number): TimeoutError {
  const says = `fewer than ${SLOWEST} bytes per second were received for ${milliseconds / 1000} s`
  return new TimeoutError('TIMEOUT_BODY', `${originOf(url)}: ${says}`, { url, retryable: true })
}

function chunksOf(response: HttpResponse, asSent: boolean): AsyncIterable<Uint8Array> {
  return response.chunks?.(asSent) ?? ((response.toResponse().body ?? []) as AsyncIterable<Uint8Array>)
}

/** Yields the chunks; holds the first ones back until they were inspected. Errors: those of `inspect`. */
export async function* inspected(chunks: AsyncIterable<Uint8Array>, inspect: Inspect | undefined): AsyncGenerator<Uint8Array, void> {
  let held: Uint8Array[] | undefined = inspect && []
  for await (const chunk of chunks) {
    if (!held || !inspect) {
      yield chunk
      continue
    }
    held.push(chunk)
    if (!inspect(held.length === 1 ? chunk : Buffer.concat(held), false)) continue
    yield* held
    held = undefined
  }
  if (!held || !inspect) return
  inspect(Buffer.concat(held), true)
  yield* held
}

/** Returns the error of an exchange; `INTERNAL` for what is not of the network, such as a fault in a strategy of the caller. */
export function exchangeFailure(thrown: unknown, signal: AbortSignal | undefined, url: string): AuthError {
  if (isAuthError(thrown)) return thrown
  return signal?.aborted || isKnownFailure(thrown) ? failure(thrown, signal, url) : internalError(thrown)
}

/** A file of which several ranges are received at a time. */
interface RangedFile {
  readonly part: Part
  readonly context: DownloadContext
  readonly target: Target
  /** Origin and path, for messages; and the origin of the requests. */
  readonly url: string
  readonly origin: string
  /** Its version. */
  readonly version: Pick<Asked, 'validator' | 'modified'> & { readonly size: number }
  /** Concurrent requests; 0 to receive only what the first response holds. */
  readonly requests: number
  /** Called when bytes arrived. */
  came(bytes: number): void
}

/** The response to the first request. */
interface FirstResponse {
  readonly response: HttpResponse
  readonly delivery: Delivery
  readonly exchange: Exchange
}

/** True for a destination and a file that are worth it, and always for a part that has separate ranges already. */
export function isRanged(part: Part, { offersParts, offset }: Delivery, size: number, { ranges, largeFrom }: DownloadContext['settings']) {
  return part.total > part.length || (offersParts && ranges > 1 && size - offset >= largeFrom)
}

/**
 * Reads the body of a response up to its end or up to a range that another request has taken, then continues range by range like the others.
 * What another request did not receive is left to the next attempt. Returns false if no other request received anything.
 *
 * Errors: those of the first request; `FILE_CHANGED`.
 */
export async function receiveRanges(first: FirstResponse, file: RangedFile): Promise<boolean> {
  const { part, context, origin, version, requests } = file
  await part.flush()
  const free = dividedRanges(part.missing(version.size), context.settings.largestRange)
  let fetched = 0
  const fetchNext = async (): Promise<boolean> => {
    const range = requests > 0 ? free.shift() : undefined
    if (!range) return false
    await fetchRange(range, file)
    fetched++
    return true
  }
  // Helpers that still wait for a slot when the leading request has ended would wait for that of their own file.
  const over = new AbortController()
  const reading = readOn(first, free, file)
  const leading = reading
    .then(async () => {
      while (await fetchNext());
    })
    .finally(() => over.abort())
  const helping = async () => {
    while (await isEntered(context.limiter, origin, over.signal)) {
      try {
        if (!(await fetchNext())) return
      } finally {
        context.limiter.leave(origin)
      }
    }
  }
  const others = [leading, ...Array.from({ length: Math.max(0, requests - 1) }, helping)].map((other) =>
    other.catch((error: unknown) => {
      // Bytes of another version are useless.
      if (isChange(error)) first.exchange.cancel()
      throw error
    }),
  )
  const ends = await Promise.allSettled([reading, ...others])
  const errors = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
  const changed = errors.find(isChange)
  if (changed || ends[0]?.status === 'rejected') throw changed ?? errors[0]
  return fetched > 0 || errors.length === 0
}

function isChange(error: unknown): boolean {
  return isAuthError(error) && error.code === 'FILE_CHANGED'
}

function dividedRanges(missing: readonly Span[], largest: number): Span[] {
  return missing.flatMap(([start, end]) =>
    Array.from({ length: Math.ceil((end - start) / largest) }, (_, index): Span => {
      const from = start + index * largest
      return [from, Math.min(from + largest, end)]
    }),
  )
}

/** Reads range after range from the start of the body, while they are free. */
async function readOn({ response, delivery, exchange }: FirstResponse, free: Span[], file: RangedFile): Promise<void> {
  let at = delivery.offset
  const end = delivery.length === undefined ? file.version.size : at + delivery.length
  const takeAt = (start: number): Span | undefined => {
    const index = free.findIndex(([from]) => from === start)
    return index < 0 ? undefined : free.splice(index, 1)[0]
  }
  let range = takeAt(at)
  for await (const chunk of exchange.receive(response, delivery)) {
    let rest = chunk
    while (range && rest.byteLength > 0) {
      const piece = rest.subarray(0, range[1] - at)
      rest = rest.subarray(piece.byteLength)
      await received(piece, at, file, exchange)
      at += piece.byteLength
      if (at === range[1]) range = at < end ? takeAt(at) : undefined
    }
    if (!range && at < end) break
  }
  await file.part.flush()
  if (at < end) exchange.cancel()
}

async function fetchRange([offset, end]: Span, file: RangedFile): Promise<void> {
  const exchange = new Exchange(file.context, file.url)
  const asked = { ...file.version, offset, end }
  let at = offset
  try {
    const response = await file.context.send(file.target, rangeHeaders(asked), exchange.signal)
    if (response.status === 200) throw fileChanged(response.url)
    if (response.status !== 206) throw new Error('no part was received')
    for await (const chunk of exchange.receive(response, deliveryOf(response, asked))) {
      await received(chunk, at, file, exchange)
      at += chunk.byteLength
    }
  } catch (error) {
    exchange.cancel()
    throw error
  } finally {
    exchange.end()
    await file.part.flush()
  }
}

async function received(chunk: Uint8Array, at: number, { part, came }: RangedFile, exchange: Exchange): Promise<void> {
  const room = part.write(at, chunk)
  came(chunk.byteLength)
  if (room) await exchange.waiting(room)
}

/** Waits for a slot; returns false if the signal ends the wait. Errors: those of the limiter. */
async function isEntered(limiter: RequestLimiter, origin: string, end: AbortSignal): Promise<boolean> {
  try {
    await limiter.enter(origin, end)
    return true
  } catch (error) {
    if (end.aborted) return false
    throw error
  }
}
