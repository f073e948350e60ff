/** Programs that print keys: `credential_process` of a profile, as the tools of AWS run them. */
import type { S3Keys } from '../platform/platform.ts'
import { isObject } from '../stac/json.ts'
import { keysIn } from '../strategies/s3/key-answer.ts'
import { programError, runProgram } from './run-program.ts'

const HINT = 'run it yourself: it must print {"Version": 1, "AccessKeyId": …, "SecretAccessKey": …} and end with exit code 0'

/**
 * The keys that the program of a profile prints; started directly, with the words of its line as arguments, nothing in it is expanded.
 *
 * Errors: `CREDENTIAL_SOURCE` with the program's name and what it did wrong, never with its output or arguments.
 */
export async function keysOfProcess(line: string): Promise<S3Keys> {
  const words = wordsOf(line)
  const [program = ''] = words ?? []
  if (!words || !program) throw programError('of credential_process', 'cannot be told from its arguments', 'check the quotes in its line')
  const answer = parsed(await runProgram(words, HINT))
  if (!isObject(answer) || answer.Version !== 1) throw programError(program, 'printed no JSON of version 1', HINT)
  const keys = keysIn(answer)
  if (!keys) throw programError(program, 'printed no keys that can be used', HINT)
  return keys
}

const WORD = /((?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+)(?:\s+|$)/y
/** Backslashes part folders there. */
const WINDOWS_WORD = /((?:[^\s"]|"[^"]*")+)(?:\s+|$)/y

/** The words of a command line, split as shells do without expanding anything; undefined where a quote is left open. */
export function wordsOf(line: string, windows = process.platform === 'win32'): readonly string[] | undefined {
  const text = line.trim()
  const pattern = new RegExp(windows ? WINDOWS_WORD : WORD)
  const words: string[] = []
  while (pattern.lastIndex < text.length) {
    const word = pattern.exec(text)?.[1]
    if (word === undefined) return undefined
    words.push(windows ? word.replaceAll('"', '') : unquoted(word))
  }
  return words
}

/** In double quotes a backslash is one, unless it stands before a quote or another. */
function unquoted(word: string): string {
  return word.replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/g, (_, double?: string, single?: string, escaped?: string) =>
    double === undefined ? (single ?? escaped ?? '') : double.replace(/\\(["\\$`])/g, '$1'),
  )
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}
