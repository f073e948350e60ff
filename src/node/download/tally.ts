import type { AuthError } from '../../errors.ts'
import type { DownloadEvent, SummaryEvent } from './events.ts'

/** Counts what is told. */
export class Tally {
  readonly #start = performance.now()
  #files = 0
  #written = 0
  #kept = 0
  #failed = 0
  #skipped = 0
  #documents = 0
  #bytes = 0
  #received = 0
  #retries = 0

  count(event: DownloadEvent): void {
    if (event.kind === 'planned') this.#files++
    else if (event.kind === 'retry') this.#retries++
    else if (event.kind === 'document') this.#documents += event.error ? 0 : 1
    else if (event.kind === 'failed') {
      this.#failed++
      this.#received += event.received
    } else if (event.kind === 'skipped') {
      this.#skipped++
      this.#received += event.received
    } else if (event.kind === 'written') {
      this.#written++
      this.#bytes += event.bytes
      this.#received += event.received
    } else if (event.kind === 'kept') {
      this.#kept++
      this.#bytes += event.bytes
    }
  }

  summary(stopped?: AuthError): SummaryEvent {
    return {
      kind: 'summary',
      files: this.#files,
      written: this.#written,
      kept: this.#kept,
      failed: this.#failed,
      skipped: this.#skipped,
      documents: this.#documents,
      bytes: this.#bytes,
      received: this.#received,
      retries: this.#retries,
      milliseconds: Math.round(performance.now() - this.#start),
      ...(stopped && { stopped }),
    }
  }
}
