/**
 * Runs every `scripts/generate-*.ts`, in one process, since starting them takes longer than most of them run. With `--check` each of them
 * compares instead of writing and fails on a difference.
 */
import { readdirSync } from 'node:fs'

const scripts = new URL('.', import.meta.url)
const names = readdirSync(scripts).filter((name) => name.startsWith('generate-') && name.endsWith('.ts'))
const failed: string[] = []
for (const name of names.sort()) {
  process.exitCode = undefined
  try {
    await import(new URL(name, scripts).href)
  } catch (error) {
    console.error(error)
    process.exitCode = 1
  }
  if (process.exitCode) failed.push(name)
}

for (const name of failed) console.error(`${name}: ${process.argv.includes('--check') ? 'out of date, run npm run generate' : 'failed'}`)
process.exitCode = failed.length > 0 ? 1 : 0
