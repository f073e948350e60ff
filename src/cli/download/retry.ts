/** Runs `queue retry`. */
import { plural } from '../../lint/reporters/report.ts'
import type { DownloadEvent } from '../../node/download/index.ts'
import { knownIdentity, type QueueControl, retryFailed } from '../../node/queue/index.ts'
import type { Context } from '../context.ts'
import { worstExit } from '../exit-code.ts'
import { queueUrl } from '../queue/address.ts'
import { type ControlOptions, withControl } from '../queue/control.ts'
import { progressOfState } from '../queue/state.ts'
import { providersSetUp } from '../setup-hint.ts'
import { Forecast } from './dry-run.ts'
import { Progress, personAudience, programAudience } from './progress.ts'
import { perform } from './run.ts'

/** Options of `queue retry`. */
export interface RetryOptions extends ControlOptions {
  readonly outputDir: string
  readonly all?: boolean
}

/** Gives failed files to the workers again, prints what became of them, and returns the exit code. */
export async function retryQueue(options: RetryOptions, context: Context): Promise<number> {
  const { json = false, outputDir: folder, all = false } = options
  const queue = queueUrl(options.queue, context)
  await knownIdentity(folder)
  const forecast = new Forecast(false)
  const progress = new Progress(forecast)
  const audience = json ? programAudience(context) : personAudience(context, progress)
  const within: Context = { ...context, diagnostics: audience.diagnostics }
  const onState = progressOfState(progress, audience.diagnostics)
  try {
    const events = counted(retryFailed({ queue, folder, signal: context.io.signal, onState }), forecast)
    const setUp = () => providersSetUp({}, context)
    const exits = await perform(events, { audience, progress, ...(!json && { folder }), all, setUp }, within)
    if (progress.planned === 0) await context.diagnostics.note(await withControl(options, context, whyNothing))
    return worstExit(exits)
  } finally {
    audience.end()
  }
}

/** Counts the files, which are all known before the first one is transferred. */
async function* counted(events: AsyncIterable<DownloadEvent>, forecast: Forecast): AsyncGenerator<DownloadEvent> {
  for await (const event of events) {
    if (event.kind === 'planned') {
      const { size } = event.file
      forecast.files++
      forecast.sized += size === undefined ? 0 : 1
      forecast.bytes += size ?? 0
    } else forecast.isComplete = true
    yield event
  }
}

async function whyNothing(control: QueueControl): Promise<string> {
  const { failed = 0 } = await control.status()
  return failed === 0 ? 'no file has failed' : `${plural(failed, 'file')} failed before a worker took them: run the download again`
}
