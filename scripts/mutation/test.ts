/**
 * Makes small changes in the files whose checks matter most, one at a time, and runs the tests beside them: a change that no test notices
 * is a check without a test. Fails for a file below 90 %, and for each survivor that `test/mutation/explained.json` does not explain.
 *
 *     npm run test:mutation -- redactor url-pattern     only files whose path contains one of these words
 *     npm run test:mutation -- --jobs 3                 in three processes at once
 */
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { commandLine, refuse } from '../command-line.ts'
import { type Explained, explanationOf, unusedOf } from './explained.ts'
import { FILES } from './files.ts'
import { type Mutant, mutated } from './mutants.ts'
import { ROOT, runJob } from './run-job.ts'

const GOAL = 0.9

const USAGE = 'npm run test:mutation -- [--jobs 2] [part of a path ...]'
const { values, positionals: words } = commandLine(USAGE, { jobs: { type: 'string', default: '1' } })
const processes = Number(values.jobs)
if (!Number.isInteger(processes) || processes < 1) refuse(`--jobs ${values.jobs}: expected a whole number of processes, at least 1`)
const unknown = words.filter((word) => !Object.keys(FILES).some((path) => path.includes(word)))
const names = Object.keys(FILES).map((path) => basename(path, '.ts'))
if (unknown.length > 0) refuse(`no file of scripts/mutation/files.ts contains ${unknown.join(' or ')}. Files: ${names.join(', ')}`)
const paths = Object.keys(FILES).filter((path) => words.length === 0 || words.some((word) => path.includes(word)))
const explained: Explained = JSON.parse(readFileSync(join(ROOT, 'test/mutation/explained.json'), 'utf8'))

let isGood = true
const fail = (text: string) => {
  isGood = false
  console.log(text)
}

for (const path of paths) await test(path)
process.exitCode = isGood ? 0 : 1

async function test(path: string): Promise<void> {
  const begin = Date.now()
  const { mutants, code } = mutated(readFileSync(join(ROOT, path), 'utf8'))
  const job = { sources: { [path]: code }, tests: FILES[path] ?? [], mutants }
  const { failed, mutants: done } = await runJob(job, { processes, onProgress: progress(path) })
  clearLine()
  if (failed.length > 0) return fail(`${path}: tests fail without any change:\n  ${failed.join('\n  ')}`)
  const survivors = mutants.filter(({ id }) => ['survived', 'not covered'].includes(done.get(id)?.status ?? 'not covered'))
  const open = survivors.filter((mutant) => explanationOf(explained, path, mutant) === undefined)
  const killed = mutants.length - survivors.length
  // What nobody can notice does not count.
  const score = killed / (killed + open.length)
  const seconds = Math.round((Date.now() - begin) / 1000)
  const sums = `${killed} of ${mutants.length} killed, ${survivors.length - open.length} explained, ${seconds} s`
  const line = `${path}: ${(100 * score).toFixed(1)} % (${sums})`
  if (score < GOAL) fail(`${line}: below ${100 * GOAL} %`)
  else console.log(line)
  for (const mutant of open)
    fail(`  ${path}:${mutant.line} ${shown(mutant)}${done.get(mutant.id)?.status === 'not covered' ? ' (not covered)' : ''}`)
  for (const entry of unusedOf(explained, path, survivors)) console.log(`  explained and noticed now: ${entry.within}: ${entry.code}`)
}

function shown({ within, operator, code, becomes }: Mutant): string {
  return `${within || 'top level'}, ${operator}: ${code}  →  ${becomes || 'nothing'}`
}

/** On a terminal only. */
function progress(path: string): (text: string) => void {
  return process.stdout.isTTY ? (text) => process.stdout.write(`\r\x1b[K${path}: ${text}`) : () => undefined
}

function clearLine(): void {
  if (process.stdout.isTTY) process.stdout.write('\r\x1b[K')
}
