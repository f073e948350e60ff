/** Runs `queue`. */
import { plural } from '../../lint/reporters/report.ts'
import type { FailedFile, QueueControl, QueueDownload, QueueStatus, QueueWorker } from '../../node/queue/index.ts'
import { forJson, forLine } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { atTerminal, isTerminal, Terminal } from '../credentials/terminal.ts'
import { EXIT, usageError } from '../exit-code.ts'
import { styleOf, write } from '../io.ts'
import { aligned, bytesText, timeText } from '../units.ts'
import { queueAddress } from './address.ts'
import { evictionText, workersText } from './state.ts'

/** Options of all commands below `queue`. */
export interface ControlOptions {
  readonly queue?: string
  readonly outputDir?: string
  readonly json?: boolean
  readonly clear?: boolean
  readonly yes?: boolean
}

/** Opens the queue that the options name, and runs an action with it. Errors: `USAGE`, those of `queueControl`. */
export async function withControl<T>(
  { queue, outputDir }: ControlOptions,
  context: Context,
  use: (control: QueueControl) => Promise<T>,
): Promise<T> {
  const address = queueAddress(queue, context)
  const { knownIdentity, queueControl } = await import('../../node/queue/index.ts')
  const control = await queueControl(address, outputDir === undefined ? undefined : await knownIdentity(outputDir))
  try {
    return await use(control)
  } finally {
    await control.close()
  }
}

/** Prints the state of a queue and returns the exit code; pauses or resumes it before. */
export async function showQueue(change: 'pause' | 'resume' | undefined, options: ControlOptions, context: Context): Promise<number> {
  const status = await withControl(options, context, async (control) => {
    if (change) await control[change]()
    return control.status()
  })
  const next = status.paused ? 'resume' : status.workers === 0 ? 'work' : undefined
  const command = next && (await commandOf(next, options, context))
  await write(context.io.stdout, options.json ? `${forJson(status)}\n` : statusText(status, command))
  return EXIT.done
}

/** Returns a command with the queue and the folder of the options. */
async function commandOf(name: string, { queue, outputDir }: ControlOptions, context: Context): Promise<string> {
  const { queueCommand } = await import('../../node/queue/index.ts')
  const address = queueAddress(queue, { ...context, diagnostics: { ...context.diagnostics, warn: () => {} } })
  return queueCommand(name, address, outputDir)
}

/** @param command that makes the queue run, where it does not */
function statusText(
  { paused, versions, incompatible, waiting, active, failed, eviction, downloads = [] }: QueueStatus,
  command: string | undefined,
): string {
  const files = failed === undefined ? [] : [`${plural(failed, 'file')} failed`]
  const first = [paused ? 'paused' : 'running', workersText(versions), `${plural(waiting, 'job')} waiting`, `${active} active`, ...files]
  return [
    first.join(', '),
    ...(command === undefined ? [] : [`  ${paused ? 'resume it' : 'start a worker'}: ${command}`]),
    ...(incompatible ? [`  ${workersText(incompatible)} of another version cannot run these jobs`] : []),
    ...(eviction === undefined ? [] : [`  the server ${evictionText(eviction)}`]),
    ...downloads.map(downloadText),
    '',
  ].join('\n')
}

function downloadText({ host, pid, version, total, isComplete, done, failed, ...rates }: QueueDownload): string {
  const { filesPerSecond, bytesPerSecond, secondsLeft } = rates
  const parts = [
    `${done} of ${total}${isComplete ? '' : '+'} files`,
    `${failed} failed`,
    `${filesPerSecond} files/s`,
    `${bytesText(bytesPerSecond)}/s`,
    ...(secondsLeft === undefined ? [] : [`${timeText(secondsLeft * 1000)} left`]),
  ]
  return `download of ${forLine(host)}, process ${pid} (${forLine(version)}): ${parts.join(', ')}`
}

/** Prints the workers of a queue and returns the exit code. */
export async function showWorkers(options: ControlOptions, context: Context): Promise<number> {
  const { stdout } = context.io
  const workers = await withControl(options, context, (control) => control.workers())
  if (options.json) for (const worker of workers) await write(stdout, `${forJson(worker)}\n`)
  else if (workers.length === 0) await write(stdout, `no worker; start one: ${await commandOf('work', options, context)}\n`)
  else await write(stdout, `${aligned([HEADINGS, ...workers.map(workerRow)]).join('\n')}\n`)
  return EXIT.done
}

const HEADINGS = ['id', 'host', 'process', 'version', 'since', 'running', 'done', 'failed']

function workerRow({ id, host, pid, version, since, running, done, failed }: QueueWorker): readonly string[] {
  return [id, host, pid, version, since, running, done, failed].map((cell) => forLine(String(cell)))
}

/** Removes the waiting jobs of a queue after a confirmation, and returns the exit code. Errors: `USAGE` without a terminal and `--yes`. */
export async function drainQueue(options: ControlOptions, context: Context): Promise<number> {
  const { io, diagnostics } = context
  return withControl(options, context, async (control) => {
    const before = await control.status()
    const what = plural(before.waiting, 'waiting job')
    if (!options.yes) {
      if (!isTerminal(io)) throw usageError(`${what} would be removed: this needs a confirmation ${atTerminal(io)}`, 'give --yes')
      const details = `  The ${before.active} running jobs are finished. The commands that fill the queue end with exit code 5.\n`
      if (!(await new Terminal(io).agrees(`Remove ${what}?`, details))) {
        await diagnostics.note('nothing was removed')
        return EXIT.interrupted
      }
    }
    // Workers went on while the question was open.
    const { waiting: removed } = options.yes ? before : await control.status()
    await control.drain()
    const after = await control.status()
    if (options.json) await write(io.stdout, `${forJson({ removed, ...after })}\n`)
    else await write(io.stdout, `removed ${plural(removed, 'waiting job')}; ${plural(after.active, 'running job')} to be finished\n`)
    return EXIT.done
  })
}

/** Prints the files that failed and returns the exit code. */
export async function showFailures(options: ControlOptions, context: Context): Promise<number> {
  const { io } = context
  const failures = await withControl(options, context, async (control) => {
    const found = await control.failures()
    if (options.clear) await control.forget()
    return found
  })
  const sorted = [...failures].sort((one, other) => (one.name < other.name ? -1 : 1))
  if (options.json) for (const failure of sorted) await write(io.stdout, `${forJson(failure)}\n`)
  else for (const failure of sorted) await write(io.stdout, failureText(failure, context))
  return EXIT.done
}

function failureText({ name, url, code, message, time }: FailedFile, { io }: Context): string {
  const { red, cross, dim } = styleOf(io, io.stdout)
  return `${red(cross)} ${forLine(name)}  ${dim(`${forLine(url)}  ${forLine(time)}`)}\n    ${forLine(code)}: ${forLine(message)}\n`
}
