import { type RedisAddress, redisAddressOf } from '../../node/queue/redis-address.ts'
import type { Context } from '../context.ts'
import { usageError } from '../usage.ts'

/** What `--queue` says: an address, or that the environment says it. */
export type QueueOption = string | true | undefined

/**
 * The queue that is meant: the address given, else that in `STAC_AUTH_QUEUE`. A password on the command line is taken, and
 * advised against: other users of the machine can read it there. Errors: `USAGE`.
 */
export function queueAddress(option: QueueOption, { io, diagnostics }: Context): RedisAddress {
  const text = typeof option === 'string' ? option : io.env.STAC_AUTH_QUEUE
  if (!text) throw usageError('which queue?', 'give --queue redis://host:port, or its address with the password in STAC_AUTH_QUEUE')
  const address = redisAddressOf(text)
  if (typeof option === 'string' && address.password !== undefined)
    diagnostics.warn({
      code: 'CONFIG_INVALID',
      message: 'others can read a password on the command line: put the address into STAC_AUTH_QUEUE',
    })
  return address
}
