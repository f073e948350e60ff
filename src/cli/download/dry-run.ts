/** What a download would do. */
import type { Auth } from '../../auth/auth.ts'
import { type AuthError, isAuthError } from '../../errors.ts'
import { plural } from '../../lint/reporters/report.ts'
import type { DownloadEvent, DownloadFile, DownloadInput, PlannedEvent, SourceDocument } from '../../node/download/index.ts'
import { type WantedOptions, wantedFiles } from '../../node/download/wanted-files.ts'
import { presentFile } from '../../node/regular-file.ts'
import { ownObject } from '../../stac/json.ts'
import type { Target } from '../../stac/target.ts'
import { forJson, forLine } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { EXIT, exitCodeOf } from '../exit-code.ts'
import { write } from '../io.ts'
import { headline, hintLines } from '../lint/diagnostics.ts'
import { styleOf } from '../style.ts'
import { forUser } from './failed-files.ts'
import { bytesText } from './progress.ts'

/** How a file would be had: with which entries of the user, or why not. */
interface Access {
  readonly credentials?: readonly string[]
  /** The file is there already. */
  readonly present?: boolean
  readonly error?: AuthError
}

/** Prints for each file where it would go and which credential it would be asked for with; the exit codes of those that cannot be had. */
export async function tellPlan(
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
    // A file that is refused has its second event at once.
    if (waiting) await tell(waiting.file, await accessTo(waiting.file, forecast.takeTargets(), auth))
    waiting = event.kind === 'planned' ? event : undefined
    if (json && event.kind === 'summary') await write(io.stdout, `${forJson(event)}\n`)
  }
  if (!json && forecast.files > 0) await write(io.stdout, `${totalOf(forecast, exits.length)}\n`)
  return exits
}

/** The first of the targets that there is a way to; nothing is asked for. */
async function accessTo({ path, folder }: DownloadFile, targets: readonly Target[], auth: Auth): Promise<Access> {
  let first: AuthError | undefined
  try {
    const present = !folder && presentFile(path) ? { present: true } : {}
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

/** Nothing is sent for a target that has no usable reference. */
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
  const there = present ? ', there already' : ''
  return `${credentials.length === 0 ? '' : `  with ${credentials.map((id) => `"${id}"`).join(' or ')}`}${there}`
}

function sizeOf({ size }: DownloadFile): string {
  return size === undefined ? '' : `  ${bytesText(size)}`
}

function totalOf({ files, bytes, sized }: Forecast, refused: number): string {
  const sizes = sized === 0 ? ' of unknown size' : `, ${bytesText(bytes)}${files > sized ? ` and ${files - sized} of unknown size` : ''}`
  const cannot = refused > 0 ? `; ${refused} of them cannot be fetched` : ''
  return `${plural(files, 'file')}${sizes}${cannot}`
}

/** Keys of assets that are remembered for those who chose one that is nowhere. */
const MOST_KEYS = 12

/** What is going to be downloaded, as far as it is known: it is read as it is needed. */
export class Forecast {
  /** Documents that were read, lists counted as one. */
  documents = 0
  files = 0
  /** Bytes of those files whose documents promise a size, and how many these are. */
  bytes = 0
  sized = 0
  /** True when nothing more will come. */
  isComplete = false
  readonly #keys = new Set<string>()
  /** The targets of each file in the order of planning, for who takes them. */
  readonly #targets: (readonly Target[])[] | undefined

  constructor(keepsTargets: boolean) {
    if (keepsTargets) this.#targets = []
  }

  /** Hands the inputs on and looks at each; one more is read meanwhile, so that the end is known before it comes. */
  async *watch(inputs: AsyncIterable<SourceDocument>, choice: WantedOptions): AsyncGenerator<DownloadInput> {
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
      // Not waited for: what is being read then may take long, and nobody needs it.
      iterator.return?.().catch(() => undefined)
    }
  }

  /** An asset that is a folder becomes as many files as it has objects. */
  atLeast(files: number): void {
    this.files = Math.max(this.files, files)
  }

  /** The targets of the file that was planned next. */
  takeTargets(): readonly Target[] {
    return this.#targets?.shift() ?? []
  }

  /** Keys of assets that there are. */
  get keys(): readonly string[] {
    return [...this.#keys]
  }

  #look(input: SourceDocument, choice: WantedOptions): void {
    this.documents++
    for (const { size, targets } of wantedFiles(input, choice)) {
      this.files++
      this.#targets?.push(targets)
      if (size === undefined) continue
      this.bytes += size
      this.sized++
    }
    for (const key of Object.keys(ownObject(input.document, 'assets') ?? {})) if (this.#keys.size < MOST_KEYS) this.#keys.add(key)
  }
}
