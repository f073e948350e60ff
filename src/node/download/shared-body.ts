/** A large file by several requests at a time, from its beginning on, so that its hash need not wait for the end. */
import { isAuthError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { type Asked, type Delivery, deliveryOf, fileChanged, rangeHeaders } from './answer.ts'
import type { FileState } from './attempt.ts'
import { PIECE } from './content.ts'
import { Exchange } from './exchange.ts'
import { Pieces } from './pieces.ts'
import type { World } from './world.ts'

/** Bytes of a file for which it is worth it. */
const LARGE = 64 * 2 ** 20

/** What is common to all requests for one file. */
export interface Shared {
  readonly state: FileState
  readonly world: World
  /** Bytes of the whole. */
  readonly size: number
  readonly validator: string
  /** Where requests for it go. */
  readonly origin: string
  /** Sends one more request for the same file. */
  send(headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<HttpResponse>
  /** Bytes have come. */
  came(bytes: number): void
}

/** True when a file is large enough, and its server and its version allow it; and always where pieces of it are there already. */
export function isShareable(
  { offersParts, validator, offset }: Delivery,
  size: number | undefined,
  { state, world }: Pick<Shared, 'state' | 'world'>,
) {
  if (size === undefined || validator === undefined || !state.content.version) return false
  const isSparse = state.content.total > state.content.length
  return isSparse || (offersParts && world.settings.ranges > 1 && size - offset >= LARGE)
}

/**
 * Reads the body of an answer to its end or to where a piece is not free, and goes on piece after piece as its helpers do. What a
 * helper did not get is left for the next attempt.
 *
 * Errors: those of the first request; `FILE_CHANGED`.
 */
export async function receiveShared(response: HttpResponse, delivery: Delivery, exchange: Exchange, shared: Shared): Promise<void> {
  const { content } = shared.state
  /** Of another version nothing is of use. */
  const endOthers = (error: unknown): never => {
    if (isAuthError(error) && error.code === 'FILE_CHANGED') exchange.cancel()
    throw error
  }
  await content.flush()
  await content.toDisk()
  const pieces = new Pieces(content.missing(shared.size))
  const reading = failureOf(readOn(response, delivery, exchange, pieces, shared))
  const leading = reading.then((error) => (error === undefined ? takePieces(pieces, shared) : undefined))
  const others = Array.from({ length: shared.world.settings.ranges - 1 }, () => help(pieces, shared, failureOf(leading)))
  const helpers = [leading, ...others].map((helper) => failureOf(helper.catch(endOthers)))
  const [read, led, ...helped] = await Promise.all([reading, ...helpers])
  const error = [led, ...helped].find((problem) => isAuthError(problem) && problem.code === 'FILE_CHANGED') ?? read
  if (error !== undefined) throw error
  if (content.missing(shared.size).length === 0) return
  // With nobody left who helps, the next attempt says what is wrong.
  if (helped.length > 0 && helped.every((problem) => problem !== undefined)) shared.state.alone = true
}

/** From where the body begins, one piece after the other as long as they are free. */
async function readOn(response: HttpResponse, delivery: Delivery, exchange: Exchange, pieces: Pieces, shared: Shared): Promise<void> {
  let at = delivery.offset
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
        if (at === piece[1]) piece = pieces.takeAt(at)
      }
      if (!piece && at < shared.size) break
    }
  } finally {
    await writer.flush()
  }
  if (at < shared.size) exchange.cancel()
}

/** Piece after piece. Errors: what ends it; the rest of its piece is left. */
async function takePieces(pieces: Pieces, shared: Shared): Promise<void> {
  while (await takePiece(pieces, shared));
}

/** The same, as long as there is room for one more request before the first one is over. */
async function help(pieces: Pieces, shared: Shared, leading: Promise<unknown>): Promise<void> {
  const { gate } = shared.world.origins
  for (;;) {
    if (!(await isLetIn(shared, leading))) return
    try {
      if (!(await takePiece(pieces, shared))) return
    } finally {
      gate.leave(shared.origin)
    }
  }
}

/** False when none is free. */
async function takePiece(pieces: Pieces, shared: Shared): Promise<boolean> {
  const piece = shared.state.alone ? undefined : pieces.takeFirst()
  if (!piece) return false
  await fetchPiece({ offset: piece[0], end: piece[1], validator: shared.validator, size: shared.size }, shared)
  return true
}

/** Whoever waited for all helpers, and they for the room that it takes up itself, would wait for ever. */
async function isLetIn({ origin, world: { origins, signal } }: Shared, leading: Promise<unknown>): Promise<boolean> {
  const entered = origins.gate.enter(origin, signal)
  if (!entered) return true
  const isIn = await Promise.race([entered.then(() => true), leading.then(() => false)])
  const leave = () => origins.gate.leave(origin)
  if (!isIn) void entered.then(leave, leave)
  return isIn
}

async function fetchPiece(asked: Asked, shared: Shared): Promise<void> {
  const exchange = new Exchange(shared.world, shared.state.file.url)
  const writer = new Writer(asked.offset, shared)
  try {
    const response = await shared.send(rangeHeaders(asked), exchange.signal)
    if (response.status !== 206) {
      exchange.cancel()
      if (response.status === 200) throw fileChanged(response.url)
      throw new Error('no part came')
    }
    const delivery = deliveryOf(response, asked)
    for await (const chunk of exchange.receive(response, delivery)) await writer.add(chunk)
  } finally {
    await writer.flush()
    exchange.end()
  }
}

/** Bytes that come one after the other, written a MiB at a time. */
class Writer {
  readonly #shared: Shared
  #offset: number
  #waiting: Uint8Array[] = []
  #size = 0

  constructor(offset: number, shared: Shared) {
    this.#offset = offset
    this.#shared = shared
  }

  async add(chunk: Uint8Array): Promise<void> {
    this.#waiting.push(chunk)
    this.#size += chunk.byteLength
    this.#shared.came(chunk.byteLength)
    if (this.#size >= PIECE) await this.flush()
  }

  async flush(): Promise<void> {
    const [offset, chunks] = [this.#offset, this.#waiting]
    if (this.#size === 0) return
    this.#offset += this.#size
    this.#waiting = []
    this.#size = 0
    await this.#shared.state.content.writeAt(offset, chunks)
  }
}

/** Why it failed; undefined when it did not. */
function failureOf(running: Promise<void>): Promise<unknown> {
  return running.then(
    () => undefined,
    (error: unknown) => error ?? new Error('no reason'),
  )
}
