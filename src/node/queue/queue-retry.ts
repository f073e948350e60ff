/** Gives failed files to the workers again. */

import { throwIfAborted } from '../../net/cancellation.ts'
import { redisAddressOf } from '../base/redis-connection.ts'
import { openDestination } from '../download/destination/destination.ts'
import type { DownloadEvent } from '../download/download.ts'
import { DownloadRecord } from '../download/download-record.ts'
import { EventQueue } from '../download/download-run.ts'
import type { PlannedFile } from '../download/file-plan.ts'
import { FileNotes, identityOf } from './destination.ts'
import { type DownloadJob, type Known, plannedIn, readJob } from './download-job.ts'
import { QueueCarrier } from './download-queue.ts'
import { connectQueue } from './job-queue.ts'
import type { DownloadQueueOptions } from './queued-downloads.ts'

export interface RetryOptions extends Pick<DownloadQueueOptions, 'queue' | 'onState'> {
  /** The folder or bucket of the downloads. */
  readonly folder: string
  readonly signal: AbortSignal
}

/**
 * Yields the events of the files that failed after a worker had got them, and are given to workers once more. Files that failed before have no
 * job: only their download tries them again.
 *
 * Errors: those of `downloadByQueue`; `TIMEOUT_QUEUE` without a worker, `JOB_FAILED` when the queue is drained.
 */
export async function* retryFailed({ queue, folder, signal, onState }: RetryOptions): AsyncGenerator<DownloadEvent, void> {
  const address = redisAddressOf(queue)
  const target = await openDestination(folder)
  const destination = await identityOf(target)
  const jobs = await failedJobs(queue, destination, signal)
  const files = jobs.map((job, index): Retried => ({ job, planned: plannedIn(job, 0, target, index + 1) }))
  for (const { planned } of files) yield { kind: 'planned', file: planned.file }
  const record = await DownloadRecord.open(target, {})
  try {
    // The files of one download have the same settings.
    const groups = new Map<string, Retried[]>()
    for (const file of files) {
      const key = JSON.stringify(file.job.settings)
      groups.set(key, [...(groups.get(key) ?? []), file])
    }
    for (const group of groups.values()) {
      const options = { ...group[0]?.job.settings, folder }
      const carrier = await QueueCarrier.open(address, destination, options, onState)
      try {
        yield* transferred(group, carrier, record, signal)
      } finally {
        await carrier.close()
      }
    }
  } finally {
    await record.close()
  }
}

/** A file, and the job that failed. */
interface Retried {
  readonly job: DownloadJob
  readonly planned: PlannedFile
}

/** Returns the jobs of failed files: anyone with access to the server may have written them. */
async function failedJobs(queue: string, destination: string, signal: AbortSignal): Promise<readonly DownloadJob[]> {
  const connection = await connectQueue(redisAddressOf(queue), signal)
  try {
    const notes = await Promise.race([new FileNotes(connection.client(), destination, 'jobs').all(), connection.lost])
    return [...notes].flatMap(([name, text]) => jobIn(text, name))
  } catch (error) {
    throw connection.meaning(error)
  } finally {
    connection.close()
  }
}

function jobIn(text: string, name: string): readonly DownloadJob[] {
  try {
    const job = readJob(JSON.parse(text))
    return job.files.length === 1 && job.files[0]?.name === name ? [job] : []
  } catch {
    return []
  }
}

async function* transferred(
  files: readonly Retried[],
  carrier: QueueCarrier,
  record: DownloadRecord,
  signal: AbortSignal,
): AsyncGenerator<DownloadEvent, void> {
  const events = new EventQueue(() => undefined)
  // The names were planned, and so were the suffixes that they must not get.
  const plan = { withSuffix: () => undefined, refusedSuffixes: () => [] }
  carrier.begin({ record, plan, signal, tell: (event) => events.tell(event) })
  for (const { planned } of files) carrier.note({ kind: 'planned', file: planned.file })
  carrier.complete()
  transferAll(files, carrier, events, signal).then(
    () => events.end(),
    (error) => events.end(error),
  )
  for await (const event of events) {
    carrier.note(event)
    yield event
  }
}

async function transferAll(files: readonly Retried[], carrier: QueueCarrier, events: EventQueue, signal: AbortSignal): Promise<void> {
  for (let start = 0; start < files.length; start += carrier.most) {
    const some = files.slice(start, start + carrier.most)
    await Promise.all(some.map(async ({ planned, job }) => events.tell(await carrier.transfer(planned, knownIn(job)))))
    if (carrier.lost) throw carrier.lost
    throwIfAborted(signal)
  }
}

function knownIn({ files: [file] }: DownloadJob): Known {
  const { refused, suffix, owner, known } = file ?? {}
  return {
    ...(refused && { refused }),
    ...(suffix !== undefined && { suffix }),
    ...(owner !== undefined && { owner }),
    ...(known && { known }),
  }
}
