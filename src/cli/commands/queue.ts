import type { Command } from 'commander'
import type { Context } from '../context.ts'
import type { RetryOptions } from '../download/retry.ts'
import { wholeFrom, withByAddressOption, withCredentialsOption } from '../options.ts'
import type { ControlOptions } from '../queue/control.ts'
import type { WorkOptions } from '../queue/work.ts'

const NOTE = `
Without -d the worker runs lint jobs, and needs no credential and no file.
With -d it downloads with its own credentials, and writes nothing outside of the folder.
Private and loopback addresses are refused, except the origins of URLS and those in sendTo.`

/** `queue work|show|workers|pause|resume|drain|failed|retry`: runs the jobs of a queue, looks into it and controls its workers. */
export function addQueue(program: Command, context: Context): void {
  const queue = program.command('queue').description('run, show and control the jobs of lint --queue or download --queue')
  withWorkOptions(queue.command('work [urls...]'), context)
  const withOptions = (command: Command) =>
    withQueueOption(command)
      .option('-d, --output-dir <folder>', 'select the downloads into this folder (default: the jobs of lint)')
      .option('--json', 'print JSON')
  const show = (change: 'pause' | 'resume' | undefined) =>
    context.run(async (options: ControlOptions) => (await import('../queue/control.ts')).showQueue(change, options, context))
  withOptions(queue.command('show').description('show whether it is paused, workers, jobs and the progress of downloads')).action(
    show(undefined),
  )
  withOptions(queue.command('status', { hidden: true }).description('show the queue: the former name of queue show')).action(
    show(undefined),
  )
  withOptions(queue.command('workers').description('list the workers: host, version, start and jobs')).action(
    context.run(async (options: ControlOptions) => (await import('../queue/control.ts')).showWorkers(options, context)),
  )
  withOptions(queue.command('pause').description('let workers start no further job')).action(show('pause'))
  withOptions(queue.command('resume').description('let workers start jobs again')).action(show('resume'))
  withOptions(queue.command('drain').description('remove the jobs that wait; workers finish those that they run'))
    .option('--yes', 'do not ask')
    .action(context.run(async (options: ControlOptions) => (await import('../queue/control.ts')).drainQueue(options, context)))
  withQueueOption(queue.command('failed').description('list files that failed and were not downloaded since, with the reasons'))
    .requiredOption('-d, --output-dir <folder>', 'select the downloads into this folder')
    .option('--json', 'print JSON')
    .option('--clear', 'empty the list afterwards')
    .action(context.run(async (options: ControlOptions) => (await import('../queue/control.ts')).showFailures(options, context)))
  withQueueOption(queue.command('retry').description('give files that failed to the workers again'))
    .requiredOption('-d, --output-dir <folder>', 'select the downloads into this folder')
    .option('--all', 'name every file that fails again, not the first three of each reason')
    .option('--json', 'print one JSON event per line')
    .action(context.run(async (options: RetryOptions) => (await import('../download/retry.ts')).retryQueue(options, context)))
}

/** `worker`: the former name of `queue work`. */
export function addWorker(program: Command, context: Context): void {
  withWorkOptions(program.command('worker [urls...]', { hidden: true }), context)
}

function withWorkOptions(command: Command, context: Context): void {
  withQueueOption(command.description('run the jobs of lint --queue or download --queue until SIGTERM or SIGINT'))
    .option('-d, --output-dir <folder>', 'run the downloads into this folder or s3://bucket/prefix (default: the jobs of lint)')
    .option('--concurrency <n>', 'run this many lint jobs (default: 1) or downloads (default: 16) at a time', wholeFrom(1, 99))
  withByAddressOption(withCredentialsOption(command))
    .addHelpText('after', NOTE)
    .action(
      context.run(async (urls: string[], options: WorkOptions) => (await import('../queue/work.ts')).workQueue(urls, options, context)),
    )
}

function withQueueOption(command: Command): Command {
  return command.option('--queue <url>', 'connect to redis://host:port or rediss://host:port (default: STAC_AUTH_QUEUE)')
}
