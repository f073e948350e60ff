/** Runs generated cases of one subject and says what is wrong with the first that fails, made as small as possible. */
import fc from 'fast-check'
import { isAuthError } from '../../src/errors.ts'

/** What is tested with generated input. */
export interface Subject {
  /** A sentence that continues "any …". */
  readonly name: string
  /** Share of all cases. */
  readonly share: number
  run(cases: number, seed: number): Promise<string | undefined>
}

/**
 * Time of one case in milliseconds. Only a case that took longer is run again and its CPU time read, which a busy machine does not change:
 * reading it takes longer than most cases.
 */
const MOST = 100
const TRIES = 3

/**
 * A subject from an arbitrary and a check that throws, or returns a problem. An `AuthError` is a refusal: `check` looks at what it refuses
 * where that matters. Every other error is a failure.
 */
export function subject<T>(
  name: string,
  share: number,
  arbitrary: fc.Arbitrary<T>,
  check: (value: T) => string | undefined | Promise<string | undefined>,
): Subject {
  const problemOf = async (value: T): Promise<string | undefined> => {
    try {
      return await check(value)
    } catch (error) {
      if (isAuthError(error)) return undefined
      return `threw ${error instanceof Error ? error.stack : String(error)}`
    }
  }
  const timed = async (value: T): Promise<string | undefined> => {
    const start = Date.now()
    const first = await problemOf(value)
    if (first !== undefined || Date.now() - start < MOST) return first
    for (let attempt = 1; ; attempt++) {
      const before = process.cpuUsage()
      const problem = await problemOf(value)
      const { user, system } = process.cpuUsage(before)
      const milliseconds = (user + system) / 1000
      if (problem !== undefined || milliseconds <= MOST) return problem
      if (attempt === TRIES) return `took ${Math.round(milliseconds)} ms`
    }
  }
  const run = async (cases: number, seed: number) => {
    const property = fc.asyncProperty(arbitrary, async (value) => {
      const problem = await timed(value)
      if (problem !== undefined) throw new Error(problem)
    })
    const { failed, counterexample, errorInstance, counterexamplePath } = await fc.check(property, { numRuns: cases, seed })
    if (!failed) return undefined
    const why = errorInstance instanceof Error ? errorInstance.message : String(errorInstance)
    return `${fc.stringify(counterexample)} (seed ${seed}, path ${counterexamplePath}): ${why}`
  }
  return { name, share, run }
}
