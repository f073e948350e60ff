/** What all generators share: write a file, or only say that it is stale. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** True when the script was started with `--check`. */
export function checkOnly(): boolean {
  return process.argv.includes('--check')
}

/** Writes the text when it differs from the file; with `check` it writes nothing and makes the exit code 1 instead. */
export function emit(file: URL, text: string, check: boolean): void {
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return
  if (check) {
    console.error(`${fileURLToPath(file)} is stale`)
    process.exitCode = 1
    return
  }
  mkdirSync(new URL('.', file), { recursive: true })
  writeFileSync(file, text)
}
