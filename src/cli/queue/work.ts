/** Runs `queue work`. */
import { type AuthError, isAuthError } from '../../errors.ts'
import { plural } from '../../lint/reporters/report.ts'
import type { Context } from '../context.ts'
import { exitOfSignal } from '../exit-code.ts'
import type { ByAddressOption, CredentialsOption } from '../options.ts'
import { outputFolder } from '../output-folder.ts'

export interface WorkOptions extends CredentialsOption, ByAddressOption {
  readonly queue?: string
  readonly outputDir?: string
  readonly concurrency?: number
}

/** Runs the jobs of a queue until it is stopped. */
export async function workQueue(urls: readonly string[], options: WorkOptions, context: Context): Promise<number> {
  const { io, diagnostics } = context
  const [{ queueUrl, shownUrl }, { evictionText, KEEP_ALL }] = await Promise.all([import('./address.ts'), import('./state.ts')])
  const queue = queueUrl(options.queue, context)
  const counts = { done: 0, failed: 0 }
  const onReady = (eviction?: string) => {
    void diagnostics.note(`waiting for ${options.outputDir === undefined ? 'jobs' : 'downloads'} from ${shownUrl(queue)}`)
    if (eviction !== undefined)
      diagnostics.warn({ code: 'CONFIG_INVALID', message: `${shownUrl(queue)} ${evictionText(eviction)}`, hint: KEEP_ALL })
  }
  const onJob = (done: boolean, reason?: string) => {
    counts[done ? 'done' : 'failed']++
    if (!done) diagnostics.warn({ code: 'JOB_FAILED', message: `a job failed: ${reason ?? 'another worker has taken it over'}` })
  }
  const onRefused = ({ code, message }: AuthError) => diagnostics.warn({ code, message: `${message}. The worker goes on trying` })
  try {
    return await runJobs(queue, { ...options, urls }, { onReady, onJob, onRefused }, context)
  } catch (error) {
    if (!isAuthError(error) || error.code !== 'ABORTED') throw error
    await diagnostics.note(`stopped after ${plural(counts.done, 'job')}${counts.failed > 0 ? `, ${counts.failed} failed` : ''}`)
    return exitOfSignal(io.signal)
  }
}

interface Callbacks {
  readonly onReady: (eviction?: string) => void
  readonly onJob: (done: boolean, reason?: string) => void
  readonly onRefused: (error: AuthError) => void
}

async function runJobs(
  queue: string,
  { urls, outputDir, concurrency, ...credentials }: WorkOptions & { readonly urls: readonly string[] },
  callbacks: Callbacks,
  context: Context,
): Promise<never> {
  const { signal } = context.io
  if (outputDir === undefined) {
    const [{ redisAddressOf, workJobs }, { LINT_LOCK, lintJob }] = await Promise.all([
      import('../../node/queue/index.ts'),
      import('../lint/lint-job.ts'),
    ])
    const kind = { work: lintJob, lock: LINT_LOCK }
    return workJobs({ address: redisAddressOf(queue), concurrency: concurrency ?? 1, signal, ...kind, ...callbacks })
  }
  const [{ workDownloads }, { openAuth }] = await Promise.all([import('../../node/queue/index.ts'), import('../open-auth.ts')])
  const { orderingAuth } = await import('../orders.ts')
  const folder = await outputFolder(outputDir)
  const auth = await orderingAuth(await openAuth(context, credentials, urls)(), {}, context)
  return workDownloads({ queue, folder, auth, signal, ...(concurrency !== undefined && { concurrency }), ...callbacks })
}
