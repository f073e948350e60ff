/** Shows what a download would do. */
import type { Auth } from '../../auth/auth.ts'
import { type AuthError, isAuthError } from '../../errors.ts'
import { plural } from '../../lint/reporters/report.ts'
import type { DownloadEvent, DownloadFile, DownloadInput, PlannedEvent, SourceDocument } from '../../node/download/index.ts'
import { type SelectionOptions, selectFiles } from '../../node/download/selected-files.ts'
import { presentFile } from '../../node/files.ts'
import { ownObject } from '../../stac/document.ts'
import type { Target } from '../../stac/target.ts'
import { forJson, forLine, headline, hintLines } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { EXIT, exitCodeOf } from '../exit-code.ts'
import { styleOf, write } from '../io.ts'
import { bytesText } from '../units.ts'
import { forUser } from './failed-files.ts'

/** The credentials with which a file would be downloaded, or the error. */
interface Access {
  /** Ids of the credentials with which it would be downloaded. */
  readonly credentials?: readonly string[]
  /** True if the file exists. */
  readonly present?: boolean
  /** Why it cannot be downloaded. */
  readonly error?: AuthError
}

/** Prints path and credential of each file; returns the exit codes of files that cannot be downloaded. */
export async function printPlan(
  events: AsyncIterable<DownloadEvent>,
  { forecast, auth, json }: { readonly forecast: Forecast; readonly auth: Auth; readonly json: boolean },
  { io }: Context,
): Promise<readonly number[]> {
  const { tick, cross, green, red, dim } = styleOf(io, io.stdout)
  const exits: number[] = []
  const tell = async (file: DownloadFile, access: Access) => {
    if (access.error) exits.push(exitCodeOf(access.error.code) || EXIT.files)
    if (json) return write(io.stdout, `${forJson({ kind: 'planned', file, ...access })}\n`)
    const sign = access.error ? red(cross) : green(tick)
    const lines = [`${sign} ${forLine(file.name)}${file.folder ? '/' : ''}${sizeOf(file)}  ${dim(forLine(file.url))}${said(access)}`]
    return write(io.stdout, `${[...lines, ...hintLines(access.error?.hint, '    ')].join('\n')}\n`)
  }
  let waiting: PlannedEvent | undefined
  for await (const event of events) {
    if (event.kind === 'failed') {
      forecast.takeTargets()
      await tell(event.file, { error: json ? event.error : forUser(event.error, 0) })
      waiting = undefined
      continue
    }
    // The `failed` event of a refused file directly follows its `planned` event.
    if (waiting) await tell(waiting.file, await accessTo(waiting.file, forecast.takeTargets(), auth))
    waiting = event.kind === 'planned' ? event : undefined
    if (json && event.kind === 'summary') await write(io.stdout, `${forJson(event)}\n`)
  }
  if (!json && forecast.files > 0) await write(io.stdout, `${totalOf(forecast, exits.length)}\n`)
  return exits
}

/** Returns the credentials for the first usable target, without sending anything. */
async function accessTo({ path, folder }: DownloadFile, targets: readonly Target[], auth: Auth): Promise<Access> {
  let first: AuthError | undefined
  try {
    const present = !folder && !path.startsWith('s3://') && presentFile(path) ? { present: true } : {}
    for (const target of targets) {
      const { refs, code, byAddress } = await auth.explain(target)
      const usable = refs.filter((ref) => ref.code === undefined)
      if (code === undefined && refs.length === 0 && byAddress?.code === undefined) {
        return byAddress?.used && byAddress.credential !== undefined ? { ...present, credentials: [byAddress.credential] } : present
      }
      if (usable.length > 0) return { ...present, credentials: usable.flatMap(({ credential }) => credential ?? []) }
      first ??= await refusalOf(target, auth)
    }
  } catch (error) {
    if (!isAuthError(error)) throw error
    first ??= error
  }
  return first ? { error: first } : {}
}

/** Returns the error of a target without a usable reference; nothing is sent. */
async function refusalOf(target: Target, auth: Auth): Promise<AuthError | undefined> {
  const error: unknown = await auth.authorize(target).then(
    () => undefined,
    (thrown) => thrown,
  )
  if (error !== undefined && !isAuthError(error)) throw error
  return error
}

function said({ credentials = [], present, error }: Access): string {
  if (error) return `: ${headline(error)}`
  const there = present ? ', exists' : ''
  return `${credentials.length === 0 ? '' : `  with ${credentials.map((id) => `"${id}"`).join(' or ')}`}${there}`
}

function sizeOf({ size }: DownloadFile): string {
  return size === undefined ? '' : `  ${bytesText(size)}`
}

function totalOf({ files, bytes, sized }: Forecast, refused: number): string {
  const sizes = sized === 0 ? ' of unknown size' : `, ${bytesText(bytes)}${files > sized ? ` and ${files - sized} of unknown size` : ''}`
  const cannot = refused > 0 ? `; ${refused} cannot be downloaded` : ''
  return `${plural(files, 'file')}${sizes}${cannot}`
}

/** Asset keys to suggest if no asset matches. */
const MOST_KEYS = 12

/** The files to download, as far as they are known: documents are read one by one. */
export class Forecast {
  /** Number of documents read, a list counted as one. */
  documents = 0
  files = 0
  /** Total of the sizes in documents, and the number of files with a size. */
  bytes = 0
  sized = 0
  /** True if all documents are read. */
  isComplete = false
  readonly #keys = new Set<string>()
  /** The targets of each planned file, for the dry run. */
  readonly #targets: (readonly Target[])[] | undefined

  constructor(keepsTargets: boolean) {
    if (keepsTargets) this.#targets = []
  }

  /** Yields the inputs and counts their files; reads one document ahead. */
  async *watch(inputs: AsyncIterable<SourceDocument>, choice: SelectionOptions): AsyncGenerator<DownloadInput> {
    const iterator = inputs[Symbol.asyncIterator]()
    const read = async () => {
      const result = await iterator.next()
      if (result.done) this.isComplete = true
      else this.#look(result.value, choice)
      return result
    }
    try {
      for (let result = await read(); !result.done; ) {
        const following = read()
        following.catch(() => undefined)
        yield result.value
        result = await following
      }
    } finally {
      // Not awaited: a pending read may take long.
      iterator.return?.().catch(() => undefined)
    }
  }

  /** Raises the number of files: an object store folder has one per object. */
  atLeast(files: number): void {
    this.files = Math.max(this.files, files)
  }

  /** Removes and returns the targets of the next planned file. */
  takeTargets(): readonly Target[] {
    return this.#targets?.shift() ?? []
  }

  /** The asset keys seen. */
  get keys(): readonly string[] {
    return [...this.#keys]
  }

  #look(input: SourceDocument, choice: SelectionOptions): void {
    this.documents++
    for (const { size, targets } of selectFiles(input, choice)) {
      this.files++
      this.#targets?.push(targets)
      if (size === undefined) continue
      this.bytes += size
      this.sized++
    }
    for (const key of Object.keys(ownObject(input.document, 'assets') ?? {})) if (this.#keys.size < MOST_KEYS) this.#keys.add(key)
  }
}
