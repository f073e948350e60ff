import { type Command, InvalidArgumentError } from 'commander'
import { isAuthError } from '../../errors.ts'
import type { Context } from '../context.ts'
import { exitOfSignal } from '../exit-code.ts'

interface WorkerOptions {
  readonly queue?: string
  readonly concurrency: number
}

/** `worker`: runs lint jobs from a queue until it is stopped. */
export function addWorker(program: Command, context: Context): void {
  program
    .command('worker')
    .description('run the jobs of lint --queue until SIGTERM or SIGINT')
    .option('--queue <url>', 'connect to redis://host:port or rediss://host:port (default: STAC_AUTH_QUEUE)')
    .option('--concurrency <n>', 'run this many jobs at a time, on one processor', atATime, 1)
    .action(context.run((options: WorkerOptions) => work(options, context)))
}

async function work({ queue, concurrency }: WorkerOptions, context: Context): Promise<number> {
  const { io, diagnostics } = context
  const [{ queueAddress }, { lintJob }, { workJobs }] = await Promise.all([
    import('../lint/lint-job.ts'),
    import('../lint/lint-job.ts'),
    import('../../node/queue/job-queue.ts'),
  ])
  const address = queueAddress(queue, context)
  const counts = { done: 0, failed: 0 }
  try {
    return await workJobs({
      address,
      concurrency,
      signal: io.signal,
      work: lintJob,
      onReady: () => void diagnostics.note(`waiting for jobs from ${address.shown}`),
      onJob: (done) => {
        counts[done ? 'done' : 'failed']++
        if (!done)
          diagnostics.warn({ code: 'JOB_FAILED', message: 'a job failed: it is not a job of stac-auth lint, or from another version' })
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
