/** Counts the files of a download for those who watch its queue. */

import type { DownloadEvent } from '../download/download.ts'
import type { DownloadProgress } from './queue-processes.ts'

/** Milliseconds over which rates are measured. */
const WINDOW = 10_000

export class DownloadTally {
  /** True once all inputs are read. */
  isComplete = false
  #total = 0
  #done = 0
  #failed = 0
  /** Bytes of files that are written. */
  #bytes = 0
  /** Bytes of files that are being written, by number. */
  readonly #running = new Map<number, number>()
  #samples: { readonly at: number; readonly files: number; readonly bytes: number }[] = []

  add(event: DownloadEvent): void {
    if (event.kind === 'planned') this.#total++
    else if (event.kind === 'progress') this.#running.set(event.file.number, event.bytes)
    else if (event.kind === 'written' || event.kind === 'kept' || event.kind === 'skipped' || event.kind === 'failed') {
      this.#running.delete(event.file.number)
      if (event.kind === 'failed') this.#failed++
      else this.#done++
      if (event.kind === 'written') this.#bytes += event.bytes
    }
  }

  /** Returns the progress at a time in milliseconds. */
  progress(now: number): DownloadProgress {
    const files = this.#done + this.#failed
    const bytes = [...this.#running.values()].reduce((sum, running) => sum + running, this.#bytes)
    this.#samples = [...this.#samples.filter(({ at }) => at > now - WINDOW), { at: now, files, bytes }]
    const [first] = this.#samples
    const seconds = first ? (now - first.at) / 1000 : 0
    const rateOf = (name: 'files' | 'bytes', amount: number) =>
      first && seconds > 0 ? Math.round((Math.max(0, amount - first[name]) * 10) / seconds) / 10 : 0
    const filesPerSecond = rateOf('files', files)
    return {
      total: this.#total,
      isComplete: this.isComplete,
      done: this.#done,
      failed: this.#failed,
      filesPerSecond,
      bytesPerSecond: rateOf('bytes', bytes),
      ...(this.isComplete && filesPerSecond > 0 && { secondsLeft: Math.ceil((this.#total - files) / filesPerSecond) }),
    }
  }
}
