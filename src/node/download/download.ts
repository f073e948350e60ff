/** Fetches the assets of documents into a folder. */
import type { DownloadEvent } from './events.ts'
import type { DownloadInput, DownloadOptions } from './options.ts'

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
  // What only wants credentials from this entry loads nothing of it.
  const { DownloadRun } = await import('./download-run.ts')
  const run = await DownloadRun.prepare(inputs, options)
  const done = run.perform()
  try {
    yield* run.events
  } finally {
    run.stop()
    await done
  }
}
