/** Turns each guard of `test/mutation/guards.ts` off, one at a time, and checks that its test fails then, and passes otherwise. */
import { GUARDS } from '../../test/mutation/guards.ts'
import { refuse } from '../command-line.ts'
import { guardMutants } from './guard-mutants.ts'
import { ROOT, runJob } from './run-job.ts'

if (process.argv.length > 2) refuse('npm run test:guards takes no arguments: it tries every guard')

const begin = Date.now()
const { sources, guardOf, problems: misplaced } = guardMutants(ROOT)
const problems = [...misplaced]

const mutants = [...guardOf].map(([id, { test: file, title }]) => ({ id, tests: [{ file, title }] }))
const titles = GUARDS.map(({ test: file, title }) => ({ file, title }))
const tests = [...new Set(GUARDS.map(({ test }) => test))]
const { failed, ran, mutants: done } = await runJob({ sources, tests, titles, mutants })
problems.push(...failed.map((title) => `fails although all guards are on: ${title}`))
if (failed.length === 0)
  for (const [id, { id: guard, test, title }] of guardOf) {
    if (!ran.includes(`${test}: ${title}`)) problems.push(`${guard}: no test is called "${title}" in ${test}`)
    else if (!['killed', 'timeout'].includes(done.get(id)?.status ?? '')) problems.push(`${guard}: its test passes without it: ${title}`)
  }

for (const problem of problems) console.log(problem)
console.log(`${GUARDS.length} guards, ${problems.length} problems, ${Math.round((Date.now() - begin) / 1000)} s`)
process.exitCode = problems.length > 0 ? 1 : 0
