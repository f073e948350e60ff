import type { Io } from './io.ts'
import { LiveBlock } from './live-block.ts'

/** Milliseconds between updates. */
const EVERY = 200

/** One line on a terminal that says how far a command is, redrawn at most five times a second; nothing without a terminal. */
export class LiveLine {
  readonly #block: LiveBlock
  #shown = Number.NEGATIVE_INFINITY

  constructor(io: Pick<Io, 'env' | 'stderr'>) {
    this.#block = new LiveBlock(io)
  }

  /** Replaces the line by a text that fits the width. */
  show(textFor: (width: number) => string): void {
    const now = performance.now()
    if (!this.#block.isOn || now - this.#shown < EVERY) return
    this.#shown = now
    this.#block.show([textFor(this.#block.width)])
  }

  /** Removes the line. */
  end(): void {
    this.#block.clear()
  }
}
