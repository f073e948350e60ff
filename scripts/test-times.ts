/**
 * Writes `test/slow.json`, the test files that `npm run test:quick` leaves out: those whose tests took half a second or more.
 * `npm run test:times` runs all tests once. Run it on a machine that does nothing else.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, sep } from 'node:path'

const SLOW_MS = 500
const folder = mkdtempSync(join(tmpdir(), 'stac-auth-times-'))

interface Report {
  testResults: { name: string; assertionResults: { duration?: number }[] }[]
}

try {
  const report = join(folder, 'report.json')
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=json', `--outputFile=${report}`]
  const { status } = spawnSync(process.execPath, vitest, { stdio: 'inherit' })
  if (status !== 0) throw new Error('tests failed: a list is made of a run that passes')
  const times = new Map<string, number>()
  for (const { name, assertionResults } of (JSON.parse(readFileSync(report, 'utf8')) as Report).testResults) {
    const file = relative('.', name).split(sep).join('/')
    const took = assertionResults.reduce((sum, { duration = 0 }) => sum + duration, 0)
    // A file that two projects run counts as its slower run.
    if (!file.startsWith('test/package/')) times.set(file, Math.max(times.get(file) ?? 0, took))
  }
  const slow = [...times].filter(([, took]) => took >= SLOW_MS).map(([file]) => file)
  writeFileSync('test/slow.json', `${JSON.stringify(slow.sort(), null, 2)}\n`)
  console.log(`test/slow.json: ${slow.length} of ${times.size} files`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
