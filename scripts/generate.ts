/**
 * Runs every `scripts/generate-*.ts`. With `--check` each of them compares instead of writing and fails on a difference.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { commandLine, refuse } from './command-line.ts'
import { generators } from './generators.ts'

const { values, positionals } = commandLine('npm run generate [-- --check]', { check: { type: 'boolean' } })
if (positionals.length > 0) refuse(`unknown argument: ${positionals.join(', ')}. Usage: npm run generate [-- --check]`)

const scripts = new URL('.', import.meta.url)
const failed = generators().filter((name) => {
  const path = fileURLToPath(new URL(name, scripts))
  return spawnSync(process.execPath, ['--import', 'tsx', path, ...(values.check ? ['--check'] : [])], { stdio: 'inherit' }).status !== 0
})

for (const name of failed) console.error(`${name}: ${values.check ? 'out of date, run npm run generate' : 'failed'}`)
process.exitCode = failed.length ? 1 : 0
