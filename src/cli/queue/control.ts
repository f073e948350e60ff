/** Runs `queue`. */
import { plural } from '../../lint/reporters/report.ts'
import type { FailedFile, QueueControl, QueueStatus } from '../../node/queue/index.ts'
import { forJson, forLine } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-code.ts'
import { styleOf, write } from '../io.ts'
import { queueAddress } from './address.ts'

/** Options of all commands below `queue`. */
export interface ControlOptions {
  readonly queue?: string
  readonly outputDir?: string
  readonly json?: boolean
  readonly clear?: boolean
}

/** Opens the queue that the options name, and runs an action with it. Errors: `USAGE`, those of `queueControl`. */
async function withControl<T>(
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
  const { stdout } = context.io
  await write(stdout, options.json ? `${forJson(status)}\n` : `${statusLine(status)}\n`)
  return EXIT.done
}

function statusLine({ paused, workers, waiting, active, failed }: QueueStatus): string {
  const connected = workers === undefined ? [] : [plural(workers, 'worker')]
  const files = failed === undefined ? [] : [`${plural(failed, 'file')} failed`]
  return [paused ? 'paused' : 'running', ...connected, `${plural(waiting, 'job')} waiting`, `${active} active`, ...files].join(', ')
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
