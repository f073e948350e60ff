/**
 * Which test files are slow: those that start a process or a server, themselves or by a helper, and those that were measured to take half a
 * second or more (`test/times.json`). All others are the project `unit`.
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { TIMES } from './times.ts'

const STARTS = /'node:(?:child_process|dgram|https?|http2|net|tls)'/
const startsSomething = new Map<string, boolean>()

export function isSlow(path: string): boolean {
  return path in TIMES || starts(path)
}

function starts(path: string): boolean {
  const known = startsSomething.get(path)
  if (known !== undefined) return known
  // Modules that import each other.
  startsSomething.set(path, false)
  const text = readFileSync(path, 'utf8')
  const found = STARTS.test(text) || importsOf(path, text).some(starts)
  startsSomething.set(path, found)
  return found
}

/** The helpers among the tests that a file imports. */
function importsOf(path: string, text: string): readonly string[] {
  return [...text.matchAll(/(?<=')\.{1,2}\/[^']+\.ts(?=')/g)]
    .map(([name]) => join(dirname(path), name))
    .filter((name) => name.startsWith('test/') && !name.startsWith('test/setup/') && existsSync(name))
}
