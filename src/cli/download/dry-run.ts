/** Shows what a download would do. */
import type { Auth } from '../../auth/auth.ts'
import { type AuthError, isAuthError } from '../../errors.ts'
import { plural } from '../../lint/reporters/report.ts'
import { presentFile } from '../../node/base/index.ts'
import {
  type DownloadEvent,
  type DownloadFile,
  type DownloadInput,
  expiredHref,
  firstUsable,
  originAndPath,
  type PlannedEvent,
  type SelectionOptions,
  selectFiles,
} from '../../node/download/index.ts'
import { ownObject } from '../../stac/document.ts'
import { catalogsOf, endpointsOf } from '../../stac/file-places.ts'
import type { Target } from '../../stac/target.ts'
import { forJson, forLine } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { EXIT, exitCodeOf } from '../exit-code.ts'
import { styleOf, write } from '../io.ts'
import type { RecognizedTarget } from '../recognized.ts'
import { withProviderHint } from '../setup-hint.ts'
import { bytesText } from '../units.ts'
import { FailedFiles } from './failed-files.ts'

/** The credentials with which a file would be downloaded, or the error. */
interface Access {
  /** Ids of the credentials with which it would be downloaded. */
  readonly credentials?: readonly string[]
  /** True if the file exists. */
  readonly present?: boolean
  /** Why it cannot be downloaded. */
  readonly error?: AuthError
}

/** What would be requested: the URL without query if it is not that of the plan. */
interface RequestedAccess extends Access {
  readonly url?: string
}

/** How a plan is printed. */
export interface PlanView {
  readonly forecast: Forecast
  readonly auth: Auth
  readonly json: boolean
  /** True names every file of those that cannot be downloaded. */
  readonly all: boolean
  /** Returns the ids of the providers of which the user has a credential. */
  readonly setUp: () => Promise<ReadonlySet<string>>
}

/**
 * Prints path, URL and credential of each file, and those that cannot be downloaded last, by reason; returns the exit codes of the latter.
 */
export async function printPlan(
  events: AsyncIterable<DownloadEvent>,
  { forecast, auth, json, all, setUp }: PlanView,
  { io }: Context,
): Promise<readonly number[]> {
  const { tick, cross, green, yellow, red, dim } = styleOf(io, io.stdout)
  const exits: number[] = []
  const refused = new FailedFiles({ all })
  const { needsOfProviders, providerLine, recognizedFile } = await import('../recognized.ts')
  const open: RecognizedTarget[] = []
  const tell = async (planned: DownloadFile, { url = planned.url, ...found }: RequestedAccess, target?: Target) => {
    const file = { ...planned, url }
    const error = found.error && (await withProviderHint(found.error, target ? { target } : { url, context: forecast.context }, setUp))
    const access = { ...found, ...(error && { error }) }
    const unopened = target && !json && !access.error && !access.credentials ? recognizedFile(target) : undefined
    if (unopened) open.push(unopened)
    if (access.error) exits.push(exitCodeOf(access.error.code) || EXIT.files)
    if (json) return write(io.stdout, `${forJson({ kind: 'planned', file, ...access })}\n`)
    if (access.error) return refused.fail({ file, error: access.error, resumable: 0 })
    // Its provider wants a credential that is not there, though the document names none.
    const sign = unopened ? yellow('-') : green(tick)
    const line = `${sign} ${forLine(file.name)}${file.folder ? '/' : ''}${file.size === undefined ? '' : `  ${bytesText(file.size)}`}  ${dim(forLine(file.url))}${said(access)}`
    return write(io.stdout, `${line}\n`)
  }
  let waiting: PlannedEvent | undefined
  for await (const event of events) {
    if (event.kind === 'failed') {
      const [target] = forecast.takeTargets()
      await tell(event.file, { error: event.error }, target)
      waiting = undefined
      continue
    }
    // The `failed` event of a refused file directly follows its `planned` event.
    if (waiting) {
      const targets = forecast.takeTargets()
      await tell(waiting.file, await accessTo(waiting.file, targets, auth), targets[0])
    }
    waiting = event.kind === 'planned' ? event : undefined
    if (json && event.kind === 'summary') await write(io.stdout, `${forJson(event)}\n`)
  }
  for (const line of refused.planLines(red(cross))) await write(io.stdout, `${line}\n`)
  for (const need of needsOfProviders(open)) await write(io.stdout, `${forLine(providerLine(need))}\n`)
  if (!json && forecast.files > 0) await write(io.stdout, `${totalOf(forecast, exits.length)}\n`)
  return exits
}

/** Returns the target that would be requested first, without sending anything: of a folder, the one that would be listed. */
async function accessTo({ path, folder, url }: DownloadFile, all: readonly Target[], auth: Auth): Promise<RequestedAccess> {
  const targets = folder ? all.filter((target) => originAndPath(target).bare.replace(/\/+$/, '') === url) : all
  try {
    const present = !folder && !path.startsWith('s3://') && presentFile(path) ? { present: true } : {}
    const usable = await firstUsable(targets, auth)
    const expired = usable && expiredHref(usable.target, Date.now())
    if (expired) return { ...present, error: expired }
    if (usable) {
      const { target, credentials } = usable
      return { ...(folder ? {} : { url: originAndPath(target).bare }), ...present, ...(credentials.length > 0 && { credentials }) }
    }
    // Without a usable reference this throws, and nothing is sent.
    if (targets[0]) await auth.authorize(targets[0])
    return {}
  } catch (error) {
    if (!isAuthError(error)) throw error
    return { error }
  }
}

function said({ credentials = [], present }: Access): string {
  const there = present ? ', exists' : ''
  return `${credentials.length === 0 ? '' : `  with ${credentials.map((id) => `"${id}"`).join(' or ')}`}${there}`
}

function totalOf({ files, bytes, sized }: Forecast, refused: number): string {
  const sizes = sized === 0 ? ' of unknown size' : `, ${bytesText(bytes)}${files > sized ? ` and ${files - sized} of unknown size` : ''}`
  const cannot = refused > 0 ? `; ${refused} cannot be downloaded` : ''
  return `${plural(files, 'file')}${sizes}${cannot}`
}

/** URLs of catalogs and endpoints that are kept: all documents of a catalog name the same root. */
const MOST_PLACES = 1000

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
  readonly #catalogs = new Set<string>()
  readonly #endpoints = new Set<string>()
  /** The targets of each planned file, for the dry run. */
  readonly #targets: (readonly Target[])[] | undefined

  constructor(keepsTargets: boolean) {
    if (keepsTargets) this.#targets = []
  }

  /** Yields the inputs and counts their files; reads one document ahead. */
  async *watch(inputs: AsyncIterable<DownloadInput>, choice: SelectionOptions): AsyncGenerator<DownloadInput> {
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

  /** What the documents say about where their files are: URLs of catalogs, and endpoints of object stores. */
  get context(): { readonly catalogs: readonly string[]; readonly endpoints: readonly string[] } {
    return { catalogs: [...this.#catalogs], endpoints: [...this.#endpoints] }
  }

  #look(input: DownloadInput, choice: SelectionOptions): void {
    this.documents++
    const { document, url } = 'scope' in input ? input.scope : input
    for (const catalog of catalogsOf(document, url)) if (this.#catalogs.size < MOST_PLACES) this.#catalogs.add(catalog)
    for (const { size, targets } of selectFiles(input, choice)) {
      this.files++
      for (const endpoint of targets.flatMap(endpointsOf)) if (this.#endpoints.size < MOST_PLACES) this.#endpoints.add(endpoint)
      this.#targets?.push(targets)
      if (size === undefined) continue
      this.bytes += size
      this.sized++
    }
    if ('scope' in input) return
    for (const key of Object.keys(ownObject(input.document, 'assets') ?? {})) if (this.#keys.size < MOST_KEYS) this.#keys.add(key)
  }
}
