import type { Span } from './spans.ts'

/** Bytes of one piece at most: a part of a file that is asked for by itself. */
export const LARGEST_PIECE = 16 * 2 ** 20

/** What is missing of a file, in pieces that somebody takes in turn. */
export class Pieces {
  readonly #free: Span[]
  /** How many came by requests of their own. */
  fetched = 0

  constructor(missing: readonly Span[]) {
    this.#free = missing.flatMap(([start, end]) =>
      Array.from({ length: Math.ceil((end - start) / LARGEST_PIECE) }, (_, index): Span => {
        const from = start + index * LARGEST_PIECE
        return [from, Math.min(from + LARGEST_PIECE, end)]
      }),
    )
  }

  /** The piece that begins there, if it is free: for who reads on. */
  takeAt(start: number): Span | undefined {
    const index = this.#free.findIndex(([from]) => from === start)
    return index < 0 ? undefined : this.#free.splice(index, 1)[0]
  }

  /** The first one: for who comes to help. */
  takeFirst(): Span | undefined {
    return this.#free.shift()
  }
}
