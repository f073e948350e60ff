import { type Command, InvalidArgumentError } from 'commander'
import { isAuthError } from '../../errors.ts'
import type { Context } from '../context.ts'
import { exitOfSignal } from '../exit-code.ts'

interface WorkerOptions {
  readonly queue?: string
  readonly concurrency: number
}

/** `worker`: takes lint jobs from a queue, until it is told to stop. */
export function addWorker(program: Command, context: Context): void {
  program
    .command('worker')
    .description('take jobs of lint --queue until SIGTERM or SIGINT; the job that was begun is finished')
    .option('--queue <address>', 'redis://host:port, or rediss:// with TLS (default: STAC_AUTH_QUEUE, which may hold a password)')
    .option('--concurrency <n>', 'jobs that are fetched and answered at a time; linting takes one processor', atATime, 1)
    .action(context.run((options: WorkerOptions) => work(options, context)))
}

async function work({ queue, concurrency }: WorkerOptions, context: Context): Promise<number> {
  const { io, diagnostics } = context
  const [{ queueAddress }, { lintJob }, { workJobs }] = await Promise.all([
    import('../lint/lint-job.ts'),
    import('../lint/lint-job.ts'),
    import('../../node/queue/work-jobs.ts'),
  ])
  const address = queueAddress(queue, context)
  const counts = { done: 0, failed: 0 }
  try {
    return await workJobs({
      address,
      concurrency,
      signal: io.signal,
      work: lintJob,
      onReady: () => void diagnostics.note(`taking jobs from ${address.shown}`),
      onJob: (done) => {
        counts[done ? 'done' : 'failed']++
        if (!done)
          diagnostics.warn({ code: 'JOB_FAILED', message: 'a job could not be done: it is none of stac-auth lint, or of another version' })
      },
    })
  } catch (error) {
    if (!isAuthError(error) || error.code !== 'ABORTED') throw error
    await diagnostics.note(`stopped after ${counts.done} jobs${counts.failed > 0 ? `, ${counts.failed} failed` : ''}`)
    return exitOfSignal(io.signal)
  }
}

function atATime(text: string): number {
  if (!/^[1-9]\d?$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 to 99.')
  return Number(text)
}
