/** Fetches the assets of documents into a folder. */
import { setMaxListeners } from 'node:events'
import { systemClock } from '../../crawl/settings.ts'
import { AbortedError, type AuthError } from '../../errors.ts'
import { EventQueue } from './event-queue.ts'
import type { DownloadEvent, DownloadFile, FailedEvent } from './events.ts'
import { FilePlan, type PlannedFile } from './file-plan.ts'
import { HashThread } from './hash-thread.ts'
import type { DownloadInput, DownloadOptions } from './options.ts'
import { Origins } from './origins.ts'
import { Pace } from './pace.ts'
import { pathTemplate } from './path-template.ts'
import { Tally } from './tally.ts'
import { TargetFolder } from './target-folder.ts'
import { transfer } from './transfer.ts'
import { wantedFiles } from './wanted-files.ts'
import type { World, WorldSettings } from './world.ts'

/**
 * Fetches the assets of documents into a folder, several at a time, and tells what happens; the summary comes last. A file that fails
 * is an event and stops nothing else. When whoever listens stops, or `signal` aborts, what is there is kept so that the next run can
 * go on with it.
 *
 * Errors: `CONFIG_INVALID` for a wrong template; `FILE_ACCESS`, `PATH_UNSAFE` for the folder; `ABORTED`; what `inputs` throw.
 *
 * @param inputs documents or single targets, read as they are needed
 *
 * @example
 * for await (const event of download([{ document: item, url }], { folder: 'data', auth }))
 *   if (event.kind === 'failed') console.error(event.file.name, event.error.message)
 */
export async function* download(
  inputs: Iterable<DownloadInput> | AsyncIterable<DownloadInput>,
  options: DownloadOptions,
): AsyncGenerator<DownloadEvent, void> {
  const run = await Run.prepare(inputs, options)
  const done = run.perform()
  try {
    yield* run.events
  } finally {
    run.stop()
    await done
  }
}

const SETTINGS: WorldSettings = {
  existing: 'keep',
  resume: true,
  strict: false,
  ranges: 4,
  retries: 10,
  stallTimeout: 60_000,
  progressInterval: 200,
}
const DEFAULTS = { concurrency: 16, perHost: 8, template: '{id}/{name}', settings: SETTINGS } as const

class Run {
  readonly events = new EventQueue()
  readonly #inputs: Iterable<DownloadInput> | AsyncIterable<DownloadInput>
  readonly #options: DownloadOptions
  readonly #plan: FilePlan
  readonly #world: World
  readonly #end = new AbortController()
  readonly #tally = new Tally()
  readonly #running = new Set<Promise<void>>()

  private constructor(inputs: Iterable<DownloadInput> | AsyncIterable<DownloadInput>, options: DownloadOptions, folder: TargetFolder) {
    const { template = DEFAULTS.template, collisions = 'refuse' } = options
    this.#inputs = inputs
    this.#options = options
    // Everything that is under way listens for the end, and that is more than ten things by intent.
    setMaxListeners(0, this.#end.signal)
    this.#plan = new FilePlan({ name: pathTemplate(template), folder, collisions })
    this.#world = worldOf(options, folder, this.#end.signal, (event) => this.#tell(event))
    options.signal?.addEventListener('abort', this.stop, { once: true })
    if (options.signal?.aborted) this.stop()
  }

  static async prepare(inputs: Iterable<DownloadInput> | AsyncIterable<DownloadInput>, options: DownloadOptions): Promise<Run> {
    return new Run(inputs, options, await TargetFolder.open(options.folder))
  }

  readonly stop = (): void => {
    this.#end.abort(this.#options.signal?.reason)
  }

  /** Never rejects: what ends it is told to whoever listens. */
  async perform(): Promise<void> {
    try {
      await this.#begin()
      await this.#settled()
      if (!this.#options.dryRun) await this.#world.folder.sync()
      if (this.#options.signal?.aborted) throw new AbortedError(this.#options.signal.reason)
      this.#tell(this.#tally.summary())
      this.events.end()
    } catch (error) {
      await this.#settled()
      this.events.end(error)
    } finally {
      this.#options.signal?.removeEventListener('abort', this.stop)
      await this.#world.hashes.close()
    }
  }

  async #begin(): Promise<void> {
    const { concurrency = DEFAULTS.concurrency, dryRun = false } = this.#options
    for await (const input of this.#inputs) {
      for (const wanted of wantedFiles(input, this.#options)) {
        if (this.#end.signal.aborted) return
        const planned = this.#plan.place(wanted)
        this.#tell({ kind: 'planned', file: planned.file })
        if (planned.error) this.#tell(failed(planned.file, planned.error))
        else if (!dryRun) this.#start(planned)
        while (this.#running.size >= concurrency) await Promise.race(this.#running)
      }
    }
  }

  #start(planned: PlannedFile): void {
    const running = transfer(planned, this.#world).then((event) => {
      this.#running.delete(running)
      this.#tell(event)
    })
    this.#running.add(running)
  }

  async #settled(): Promise<void> {
    await Promise.allSettled(this.#running)
  }

  #tell(event: DownloadEvent): void {
    this.#tally.count(event)
    this.events.tell(event)
  }
}

function worldOf(options: DownloadOptions, folder: TargetFolder, signal: AbortSignal, tell: World['tell']): World {
  const { auth, clock = systemClock, random = Math.random, perHost = DEFAULTS.perHost, rate, bytesPerSecond } = options
  return {
    folder,
    hashes: new HashThread(),
    origins: new Origins({ concurrency: perHost, ...(rate !== undefined && { rate }) }, clock),
    clock,
    random,
    signal,
    settings: { ...DEFAULTS.settings, ...defined(options) },
    pace: bytesPerSecond === undefined ? undefined : new Pace(bytesPerSecond, clock),
    send: (target, headers, signal) => auth.send(target, { headers, signal }),
    tell,
  }
}

/** The settings of single files that were given. */
function defined(options: DownloadOptions): Partial<WorldSettings> {
  const given = Object.entries(options).filter(([name, value]) => Object.hasOwn(DEFAULTS.settings, name) && value !== undefined)
  return Object.fromEntries(given) as Partial<WorldSettings>
}

function failed(file: DownloadFile, error: AuthError): FailedEvent {
  return { kind: 'failed', file, error, received: 0, resumable: 0 }
}
