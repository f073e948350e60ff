/** Names in Redis. */

/** Prefix of all keys. */
export const KEY_PREFIX = 'stac-auth'

/** Name of the queue of `lint`. It contains the version of the payload, so that incompatible processes do not share jobs. */
export const LINT_QUEUE = 'lint-v1'

/** Name of the queue of a destination, with the version of the payload. */
export function queueNameOf(destination: string): string {
  return `download-v1-${destination}`
}

/** The hash of the processes of a queue: one for all versions of the payload, so that they know of each other. */
export function processesKey(queue: string): string {
  return `${KEY_PREFIX}:processes:${queue.replace(/-v\d+/, '')}`
}

/** The number of times that a queue was drained. */
export function drainedKey(queue: string): string {
  return `${KEY_PREFIX}:drained:${queue}`
}
