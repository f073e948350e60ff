import type { DownloadEvent, Verification } from '../../node/download/index.ts'

/** Files of one outcome. */
export interface Count {
  files: number
  bytes: number
  /** How many were compared how; the strongest way counts, `nothing` where there was nothing to compare with. */
  readonly verified: Map<Verification | 'nothing', number>
}

const STRENGTH: readonly Verification[] = ['checksum', 'digest', 'server', 'manifest', 'size', 'length']

/** What has come of a download so far. */
export class Totals {
  readonly written = count()
  readonly kept = count()
  failed = 0
  skipped = 0
  /** Files that an interruption stopped, and bytes of them that need not be asked for again. */
  stopped = 0
  resumable = 0
  planned = 0
  documents = 0
  received = 0
  retries = 0
  readonly #start = performance.now()

  get milliseconds(): number {
    return performance.now() - this.#start
  }

  add(event: DownloadEvent): void {
    if (event.kind === 'planned') this.planned++
    else if (event.kind === 'retry') this.retries++
    else if (event.kind === 'document') this.documents += event.error ? 0 : 1
    else if (event.kind === 'failed') {
      this.received += event.received
      this.resumable += event.resumable
      if (event.error.code === 'ABORTED') this.stopped++
      else this.failed++
    } else if (event.kind === 'skipped') {
      this.skipped++
      this.received += event.received
    } else if (event.kind === 'written' || event.kind === 'kept') {
      if (event.kind === 'written') this.received += event.received
      const { verified, ...sums } = this[event.kind]
      const strongest = STRENGTH.find((way) => event.verified.includes(way)) ?? 'nothing'
      verified.set(strongest, (verified.get(strongest) ?? 0) + 1)
      Object.assign(this[event.kind], { files: sums.files + 1, bytes: sums.bytes + event.bytes })
    }
  }
}

function count(): Count {
  return { files: 0, bytes: 0, verified: new Map() }
}
