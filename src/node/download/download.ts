/** Fetches the assets of documents into a folder. */
import { AbortedError, type AuthError, isAuthError } from '../../errors.ts'
import { EventQueue } from './event-queue.ts'
import type { DownloadEvent, DownloadFile, FailedEvent } from './events.ts'
import { FilePlan, type PlannedFile } from './file-plan.ts'
import type { DownloadInput, DownloadOptions } from './options.ts'
import { pathTemplate } from './path-template.ts'
import { Tally } from './tally.ts'
import { TargetFolder } from './target-folder.ts'
import { transfer } from './transfer.ts'
import { wantedFiles } from './wanted-files.ts'
import type { World } from './world.ts'

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

const DEFAULTS = { concurrency: 16, template: '{id}/{name}' } as const

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
    const { template = DEFAULTS.template, collisions = 'refuse', existing = 'keep', auth } = options
    this.#inputs = inputs
    this.#options = options
    this.#plan = new FilePlan({ name: pathTemplate(template), folder, collisions })
    const { signal } = this.#end
    this.#world = {
      folder,
      existing,
      signal,
      send: (target, headers) => auth.send(target, { headers, signal }),
      tell: (event) => this.#tell(event),
    }
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
      if (this.#options.signal?.aborted) throw new AbortedError(this.#options.signal.reason)
      this.#tell(this.#tally.summary())
      this.events.end()
    } catch (error) {
      await this.#settled()
      this.events.end(error)
    } finally {
      this.#options.signal?.removeEventListener('abort', this.stop)
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
    const running = this.#fetch(planned).finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  async #fetch(planned: PlannedFile): Promise<void> {
    try {
      this.#tell(await transfer(planned, this.#world))
    } catch (error) {
      if (!isAuthError(error)) throw error
      this.#tell(failed(planned.file, error))
    }
  }

  async #settled(): Promise<void> {
    await Promise.allSettled(this.#running)
  }

  #tell(event: DownloadEvent): void {
    this.#tally.count(event)
    this.events.tell(event)
  }
}

function failed(file: DownloadFile, error: AuthError): FailedEvent {
  return { kind: 'failed', file, error, received: 0, resumable: 0 }
}
