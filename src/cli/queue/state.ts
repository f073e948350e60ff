/** What a queue does, in words. */
import { plural } from '../../lint/reporters/report.ts'
import { type QueueState, tellProblems } from '../../node/queue/index.ts'
import { forLine } from '../../text/sanitize.ts'
import type { Diagnostics } from '../io.ts'

/** `3 workers (0.1.0)`; with their numbers where there are several versions: `3 workers (2 of 0.1.0, 1 of 0.2.0)`. */
export function workersText(versions: QueueState['workers']): string {
  const counts = Object.entries(versions)
  const total = counts.reduce((sum, [, count]) => sum + count, 0)
  const names = counts.map(([version, count]) => (counts.length === 1 ? forLine(version) : `${count} of ${forLine(version)}`))
  return `${plural(total, 'worker')}${names.length === 0 ? '' : ` (${names.join(', ')})`}`
}

/** Says what a server with that `maxmemory-policy` does. */
export function evictionText(policy: string): string {
  return `drops entries when its memory is full (maxmemory-policy ${forLine(policy)})`
}

export const KEEP_ALL = 'set maxmemory-policy noeviction in its configuration'

/** Returns a listener that warns of problems, and shows the workers beside the progress. */
export function progressOfState(progress: { queue: string }, { warn }: Diagnostics): (state: QueueState) => void {
  const told = tellProblems(warn)
  return (state) => {
    progress.queue = state.paused ? 'paused' : workersText(state.workers)
    told(state)
  }
}
