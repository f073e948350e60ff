/**
 * How long the test files take: `test/times.json` has the seconds of those that take half a second or more, hooks included. Runs begin with
 * the longest, and the project `unit` has none of them. With `TIMES=1` a run writes the file.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { BaseSequencer, type Reporter, type TestModule, type TestSpecification } from 'vitest/node'

const FILE = new URL('../times.json', import.meta.url)
const SLOW_SECONDS = 0.5

/** Seconds by path. A new file is quick until it is measured. */
export const TIMES: Readonly<Record<string, number>> = JSON.parse(readFileSync(FILE, 'utf8'))

/** Begins with what takes longest, in each project: else it may run alone at the end. Vitest itself knows times only of the same clone. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const projects = [...new Set(sorted.map(({ project }) => project))]
    const seconds = ({ moduleId, project }: TestSpecification) => TIMES[moduleId.slice(project.config.root.length + 1)] ?? 0
    return projects.flatMap((one) => sorted.filter(({ project }) => project === one).sort((a, b) => seconds(b) - seconds(a)))
  }
}

/** Replaces the times of the files that ran. A file that several projects run counts as its slowest run. */
export const timesReporter: Reporter = {
  onTestRunEnd(modules: readonly TestModule[], _errors: unknown, reason: string): void {
    if (reason !== 'passed') throw new Error('tests failed: times are written of a run that passes')
    const ran = new Map<string, number>()
    for (const module of modules) {
      const path = module.relativeModuleId
      ran.set(path, Math.max(ran.get(path) ?? 0, Math.round(module.diagnostic().duration / 100) / 10))
    }
    const kept = Object.entries(TIMES).filter(([path]) => !ran.has(path) && existsSync(new URL(`../${path}`, FILE)))
    const slow = [...kept, ...[...ran].filter(([, seconds]) => seconds >= SLOW_SECONDS)].sort(([one], [other]) => (one < other ? -1 : 1))
    writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(slow), null, 2)}\n`)
    console.log(`test/times.json: ${slow.length} files take ${SLOW_SECONDS} s or more`)
  },
}
