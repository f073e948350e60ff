import type { Io } from '../io.ts'

/** Milliseconds between two looks. */
const EVERY = 200

/** A line on the terminal that says how far a crawl is; nothing anywhere else. */
export class Progress {
  readonly #io: Io
  readonly #isOn: boolean
  readonly #start = Date.now()
  #shown = 0
  #documents = 0
  #requests = 0
  #failures = 0

  constructor(io: Io) {
    this.#io = io
    this.#isOn = io.stderr.isTTY === true && io.env.TERM !== 'dumb'
  }

  /** Counts a request, the documents that came of it, and whether it failed. */
  add(documents: number, failed: boolean): void {
    this.#requests++
    this.#documents += documents
    if (failed) this.#failures++
    const now = Date.now()
    if (!this.#isOn || now - this.#shown < EVERY) return
    this.#shown = now
    const rate = Math.round((this.#documents * 1000) / Math.max(1, now - this.#start))
    const failures = this.#failures === 0 ? '' : `, ${this.#failures} not read`
    this.#io.stderr.write(`\r\x1b[K${this.#documents} documents in ${this.#requests} requests${failures}, ${rate}/s`)
  }

  /** Takes the line away. */
  end(): void {
    if (this.#isOn && this.#shown > 0) this.#io.stderr.write('\r\x1b[K')
  }
}
