import type { DownloadEvent, ProgressEvent } from './events.ts'

/** Events that wait for whoever listens; of the progress of a file only the latest does. */
export class EventQueue {
  #events: DownloadEvent[] = []
  readonly #progress = new Map<number, ProgressEvent>()
  #isOver = false
  #error: unknown
  readonly #taken: () => void
  #wake: () => void = () => {}

  /** @param taken hears that events were taken, so that there is room again */
  constructor(taken: () => void) {
    this.#taken = taken
  }

  /** Many wait already: whoever can should begin nothing new. */
  get isFull(): boolean {
    return this.#events.length > MOST
  }

  tell(event: DownloadEvent): void {
    if (event.kind === 'progress') {
      this.#progress.set(event.file.number, event)
    } else {
      if ('file' in event) this.#flush(event.file.number)
      this.#events.push(event)
    }
    this.#wake()
  }

  /** Nothing more will come; with an error, which whoever listens gets after the last event. */
  end(error?: unknown): void {
    this.#isOver = true
    this.#error = error
    this.#wake()
  }

  /** All events, in their order. */
  async *[Symbol.asyncIterator](): AsyncGenerator<DownloadEvent, void> {
    for (;;) {
      for (const number of [...this.#progress.keys()]) this.#flush(number)
      const events = this.#events
      this.#events = []
      if (events.length > 0) this.#taken()
      yield* events
      if (this.#events.length > 0 || this.#progress.size > 0) continue
      if (this.#isOver) break
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    if (this.#error !== undefined) throw this.#error
  }

  #flush(number: number): void {
    const event = this.#progress.get(number)
    if (!event) return
    this.#progress.delete(number)
    this.#events.push(event)
  }
}

const MOST = 1000
