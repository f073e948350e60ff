/** Whether a queue runs jobs now, and why not. */

import { type AuthError, TimeoutError } from '../../errors.ts'
import { commandWord } from '../../text/shell-word.ts'
import type { RedisAddress } from '../base/redis-connection.ts'
import { countByVersion, ownVersion, type QueueWorker } from './queue-processes.ts'
import type { QueueState } from './queued-downloads.ts'

/** Returns a command with the queue: its URL, unless it has a password, which is in `STAC_AUTH_QUEUE` then; and its folder. */
export function queueCommand(command: string, { shown, password }: RedisAddress, folder: string | undefined): string {
  const queue = password === undefined ? ` --queue ${commandWord(shown)}` : ''
  return `stac-auth queue ${command}${folder === undefined ? '' : ` -d ${commandWord(folder)}`}${queue}`
}

interface Facts {
  readonly paused: boolean
  /** Of all versions. */
  readonly workers: readonly QueueWorker[]
  /** Name of the queue. */
  readonly queue: string
  readonly address: RedisAddress
  readonly folder: string | undefined
}

/** Returns the state of a queue. */
export function stateOf({ paused, workers, queue, address, folder }: Facts): QueueState {
  const ours = workers.filter((worker) => worker.queue === queue)
  const state = { paused, workers: countByVersion(ours) }
  const withProblem = (why: string, hint: string) => ({
    ...state,
    problem: new TimeoutError('TIMEOUT_QUEUE', `${address.shown}: ${why}`, { hint }),
  })
  const command = (name: string) => queueCommand(name, address, folder)
  if (paused) return withProblem('the queue is paused', `resume it: ${command('resume')}`)
  if (ours.length > 0) return state
  const others = Object.keys(countByVersion(workers)).join(', ')
  return others === ''
    ? withProblem('no worker takes these jobs', `start one: ${command('work')}`)
    : withProblem(
        `the workers run stac-auth ${others}, which cannot run jobs of ${ownVersion()}`,
        `start one of this version: ${command('work')}`,
      )
}

/** Returns a listener that tells each reason why no job is run, when it begins. */
export function tellProblems(tell: (problem: AuthError) => void): (state: QueueState) => void {
  let last: string | undefined
  return ({ problem }) => {
    if (problem && problem.message !== last) tell(problem)
    last = problem?.message
  }
}
