/** Reads the login and the password of one machine from the user's netrc file, in the format that curl documents (CURLOPT_NETRC). */
import type { Stats } from 'node:fs'
import { shellWord } from '../../text/shell-word.ts'
import { readRegularFile } from '../base/files.ts'
import { isSecretPath, PATH_HINT, secretFilePath, secretText, sourceError } from './secret-source.ts'

/** Larger files are not netrc files. */
const MAX_BYTES = 1_048_576

/** What a machine asks for: `login` is the user name. */
export type NetrcField = 'login' | 'password'

/**
 * Returns the value of the first entry with a password for that machine, or of `default`, in the file that `NETRC` names, else in `~/.netrc`, on
 * Windows also `_netrc` in the same folder.
 *
 * Errors: `CREDENTIAL_SOURCE` for a file that is missing, malformed, of another user or accessible to others, and for a machine that it
 * does not have.
 */
export async function readNetrc(machine: string, field: NetrcField): Promise<string> {
  const { name, bytes } = await netrcFile()
  const entry = entryFor(secretText(bytes, `the netrc file ${name}`), machine)
  if (entry === 'malformed') throw sourceError(`the netrc file ${name} is malformed: a quoted string has no end`, 'close it with "')
  const value = entry?.[field]
  if (value !== undefined) return value
  const missing = entry ? `no ${field} for the machine "${machine}"` : `no machine "${machine}"`
  throw sourceError(`the netrc file ${name} has ${missing}`, `add the line: machine ${machine} login NAME password PASSWORD`)
}

async function netrcFile(): Promise<{ readonly name: string; readonly bytes: Uint8Array }> {
  const named = process.env.NETRC
  if (named && !isSecretPath(named)) throw sourceError(`the variable NETRC names the netrc file ${named} by a relative path`, PATH_HINT)
  const names = named ? [named] : process.platform === 'win32' ? ['~/.netrc', '~/_netrc'] : ['~/.netrc']
  for (const name of names) {
    const path = secretFilePath(name)
    const file = await readRegularFile(path, MAX_BYTES)
    if ('bytes' in file) {
      checkAccess(name, path, file.stats)
      return { name, bytes: file.bytes }
    }
    if (file.problem !== 'does not exist')
      throw sourceError(`the netrc file ${name} ${file.problem}`, `it must be a file of yours of at most ${MAX_BYTES} bytes`)
  }
  const place = named ? 'set NETRC to its path' : `create it, readable by you only, or name another source`
  throw sourceError(`the netrc file ${names.join(' or ')} does not exist`, place)
}

/** Refuses a file of another user, also behind a link, and one that others can read or write. Modes are not checked on Windows. */
function checkAccess(name: string, path: string, { mode, uid }: Stats): void {
  if (process.platform === 'win32') return
  if (uid !== process.geteuid?.() && uid !== 0)
    throw sourceError(`the netrc file ${name} belongs to another user`, 'use a file that you own')
  if (mode & 0o077) throw sourceError(`the netrc file ${name} is accessible to other users`, `chmod 600 ${shellWord(path)}`)
}

type Entry = { readonly machine?: string } & { [field in NetrcField]?: string }

/** Keywords that a value follows; that of `account` is not used. */
const WITH_VALUE = ['machine', 'login', 'password', 'account']

/** Returns the entry of a machine; undefined when there is none. */
export function entryFor(text: string, machine: string): Readonly<Entry> | 'malformed' | undefined {
  const entries: Entry[] = []
  let keyword: string | undefined
  let isMacro = false
  for (const line of text.split(/\r?\n/)) {
    // A macro ends with an empty line.
    if (isMacro) isMacro = line !== ''
    else {
      const words = wordsOf(line)
      if (!words) return 'malformed'
      for (const word of words) {
        const entry = entries.at(-1)
        if (keyword === 'machine') entries.push({ machine: word })
        else if ((keyword === 'login' || keyword === 'password') && entry) entry[keyword] ??= word
        const name: string | undefined = keyword === undefined ? word.toLowerCase() : undefined
        keyword = name !== undefined && WITH_VALUE.includes(name) ? name : undefined
        if (name === 'default') entries.push({})
        isMacro = name === 'macdef'
        if (isMacro) break
      }
    }
  }
  const fitting = entries.filter((entry) => entry.machine === undefined || entry.machine.toLowerCase() === machine.toLowerCase())
  return fitting.find(({ password }) => password !== undefined) ?? fitting[0]
}

/** A comment up to the end of the line, a quoted string, or a word. */
const WORD = /[^\S\n]*(?:#.*|"((?:[^"\\]|\\.)*)"|([^\s"#]\S*))/y

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }

/** Returns the words of a line, without comments; undefined for a quoted string without an end. */
function wordsOf(line: string): readonly string[] | undefined {
  const words: string[] = []
  WORD.lastIndex = 0
  for (let at = 0; line.slice(at).trim() !== ''; at = WORD.lastIndex) {
    const match = WORD.exec(line)
    if (!match) return undefined
    const [, quoted, word] = match
    if (quoted !== undefined) words.push(quoted.replace(/\\(.)/g, (_escape, character: string) => ESCAPES[character] ?? character))
    else if (word !== undefined) words.push(word)
  }
  return words
}
