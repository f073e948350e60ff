import type { Command } from 'commander'
import type { Context } from '../context.ts'
import type { ControlOptions } from '../queue/control.ts'

/** `queue status|pause|resume|failed`: looks into a queue and controls its workers. */
export function addQueue(program: Command, context: Context): void {
  const queue = program.command('queue').description('show, pause and resume the queue of lint --queue or download --queue')
  const withOptions = (command: Command) =>
    command
      .option('--queue <url>', 'connect to redis://host:port or rediss://host:port (default: STAC_AUTH_QUEUE)')
      .option('-d, --output-dir <folder>', 'select the downloads into this folder (default: the jobs of lint)')
      .option('--json', 'print JSON')
  const show = (change: 'pause' | 'resume' | undefined) =>
    context.run(async (options: ControlOptions) => (await import('../queue/control.ts')).showQueue(change, options, context))
  withOptions(queue.command('status').description('show workers, jobs and failed files')).action(show(undefined))
  withOptions(queue.command('pause').description('let workers start no further job')).action(show('pause'))
  withOptions(queue.command('resume').description('let workers start jobs again')).action(show('resume'))
  withOptions(queue.command('failed').description('list files that failed and were not downloaded since, with the reasons'))
    .option('--clear', 'empty the list afterwards')
    .action(context.run(async (options: ControlOptions) => (await import('../queue/control.ts')).showFailures(options, context)))
}
