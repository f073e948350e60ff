import { ConfigurationError } from '../errors.ts'
import { Redactor } from '../text/redactor.ts'
import type { ApiClientOptions } from './api-client-options.ts'
import { Events } from './events.ts'
import type { Interceptor } from './interceptor.ts'
import { sharedLimits } from './service-limits.ts'
import type { Settings, Timeouts } from './settings.ts'

/** The settings of a client with those options, at that base address. */
export function settingsOf(
  options: ApiClientOptions,
  { origin, path }: { readonly origin: string; readonly path: string },
): Settings & { readonly interceptors: Interceptor[] } {
  const { limits = sharedLimits } = options
  return {
    origin,
    base: path,
    form: options.form ?? {},
    pinned: new Set(['authorization', ...(options.pinnedHeaders ?? [])].map((name) => name.toLowerCase())),
    timeouts: timeoutsOf(options.timeouts),
    maxRetries: options.maxRetries ?? 4,
    maxRetryAfter: options.maxRetryAfter ?? 60_000,
    queueLimit: options.queueLimit ?? Number.POSITIVE_INFINITY,
    renew: options.renew ?? true,
    hints: options.hints ?? {},
    codec: options.codec,
    parseJson: options.parseJson ?? JSON.parse,
    limits,
    events: new Events(options.hooks),
    redactor: new Redactor(),
    interceptors: [],
  }
}

/** What is undefined is not chosen. Errors: `CONFIG_INVALID` for what is no number, which would end nothing. */
function timeoutsOf(chosen: Timeouts = {}): Required<Timeouts> {
  const { attempt = 30_000, headers = 30_000, bodyIdle = 30_000, total = 120_000 } = chosen
  const timeouts = { attempt, headers, bodyIdle, total }
  for (const [name, time] of Object.entries(timeouts)) {
    if (Number.isNaN(Number(time))) throw new ConfigurationError('CONFIG_INVALID', `timeouts.${name} is no number of milliseconds`)
  }
  return timeouts
}
