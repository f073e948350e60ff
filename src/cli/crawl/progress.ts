import type { Io } from '../io.ts'
import { LiveBlock } from '../live-block.ts'

/** Milliseconds between two looks. */
const EVERY = 200

/** A line on the terminal that says how far a crawl is; nothing anywhere else. */
export class Progress {
  readonly #block: LiveBlock
  readonly #start = Date.now()
  #shown = 0
  #documents = 0
  #requests = 0
  #failures = 0

  constructor(io: Io) {
    this.#block = new LiveBlock(io)
  }

  /** Counts a request, the documents that came of it, and whether it failed. */
  add(documents: number, failed: boolean): void {
    this.#requests++
    this.#documents += documents
    if (failed) this.#failures++
    const now = Date.now()
    if (!this.#block.isOn || now - this.#shown < EVERY) return
    this.#shown = now
    const rate = Math.round((this.#documents * 1000) / Math.max(1, now - this.#start))
    const failures = this.#failures === 0 ? '' : `, ${this.#failures} not read`
    const text = `${this.#documents} documents in ${this.#requests} requests${failures}, ${rate}/s`
    this.#block.show([text.slice(0, this.#block.width)])
  }

  /** Takes the line away. */
  end(): void {
    this.#block.clear()
  }
}
