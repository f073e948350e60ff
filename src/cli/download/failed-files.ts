import { AuthError } from '../../errors.ts'
import { plural } from '../../lint/reporters/report.ts'
import type { DocumentEvent, FailedEvent, WarningEvent } from '../../node/download/index.ts'
import { forLine, headline, hintLines } from '../../text/sanitize.ts'
import { EXIT, exitCodeOf, worstExit } from '../exit-code.ts'
import type { Diagnostics } from '../io.ts'

/** Limits of the report: kinds of failures, and file names for each. */
const MOST_KINDS = 20
const MOST_NAMES = 3

interface Group<T> {
  readonly first: T
  readonly names: string[]
  count: number
}

/** Failures and warnings of files, grouped by cause. */
export class FailedFiles {
  readonly #mostNames: number
  readonly #failures = new Map<string, Group<AuthError>>()
  readonly #warnings = new Map<string, Group<WarningEvent>>()

  /** With `all`, every file of a group is named. */
  constructor({ all = false }: { readonly all?: boolean } = {}) {
    this.#mostNames = all ? Number.POSITIVE_INFINITY : MOST_NAMES
  }

  fail({ file, error, resumable }: Pick<FailedEvent, 'file' | 'error' | 'resumable'>): void {
    this.#add(this.#failures, causeOf(error, file.url), forUser(error, resumable), nameOf(file, error))
  }

  /** Adds a failed copy of a document. */
  failCopy({ path, error }: DocumentEvent): void {
    if (error) this.#add(this.#failures, `${error.code} copy`, error, path)
  }

  warn(event: WarningEvent): void {
    this.#add(this.#warnings, `${event.code} ${shapeOf(event.message)}`, event, event.file.name)
  }

  #add<T>(groups: Map<string, Group<T>>, key: string, first: T, name: string): void {
    const group = groups.get(key) ?? { first, names: [], count: 0 }
    groups.set(key, group)
    group.count++
    if (group.names.length < this.#mostNames) group.names.push(name)
  }

  /** Returns the exit codes of the failures. */
  exits(): readonly number[] {
    return [...this.#failures.values()].map(({ first }) => exitOf(first))
  }

  /** Reports each kind once, with its hint and files; the failure that decides the exit code comes last. */
  async tell(diagnostics: Diagnostics): Promise<void> {
    for (const { first, count } of this.#warnings.values()) {
      const more = count > 1 ? ` (and ${plural(count - 1, 'other file')})` : ''
      diagnostics.warn({ code: first.code, message: `${first.file.name}: ${first.message}${more}`, pointer: first.file.pointer })
      const hint = WARNING_HINTS[first.code]
      if (hint !== undefined) await diagnostics.note(`  ${hint}`)
    }
    const groups = byWeight([...this.#failures.values()])
    if (groups.length > MOST_KINDS) await diagnostics.note(`${groups.length - MOST_KINDS} more kinds of failures: see --json`)
    for (const { first, names, count } of groups.slice(-MOST_KINDS)) {
      await diagnostics.error(first)
      await diagnostics.note(`  ${namedFiles(names, count)}`)
    }
  }

  /** Returns the lines of each kind of failure, after a mark, for a plan. */
  planLines(mark: string): readonly string[] {
    return byWeight([...this.#failures.values()]).flatMap(({ first, names, count }) => [
      `${mark} ${count === 1 ? forLine(names[0] ?? '') : namedFiles(names, count)}: ${headline(count === 1 ? first : { code: first.code, message: first.message })}`,
      ...hintLines(first.hint, '    '),
    ])
  }
}

function namedFiles(names: readonly string[], count: number): string {
  const more = count > names.length ? ` and ${plural(count - names.length, 'more file')}` : ''
  return `${count === 1 ? 'file' : `${count} files`}: ${names.map(forLine).join(', ')}${more}`
}

const HINTS: Readonly<Record<string, string | undefined>> = {
  PATH_COLLISION: "use --rename to rename the second file, or --template '{id}/{key}{ext}' to name files by asset key",
  RATE_LIMITED: 'run the same command later to resume; --per-host and --rate lower the request rate',
  RETRY_BUDGET: 'run the same command later to resume; --per-host and --rate lower the request rate',
}

const AS_IT_CAME = 'the file is saved as received; a second run keeps it unless --existing replace is given'

const WARNING_HINTS: Readonly<Record<string, string | undefined>> = {
  CONTENT_TYPE_UNEXPECTED: AS_IT_CAME,
  CONTENT_CODING_UNKNOWN: AS_IT_CAME,
}

/** Returns the error with a hint that names options of the command line. */
function forUser(error: AuthError, resumable: number): AuthError {
  const hint = HINTS[error.code] ?? error.hint ?? (resumable > 0 ? 'the received part is kept: run the same command to resume' : undefined)
  if (hint === undefined || hint === error.hint) return error
  return new AuthError(error.code, error.message, { ...error, hint })
}

/** Returns the name of a file; of one whose name another file has, its document and its place there too. */
function nameOf({ name, document, pointer }: FailedEvent['file'], { code }: AuthError): string {
  return code === 'PATH_COLLISION' ? `${name} (${[document, pointer].join(' ').trim()})` : name
}

/** Returns the exit code of a failed file, also for codes that are warnings elsewhere. */
function exitOf({ code }: AuthError): number {
  return exitCodeOf(code) || EXIT.files
}

/** Sorts groups by exit code, the worst last. */
function byWeight(groups: readonly Group<AuthError>[]): readonly Group<AuthError>[] {
  return [...groups].sort((one, other) => {
    const [exit, others] = [exitOf(one.first), exitOf(other.first)]
    return exit === others ? 0 : worstExit([exit, others]) === exit ? 1 : -1
  })
}

/** Returns the key of a group: equal for failures that differ only in names, URLs and numbers; local failures ignore the server. */
function causeOf({ code, credential = '', ref = '', status, message, url }: AuthError, asked: string): string {
  const isHere = /^(?:PATH_\w+|FILE_ACCESS|DISK_FULL)$/.test(code)
  return [code, credential, ref, status ?? '', isHere ? '' : originOf(url ?? asked), shapeOf(message)].join(' ')
}

function shapeOf(message: string): string {
  return message.replace(/"[^"]*"|[a-z][a-z0-9+.-]*:\/\/[^\s;,]+|\d+/gi, '\u2026')
}

function originOf(url: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/]*/i.exec(url)?.[0] ?? ''
}
