/**
 * What is tried again, and who hears of it. By hand nothing is; in CI, which shares its machine with others, a test that fails is tried
 * once more. What is wrong fails twice. What passes then is a race that is still to be found: it is told at the end of the run.
 */
import type { Reporter, TestCase } from 'vitest/node'

export const retry = process.env.CI ? 1 : 0

export function retriesReporter(print = console.log): Reporter {
  const retried: TestCase[] = []
  return {
    onTestCaseResult(test) {
      if (test.diagnostic()?.retryCount && test.ok()) retried.push(test)
    },
    onTestRunEnd() {
      for (const test of retried) {
        const [error] = test.result().errors ?? []
        print(`tried again: ${test.project.name} ${test.module.relativeModuleId} > ${test.fullName}: ${error?.message ?? 'no error kept'}`)
      }
      if (retry) print(`tests that passed only when they were tried again: ${retried.length}`)
    },
  }
}
