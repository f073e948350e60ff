/**
 * Runs every `scripts/generate-*.ts`. With `--check` each of them compares instead of writing and fails on a difference.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { generators } from './generators.ts'

const scripts = new URL('.', import.meta.url)
const failed = generators().filter((name) => {
  const path = fileURLToPath(new URL(name, scripts))
  return spawnSync(process.execPath, ['--import', 'tsx', path, ...process.argv.slice(2)], { stdio: 'inherit' }).status !== 0
})

for (const name of failed) console.error(`${name}: ${process.argv.includes('--check') ? 'out of date, run npm run generate' : 'failed'}`)
process.exitCode = failed.length ? 1 : 0
