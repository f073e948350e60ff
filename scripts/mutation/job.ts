/** What the process that runs the tests is told, and what it tells. */

/** A test by its file and its titles, joined by ` > `. */
export interface Wanted {
  readonly file: string
  readonly title: string
}

export interface Job {
  /** The folder of the project. */
  readonly root: string
  /** The file to which events are appended. */
  readonly events: string
  /** The file with what the run without mutants found; the first process writes it. */
  readonly baseline: string
  /** Sources by path, with their mutants. */
  readonly sources: Readonly<Record<string, string>>
  /** Test files, the closest first. */
  readonly tests: readonly string[]
  /** Runs these tests only. */
  readonly titles?: readonly Wanted[]
  /** The mutants to try in order, each with the tests to run; absent for all that cover it. */
  readonly mutants: readonly { readonly id: number; readonly isStatic?: boolean; readonly tests?: readonly Wanted[] }[]
  /** The number behind that of the last mutant. */
  readonly size: number
}

export type JobEvent =
  | { readonly kind: 'ready' }
  /** `limit`: milliseconds after which it counts as endless. */
  | { readonly kind: 'start'; readonly id: number; readonly limit: number }
  | MutantEvent
  | { readonly kind: 'end' }

/** The run of all tests without any mutant. */
export interface Baseline {
  readonly failed: readonly string[]
  readonly ran: readonly string[]
  /** The mutants that run outside any test of a file, or in a test, by their keys. */
  readonly covered: Readonly<Record<string, readonly number[]>>
  /** By the key of a test. */
  readonly usual: Readonly<Record<string, Usual>>
}

/** What a test takes. */
export interface Usual {
  readonly ms: number
  /** Calls of mutated places. */
  readonly calls: number
}

export interface MutantEvent {
  readonly kind: 'mutant'
  readonly id: number
  readonly status: 'killed' | 'survived' | 'not covered' | 'timeout'
  /** The test that failed, or did not end. */
  readonly by?: string
  readonly ms?: number
}

/** The path of the job. Errors: when the tests were not started by `run-job.ts`. */
export function jobPath(): string {
  const path = process.env.MUTATION_JOB
  if (!path) throw new Error('MUTATION_JOB is not set: start npm run test:mutation')
  return path
}
