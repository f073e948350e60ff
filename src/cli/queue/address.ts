/** The value of `--queue`. */
import { type RedisAddress, redisAddressOf } from '../../node/queue/index.ts'
import type { Context } from '../context.ts'
import { usageError } from '../exit-code.ts'

/** The value of `--queue`: a URL, or true to use the environment variable. */
export type QueueOption = string | true | undefined

/**
 * Returns the URL of the queue: the option, else `STAC_AUTH_QUEUE`. A password on the command line is accepted with a warning, because
 * other users of the machine can read it. Errors: `USAGE`.
 */
export function queueUrl(option: QueueOption, { io, diagnostics }: Context): string {
  const text = typeof option === 'string' ? option : io.env.STAC_AUTH_QUEUE
  if (!text) throw usageError('no queue is given', 'give --queue redis://host:port, or set STAC_AUTH_QUEUE to its URL with the password')
  if (typeof option === 'string' && redisAddressOf(text).password !== undefined)
    diagnostics.warn({
      code: 'CONFIG_INVALID',
      message: 'other users can read a password on the command line: set STAC_AUTH_QUEUE to the URL instead',
    })
  return text
}

/** Returns the URL without user name and password. Errors: `USAGE`. */
export function shownUrl(url: string): string {
  return redisAddressOf(url).shown
}

/** Returns the URL of the queue in parts. Errors: `USAGE`. */
export function queueAddress(option: QueueOption, context: Context): RedisAddress {
  return redisAddressOf(queueUrl(option, context))
}
