/** Maps errors of the operating system, of optional packages, and unexpected ones, to errors of the library. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AuthError, IntegrityError, UnsupportedError } from '../../errors.ts'

const WHY_NOT: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EACCES: 'access is denied',
  EPERM: 'access is denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is not a folder',
  EROFS: 'the file system is read-only',
  EIO: 'the device reports an error',
  EFBIG: 'it would be larger than this process may write',
  ENAMETOOLONG: 'its name is too long',
}

const HINTS: Readonly<Record<string, string>> = {
  ENOENT: 'check its name; a relative path starts in the current folder, a URL with https://',
  EISDIR: 'name a file in it',
}

const WRITE_HINTS: Readonly<Record<string, string>> = {
  ENOENT: 'create its folder first',
  EACCES: 'you need write access to its folder, or choose another one',
  EPERM: 'you need write access to its folder, or choose another one',
  EROFS: 'choose a folder on another file system',
  ENAMETOOLONG: 'choose a shorter name',
}

/** Returns `FILE_ACCESS`: a file, a folder or standard input (`-`) cannot be read. */
export function readFailure(error: unknown, name: string): IntegrityError {
  const code = systemCode(error)
  if (TOO_MANY_OPEN.has(code)) return tooManyOpen(code, `cannot read ${shown(name)}: `)
  const hint = HINTS[code]
  return new IntegrityError('FILE_ACCESS', `cannot read ${shown(name)}: ${WHY_NOT[code] ?? code}`, hint === undefined ? {} : { hint })
}

/**
 * Returns the error of a failed write: `DISK_FULL`, `PATH_BUSY` (its partial file exists), `FILE_ACCESS` (retryable for open files).
 *
 * @param beside what failed in place of the file, whose name is longer
 */
export function writeFailure(error: unknown, name: string, beside?: string): IntegrityError {
  const code = systemCode(error)
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new IntegrityError('DISK_FULL', `no space is left to write ${name}${code === 'EDQUOT' ? ': the disk quota is used up' : ''}`, {
      hint: 'free some space, then run the same command again: downloads resume',
    })
  }
  if (code === 'EEXIST') {
    return new IntegrityError('PATH_BUSY', `${name} is already being written: its partial file exists`, {
      hint: 'remove its .part file if no other process uses it',
    })
  }
  if (TOO_MANY_OPEN.has(code)) return tooManyOpen(code, `cannot write ${name}: `)
  const hint = WRITE_HINTS[code]
  const why = code === 'ENAMETOOLONG' && beside !== undefined ? `the name of its ${beside} is too long` : (WHY_NOT[code] ?? code)
  return new IntegrityError('FILE_ACCESS', `cannot write ${name}: ${why}`, hint === undefined ? {} : { hint })
}

const TOO_MANY_OPEN: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE'])

/**
 * Returns `FILE_ACCESS`, retryable, for an error with the meaning, itself or by its cause, that the process or the system has too many
 * open files: any part of the program may fail like this, even the import of a module. Undefined for all other errors.
 */
export function openFilesFailure(error: unknown): IntegrityError | undefined {
  for (let inner = error, depth = 0; inner instanceof Error && depth < 8; inner = inner.cause, depth++) {
    const code = systemCode(inner)
    if (TOO_MANY_OPEN.has(code)) return tooManyOpen(code)
  }
  return undefined
}

function tooManyOpen(code: string, what = ''): IntegrityError {
  const hint = 'raise the limit, for example with ulimit -n 1024'
  return new IntegrityError('FILE_ACCESS', `${what}too many open files (${code})`, { hint, retryable: true })
}

function shown(name: string): string {
  return name === '-' ? 'standard input' : `"${name}"`
}

/** Returns the code of an operating system's error, such as `ENOENT`. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
}

/** Returns `PATH_UNSAFE`: anyone who can create a link there would choose the file that is overwritten. */
export function notWrittenThrough(what: string, hint = 'choose another name'): IntegrityError {
  return new IntegrityError('PATH_UNSAFE', `${what}: nothing is written through it`, { hint })
}

/** Returns `PATH_EXISTS`: the file did not exist when its download began. */
export function fileAppeared(path: string): IntegrityError {
  return new IntegrityError('PATH_EXISTS', `"${path}" was created by another program during the download; it was not replaced`)
}

/** Returns `INTERNAL`. The message of a foreign error may quote a header or a body, so only its name is shown. */
export function internalError(thrown: unknown): AuthError {
  return new AuthError('INTERNAL', `internal error: unexpected ${thrown instanceof Error ? thrown.name : typeof thrown}`)
}

/**
 * Returns the command that installs packages where this program finds them: in the project, or for a program that npm installed with `-g`
 * beside it.
 *
 * @param path of a file of this package
 */
export function installCommand(packages: readonly string[], path = fileURLToPath(import.meta.url)): string {
  const [, parent] = /^(.*?)[/\\]node_modules[/\\]/.exec(path) ?? []
  const isGlobal = parent !== undefined && !existsSync(join(parent, 'package.json'))
  return `npm install ${isGlobal ? '-g ' : ''}${packages.join(' ')}`
}

/** What needs an optional package, which users install only then, as named in errors. */
export interface PackageUse {
  /** The beginning of a sentence, such as `the queue`. */
  readonly subject: string
  readonly packages: readonly string[]
}

/**
 * Returns the error of an optional package that cannot be imported: `SCHEME_UNSUPPORTED` with the command that installs what the use needs.
 * Call it in the `catch` around `import()`: only inside a `try` do bundlers accept that a package is missing.
 */
export function missingPackage(error: unknown, { subject, packages }: PackageUse): AuthError {
  const [what, verb] = packages.length === 1 ? ['package', 'is'] : ['packages', 'are']
  const message = `${subject} cannot be used: the optional ${what} ${packages.join(' and ')} ${verb} not installed`
  return openFilesFailure(error) ?? new UnsupportedError('SCHEME_UNSUPPORTED', message, { hint: installCommand(packages) })
}
