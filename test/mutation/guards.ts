/** Checks on which the promises of SECURITY.md stand, and for each the change that turns it off and a test that fails then. */
import { LOCAL_GUARDS } from './local-guards.ts'
import { REQUEST_GUARDS } from './request-guards.ts'

export interface Guard {
  readonly id: string
  /** What it prevents, as a sentence. */
  readonly promise: string
  readonly file: string
  /** The function that contains it. */
  readonly within: string
  /** The expression or statement that checks, on one line, and what turns it off: a mutant of the file. */
  readonly code: string
  readonly becomes: string
  /** The test that fails without the check: its file, and its titles joined by ` > `. */
  readonly test: string
  readonly title: string
}

export const GUARDS: readonly Guard[] = [...REQUEST_GUARDS, ...LOCAL_GUARDS]
