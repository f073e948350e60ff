import { ConfigurationError } from '../../errors.ts'
import type { TimeTrackingClient } from '../../time-tracking/time-tracking-client.ts'
import type { Context } from '../context.ts'
import { openAuth } from '../open-auth.ts'
import { serviceAuth } from '../service-auth.ts'
import { usageError } from '../usage.ts'
import { parseExactly } from './exact-numbers.ts'
import type { TimeOptions } from './options.ts'

/**
 * The client of the service that is named, with the token of `STAC_AUTH_TIME_TOKEN`, else with the entry that may be sent there.
 *
 * Errors: `USAGE` without an address, `URL_INSECURE` and `CONFIG_INVALID` for a wrong one before a credential is read, those of the
 * credential file.
 */
export async function openClient(options: TimeOptions, context: Context): Promise<TimeTrackingClient> {
  const { env } = context.io
  const baseUrl = options.baseUrl ?? (env.STAC_AUTH_TIME_URL || undefined)
  if (baseUrl === undefined) throw usageError('which service? Give --base-url or set STAC_AUTH_TIME_URL')
  const userAgent = options.userAgent ?? (env.STAC_AUTH_TIME_USER_AGENT || undefined)
  const common = {
    baseUrl,
    parseJson: parseExactly,
    ...(options.apiVersion !== undefined && { versionSegment: options.apiVersion }),
    ...(options.allowInsecure && { allowInsecure: 'loopback' as const }),
    ...(userAgent !== undefined && { userAgent }),
  }
  const { checkVersionedBase } = await import('../../time-tracking/versioned-base.ts')
  try {
    checkVersionedBase(common)
  } catch (error) {
    throw inOptions(error)
  }
  const { TimeTrackingClient } = await import('../../time-tracking/time-tracking-client.ts')
  const { authHeader } = options
  if (env.STAC_AUTH_TIME_TOKEN) {
    const token = () => env.STAC_AUTH_TIME_TOKEN ?? ''
    return new TimeTrackingClient({ ...common, token, ...(authHeader === 'x-api-token' && { authHeader }) })
  }
  if (authHeader !== undefined)
    throw usageError('--auth-header is for the token of STAC_AUTH_TIME_TOKEN; an entry says itself where it goes')
  return new TimeTrackingClient({ ...common, auth: serviceAuth(await openAuth(context, options, [baseUrl])(), 'STAC_AUTH_TIME_TOKEN') })
}

/** What to do about an address, in the words of the command line. */
function inOptions(error: unknown): unknown {
  if (!(error instanceof ConfigurationError) || error.hint === undefined) return error
  const hint =
    error.code === 'URL_INSECURE'
      ? 'use https:; only for tests on this very machine: --allow-insecure'
      : 'write the version at its end, or give its last segment in --api-version'
  return new ConfigurationError(error.code, error.message, { hint })
}
