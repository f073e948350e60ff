/** Edits the user's credential file after a confirmation, and keeps its formatting. */

import { type FileHandle, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { CredentialObject, CredentialSet } from '../../auth/credential.ts'
import { type AuthError, ConfigurationError, IntegrityError, isAuthError } from '../../errors.ts'
import { folderHint, makeFolder, replaceAlone, systemCode, writeFailure } from '../../node/base/index.ts'
import { credentialFileText, credentialsFromText, defaultCredentialFile } from '../../node/credentials/index.ts'
import { type Path, type Span, scan } from '../../stac/json-text.ts'

const EMPTY = '{\n  "version": 1,\n  "credentials": []\n}\n'

/** Appends a credential; creates a missing file. Errors: `CONFIG_INVALID` without writing; those of the file system. */
export function addCredential(file: string, credential: CredentialObject): Promise<void> {
  return edit(file, (text, { credentials }) => {
    if (credentials.some(({ id }) => id === credential.id)) throw taken(file, credential)
    return appended(text, ['credentials'], credential)
  })
}

function taken(file: string, { id }: CredentialObject): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', `the credential file ${file} already has a credential "${id}"`, {
    hint: 'choose another id; if another command has just added it, run this one again',
  })
}

/**
 * Writes the credentials of a provider together: one whose id a credential of that provider has takes its place, the others are appended.
 *
 * Errors: `CONFIG_INVALID` without writing, also for the id of another credential; those of the file system.
 */
export function putCredentials(file: string, credentials: readonly CredentialObject[]): Promise<void> {
  return edit(file, (before, set) => {
    return credentials.reduce<string | undefined>((text, credential) => {
      const index = set.credentials.findIndex(({ id }) => id === credential.id)
      const present: CredentialObject | undefined = set.credentials[index]
      if (present && present.provider !== credential.provider) throw taken(file, credential)
      return text && (present ? replaced(text, ['credentials', index], credential) : appended(text, ['credentials'], credential))
    }, before)
  })
}

/** Sets fields of a credential; its other fields stay as they are. Errors: `CONFIG_INVALID` without writing; those of the file system. */
export function setFields(file: string, id: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
  return edit(file, (before, { credentials }) => {
    const path = ['credentials', credentials.findIndex((credential) => credential.id === id)]
    return Object.entries(fields).reduce<string | undefined>((text, [name, value]) => {
      return text && (replaced(text, [...path, name], value) ?? extended(text, path, name, value))
    }, before)
  })
}

/**
 * Adds a URL pattern to the `sendTo` of a credential. Without `sendTo` its `signedUrlHosts` apply, so they are copied.
 *
 * Errors: `CONFIG_INVALID` without writing; those of the file system.
 */
export function addPattern(file: string, id: string, pattern: string): Promise<void> {
  return edit(file, (text, { credentials }) => {
    const index = credentials.findIndex((one) => one.id === id)
    const path = ['credentials', index]
    const credential: CredentialObject | undefined = credentials[index]
    const hosts = (credential?.signedUrlHosts as readonly string[] | undefined) ?? []
    if (credential?.sendTo === undefined) return extended(text, path, 'sendTo', [...hosts, pattern])
    return appended(text, [...path, 'sendTo'], pattern)
  })
}

/** Returns the allowed URL patterns of a credential. */
export function patternsOf({ sendTo, signedUrlHosts }: CredentialObject): readonly string[] {
  const patterns = sendTo ?? (signedUrlHosts as string | readonly string[] | undefined) ?? []
  return typeof patterns === 'string' ? [patterns] : patterns
}

function edit(file: string, change: (text: string, set: CredentialSet) => string | undefined): Promise<void> {
  return replaceCredentialFile(file, async () => {
    const text = (await credentialFileText(file)) ?? EMPTY
    const changed = change(text, await credentialsFromText(text, file))
    if (changed === undefined)
      throw new ConfigurationError('CONFIG_INVALID', `the credential file ${file} cannot be edited: the list to extend is missing`)
    await credentialsFromText(changed, file)
    return changed
  })
}

/** The span of an object or array, and of its members (with their names) or elements. */
interface Container {
  readonly span: Span
  readonly items: readonly Span[]
}

/** Returns the text with an element appended to an array, or undefined if there is no array at that path. */
export function appended(text: string, path: Path, value: unknown): string | undefined {
  const array = containerAt(text, path)
  if (array === undefined || text[array.span.start] !== '[') return undefined
  return withItem(text, array, (space, indent) => stringify(value, space, indent))
}

/** Returns the text with a member appended to an object, or undefined if there is no object at that path. */
export function extended(text: string, path: Path, name: string, value: unknown): string | undefined {
  const object = containerAt(text, path)
  if (object === undefined || text[object.span.start] !== '{') return undefined
  return withItem(text, object, (space, indent) => `${JSON.stringify(name)}: ${stringify(value, space, indent)}`)
}

/** Returns the text with another value at that path, or undefined if there is none; of repeated names the last one counts. */
export function replaced(text: string, path: Path, value: unknown): string | undefined {
  let span: Span | undefined
  const problem = scan(text, {
    enter: (at) => at.length <= path.length && isDeepStrictEqual(at, path.slice(0, at.length)),
    value: (at, found) => {
      if (isDeepStrictEqual(at, path)) span = { ...found }
    },
  })
  if (problem !== undefined || !span) return undefined
  const before = text.slice(0, span.start)
  const line = before.slice(before.lastIndexOf('\n') + 1)
  const indent = /^[ \t]*/.exec(line)?.[0] ?? ''
  const isSpread = text.slice(span.start, span.end).includes('\n') || (typeof value === 'object' && line.trim() === '')
  const written = stringify(value, isSpread ? 2 : 0, indent)
  return before + (text.includes('\r\n') ? written.replace(/\r?\n/g, '\r\n') : written) + text.slice(span.end)
}

/** Appends an item in the format of the last one, on its own line or not. */
function withItem(text: string, { span, items }: Container, write: (space: number, indent: string) => string): string {
  const last = items.at(-1)
  const lineBreak = text.includes('\r\n') ? '\r\n' : '\n'
  const put = (at: number, end: number, item: string) => text.slice(0, at) + item.replace(/\r?\n/g, lineBreak) + text.slice(end)
  if (!last) {
    const indent = /(?:^|\n)([ \t]*)[^\n]*$/.exec(text.slice(0, span.start))?.[1] ?? ''
    const [open, close] = [text[span.start], text[span.end - 1]]
    return put(span.start, span.end, `${open}\n${indent}  ${write(2, `${indent}  `)}\n${indent}${close}`)
  }
  const gap = /\s*$/.exec(text.slice(0, last.start))?.[0] ?? ''
  const indent = gap.includes('\n') ? gap.slice(gap.lastIndexOf('\n') + 1) : undefined
  const between = indent === undefined && items.length === 1 && gap === '' ? ' ' : gap
  return put(last.end, last.end, `,${between}${indent === undefined ? write(0, '') : write(2, indent)}`)
}

function stringify(value: unknown, space: number, indent: string): string {
  return JSON.stringify(value, undefined, space).replaceAll('\n', `\n${indent}`)
}

/** Finds a container; of repeated names the last one counts, as in `JSON.parse`. */
function containerAt(text: string, path: Path): Container | undefined {
  let span: Span | undefined
  let items: { start: number; end: number }[] = []
  const within = (at: Path, length: number) => at.length === length && isDeepStrictEqual(at.slice(0, path.length), path.slice(0, length))
  const problem = scan(text, {
    enter(at) {
      if (within(at, path.length)) items = []
      return at.length <= path.length && within(at, at.length)
    },
    member(at, { start }) {
      if (within(at, path.length + 1)) items.push({ start, end: start })
    },
    value(at, found) {
      if (within(at, path.length)) span = found
      if (!within(at, path.length + 1)) return
      const item = items.at(-1)
      if (typeof at.at(-1) === 'string' && item) item.end = found.end
      else items.push({ ...found })
    },
  })
  return problem === undefined && span ? { span, items } : undefined
}

/**
 * Replaces a file with the text that `make` returns, with mode 0600; creates missing folders with mode 0700 and follows a link. The file is
 * locked meanwhile, so it does not change between the read in `make` and the write.
 *
 * Errors: `PATH_BUSY`, `FILE_ACCESS`, `DISK_FULL`, and those of `make`; the file is unchanged then.
 */
export async function replacePrivateFile(name: string, make: () => Promise<string>): Promise<void> {
  const refuse = (error: unknown): never => {
    throw writeFailure(error, `"${name}"`)
  }
  const target = await targetOf(name).catch(refuse)
  const write = async (file: FileHandle) => {
    const text = await make()
    await file.writeFile(text).catch(refuse)
  }
  for (const end = Date.now() + LONGEST_WAIT; ; ) {
    try {
      return await replaceAlone(target, name, 0o600, { write, durable: true })
    } catch (error) {
      if (!isAuthError(error) || error.code !== 'PATH_BUSY' || Date.now() > end) throw withoutLock(error)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

/** Returns an error that names the file in place of its lock. */
function withoutLock(error: unknown): unknown {
  if (!isUnwritable(error)) return error
  return new IntegrityError('FILE_ACCESS', error.message.replace('.part.lock"', '"'), error.hint === undefined ? {} : { hint: error.hint })
}

function isUnwritable(error: unknown): error is AuthError {
  return isAuthError(error) && error.code === 'FILE_ACCESS' && !error.retryable && error.message.startsWith('cannot write')
}

/** Replaces the credential file as {@link replacePrivateFile} does. An error of a file that may not be written says how to use another one. */
async function replaceCredentialFile(file: string, make: () => Promise<string>): Promise<void> {
  try {
    await replacePrivateFile(file, make)
  } catch (error) {
    if (!isUnwritable(error)) throw error
    const named = 'name a file in a folder that you can write with --credentials or STAC_AUTH_CREDENTIALS'
    const hint = isDefault(file) ? `${folderHint('config')}, or ${named}` : named
    throw new IntegrityError('FILE_ACCESS', error.message, { hint })
  }
}

function isDefault(file: string): boolean {
  try {
    return file === defaultCredentialFile()
  } catch {
    return false
  }
}

/** Other commands hold the lock for milliseconds. */
const LONGEST_WAIT = 1000

/** Resolves a link, or returns the path to create. */
async function targetOf(name: string): Promise<string> {
  try {
    return await realpath(name)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
  await makeFolder(dirname(name), 0o700)
  return join(await realpath(dirname(name)), basename(name))
}
