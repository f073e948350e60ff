/** Those who hear of a download. */
import type { DownloadEvent } from '../../node/download/index.ts'
import { forJson } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import type { Diagnostics } from '../diagnostics.ts'
import { write } from '../io.ts'
import { LiveBlock } from '../live-block.ts'
import { styleOf } from '../style.ts'
import type { Forecast } from './forecast.ts'
import { Progress } from './progress.ts'
import { progressLine, progressLines } from './progress-lines.ts'
import { summaryTable } from './summary-table.ts'
import type { Totals } from './totals.ts'

export interface Audience {
  /** What goes to stderr while it lasts. */
  readonly diagnostics: Diagnostics
  hear(event: DownloadEvent): Promise<void> | void
  /** No event follows. */
  end(): void
  /** What came of it, in the folder of that name. */
  conclude(totals: Totals, folder: string): Promise<void> | void
}

/** A program: each event as one line of JSON on stdout. */
export function programAudience({ io: { stdout }, diagnostics }: Context): Audience {
  return {
    diagnostics,
    hear: (event) => write(stdout, `${forJson(event)}\n`),
    end: () => {},
    conclude: () => {},
  }
}

/** Milliseconds between two looks at how far it is, where lines change, and between two lines of a log. */
const EVERY = 200
const SELDOM = 60_000

/** A person: lines that change, where stderr is a terminal, else one now and then; and in the end a table on stdout. */
export function personAudience({ io, diagnostics }: Context, forecast: Forecast): Audience {
  const block = new LiveBlock(io)
  const progress = new Progress(forecast)
  const style = styleOf(io, io.stderr)
  const draw = () => {
    progress.look(performance.now())
    block.show(progressLines(progress, block, style))
  }
  const log = () => {
    progress.look(performance.now())
    if (progress.finished + progress.running.length > 0) void diagnostics.note(progressLine(progress))
  }
  const timer = setInterval(block.isOn ? draw : log, block.isOn ? EVERY : SELDOM).unref()
  return {
    diagnostics: above(block, diagnostics),
    hear: (event) => progress.add(event),
    end: () => {
      clearInterval(timer)
      block.clear()
    },
    conclude: (totals, folder) => write(io.stdout, summaryTable(totals, folder, styleOf(io, io.stdout))),
  }
}

/** What is said while lines change goes above them. */
function above(block: LiveBlock, { error, warn, note }: Diagnostics): Diagnostics {
  const first =
    <T, R>(say: (what: T) => R) =>
    (what: T): R => {
      block.clear()
      return say(what)
    }
  return { error: first(error), warn: first(warn), note: first(note) }
}
