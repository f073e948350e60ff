/** Fetches a large file by concurrent range requests, from its beginning on, so that hashing keeps up. */

import { performance } from 'node:perf_hooks'
import { isAuthError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { sleep } from '../../net/cancellation.ts'
import { systemClock } from '../../net/clock.ts'
import { type Asked, type Delivery, deliveryOf, Exchange, fileChanged, rangeHeaders } from './answer.ts'
import type { FileState } from './attempt.ts'
import type { DownloadContext, RequestLimiter } from './download-context.ts'
import type { Span } from './part-journal.ts'

/** Bytes per write. Each request can lose that many when the process is killed. */
const WRITTEN = 2 ** 19

/** The state that all requests for one file share. */
export interface Shared {
  readonly state: FileState
  readonly context: DownloadContext
  /** Size of the file in bytes. */
  readonly size: number
  readonly validator: string
  /** The `Last-Modified` of this version, if it is a strong validator. */
  readonly modified?: string
  /** Origin of the requests. */
  readonly origin: string
  /** Sends one more request for the same file. */
  send(headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<HttpResponse>
  /** Called when bytes arrived. */
  came(bytes: number): void
}

/** Returns true if the file is large enough and its server and version allow it, and always if it has separate ranges already. */
export function isShareable(
  { offersParts, validator, offset }: Delivery,
  size: number | undefined,
  { state, context }: Pick<Shared, 'state' | 'context'>,
) {
  if (size === undefined || validator === undefined || !state.content.version) return false
  const isSparse = state.content.total > state.content.length
  const { ranges, largeFrom } = context.settings
  return isSparse || (offersParts && ranges > 1 && size - offset >= largeFrom)
}

/**
 * Returns the end of the first range request. If helpers fetch the ranges behind it, a longer response would be wasted: bytes in flight are
 * lost when a request is aborted.
 */
export function endOfFirst(size: number, { state: { content, alone }, context }: Pick<Shared, 'state' | 'context'>): number {
  const { length, total } = content
  const end = content.missing(size)[0]?.[1] ?? size
  const { ranges, largeFrom, largestRange } = context.settings
  const isHelped = ranges > 1 && !alone && (total > length || size - length >= largeFrom)
  return isHelped ? Math.min(end, length + largestRange) : end
}

/**
 * Reads the body of a response up to its end or up to a range that a helper has taken, then continues range by range like the helpers. What a
 * helper did not receive is left to the next attempt.
 *
 * Errors: those of the first request; `FILE_CHANGED`.
 */
export async function receiveShared(response: HttpResponse, delivery: Delivery, exchange: Exchange, shared: Shared): Promise<void> {
  const { content } = shared.state
  /** Bytes of another version are useless. */
  const endOthers = (cause: unknown): never => {
    if (isAuthError(cause) && cause.code === 'FILE_CHANGED') exchange.cancel()
    throw cause
  }
  await content.flush()
  await content.spread()
  const pieces = new Pieces(content.missing(shared.size), shared.context.settings.largestRange)
  const reading = failureOf(readOn(response, delivery, exchange, pieces, shared))
  const leading = reading.then((failure) => (failure === undefined ? takePieces(pieces, shared) : undefined))
  const spare = shared.context.settings.rangesGiven ? undefined : new EventLoopLoad()
  const others = Array.from({ length: shared.context.settings.ranges - 1 }, () => help(pieces, shared, failureOf(leading), spare))
  const helpers = [leading, ...others].map((helper) => failureOf(helper.catch(endOthers)))
  const [read, led, ...helped] = await Promise.all([reading, ...helpers])
  const error = [led, ...helped].find((problem) => isAuthError(problem) && problem.code === 'FILE_CHANGED') ?? read
  if (error !== undefined) throw error
  if (content.missing(shared.size).length === 0) return
  // If no helper got its range, the next attempt reports the reason.
  if (pieces.fetched === 0 && [led, ...helped].some((problem) => problem !== undefined)) shared.state.alone = true
}

/** Reads range after range from the start of the body, while they are free. */
async function readOn(response: HttpResponse, delivery: Delivery, exchange: Exchange, pieces: Pieces, shared: Shared): Promise<void> {
  let at = delivery.offset
  const end = delivery.length === undefined ? shared.size : at + delivery.length
  let piece = pieces.takeAt(at)
  const writer = new Writer(at, shared)
  try {
    for await (const chunk of exchange.receive(response, delivery)) {
      let rest = chunk
      while (piece && rest.byteLength > 0) {
        const part = rest.subarray(0, piece[1] - at)
        rest = rest.subarray(part.byteLength)
        at += part.byteLength
        await writer.add(part)
        if (at === piece[1]) piece = at < end ? pieces.takeAt(at) : undefined
      }
      if (!piece && at < end) break
    }
  } finally {
    await writer.flush()
  }
  if (at < end) exchange.cancel()
}

/** Fetches range after range. Errors: what ends it; the rest of its range stays free. */
async function takePieces(pieces: Pieces, shared: Shared): Promise<void> {
  while (await takePiece(pieces, shared));
}

/** The same, while there is time and a free slot for one more request before the first one ends. */
async function help(pieces: Pieces, shared: Shared, leading: Promise<unknown>, spare?: EventLoopLoad): Promise<void> {
  const { limiter } = shared.context.origins
  for (let isIn = false; ; isIn = true) {
    if (spare && !(isIn && spare.isIdle()) && !(await spare.untilIdle(leading))) return
    if (!(await isLetIn(limiter, shared.origin, leading, shared.context.signal))) return
    try {
      if (!(await takePiece(pieces, shared))) return
    } finally {
      limiter.leave(shared.origin)
    }
  }
}

/** Returns false if no range is free. */
async function takePiece(pieces: Pieces, shared: Shared): Promise<boolean> {
  const piece = shared.state.alone ? undefined : pieces.takeFirst()
  if (!piece) return false
  const { validator, modified, size } = shared
  await fetchPiece({ offset: piece[0], end: piece[1], validator, ...(modified !== undefined && { modified }), size }, shared)
  pieces.fetched++
  return true
}

/**
 * Waits for a slot until the leading request ends, and gives back one that comes later. A caller that waits for all helpers while they wait
 * for its own slot would never continue.
 */
export async function isLetIn(limiter: RequestLimiter, origin: string, leading: Promise<unknown>, signal?: AbortSignal): Promise<boolean> {
  const entered = limiter.enter(origin, signal)
  if (!entered) return true
  const isIn = await Promise.race([entered.then(() => true), leading.then(() => false)])
  if (!isIn)
    void entered.then(
      () => limiter.leave(origin),
      // What was refused has no slot.
      () => undefined,
    )
  return isIn
}

async function fetchPiece(asked: Asked, shared: Shared): Promise<void> {
  const exchange = new Exchange(shared.context, shared.state.file.url)
  const writer = new Writer(asked.offset, shared)
  try {
    const response = await shared.send(rangeHeaders(asked), exchange.signal)
    if (response.status === 200) throw fileChanged(response.url)
    if (response.status !== 206) throw new Error('no part was received')
    const delivery = deliveryOf(response, asked)
    for await (const chunk of exchange.receive(response, delivery)) await writer.add(chunk)
  } catch (error) {
    exchange.cancel()
    throw error
  } finally {
    await writer.flush()
    exchange.end()
  }
}

/** Writes consecutive bytes in large blocks: one is written while the next one is received. */
class Writer {
  readonly #shared: Shared
  #offset: number
  #waiting: Uint8Array[] = []
  #size = 0
  #writing: Promise<void> = Promise.resolve()

  constructor(offset: number, shared: Shared) {
    this.#offset = offset
    this.#shared = shared
  }

  /** Appends bytes. Errors: those of writing. */
  async add(chunk: Uint8Array): Promise<void> {
    this.#waiting.push(chunk)
    this.#size += chunk.byteLength
    this.#shared.came(chunk.byteLength)
    if (this.#size < WRITTEN) return
    await this.#writing
    this.#begin()
  }

  /** Writes the rest. Errors: those of writing. */
  async flush(): Promise<void> {
    await this.#writing
    if (this.#size > 0) this.#begin()
    await this.#writing
  }

  #begin(): void {
    this.#writing = this.#shared.state.content.writeAt(this.#offset, this.#waiting)
    // The next write or wait reports it.
    this.#writing.catch(() => undefined)
    this.#offset += this.#size
    this.#waiting = []
    this.#size = 0
  }
}

/** Returns the error of a promise; undefined without one. */
function failureOf(running: Promise<void>): Promise<unknown> {
  return running.then(
    () => undefined,
    (error: unknown) => error ?? new Error('no reason'),
  )
}

/** The missing ranges of a file, taken one at a time. */
class Pieces {
  readonly #free: Span[]
  /** Number of ranges that helpers have fetched. */
  fetched = 0

  constructor(missing: readonly Span[], largest: number) {
    this.#free = missing.flatMap(([start, end]) =>
      Array.from({ length: Math.ceil((end - start) / largest) }, (_, index): Span => {
        const from = start + index * largest
        return [from, Math.min(from + largest, end)]
      }),
    )
  }

  /** Takes the range that begins at that offset, if it is free, to continue reading. */
  takeAt(start: number): Span | undefined {
    const index = this.#free.findIndex(([from]) => from === start)
    return index < 0 ? undefined : this.#free.splice(index, 1)[0]
  }

  /** Takes the first free range, for a helper. */
  takeFirst(): Span | undefined {
    return this.#free.shift()
  }
}

/** Load of the thread, 0 to 1, above which no helper starts, and above which a running one stops. */
const BEGIN = 0.8

const GO_ON = 0.95

/** Shortest measurement in milliseconds. */
const SPELL = 100

const CLOCK = systemClock({ unref: true })

export class EventLoopLoad {
  #since = performance.eventLoopUtilization()
  #busy = 1

  /** Waits until one more helper may start, one after the other, because each changes the load. Returns false if the file ended before. */
  async untilIdle(over: Promise<unknown>): Promise<boolean> {
    while (!this.#look() || this.#busy > BEGIN) {
      const isOver = await Promise.race([over.then(() => true), sleep(SPELL, CLOCK).then(() => false)])
      if (isOver) return false
    }
    return true
  }

  /** Returns true if a running helper may continue. */
  isIdle(): boolean {
    this.#look()
    return this.#busy <= GO_ON
  }

  /** Returns false if too little time has passed for a new measurement. */
  #look(): boolean {
    const now = performance.eventLoopUtilization()
    const { idle, active } = performance.eventLoopUtilization(now, this.#since)
    if (idle + active < SPELL * 0.9) return false
    this.#since = now
    this.#busy = active / (idle + active)
    return true
  }
}
