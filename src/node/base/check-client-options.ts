/** Checks the options of the clients of services, for programs without types. */
import { isToken } from '../../http/headers.ts'
import type { ApiClientOptions, Timeouts } from '../../services/client/api-client.ts'
import type { Hooks } from '../../services/client/events.ts'
import type { FormOptions } from '../../services/client/form.ts'
import type { ServiceLimits } from '../../services/client/pacer.ts'
import type { TimeTrackingOptions } from '../../services/time-tracking/time-tracking-client.ts'
import type { TranslationClientOptions } from '../../services/translation/translation-service.ts'
import { isObject } from '../../stac/document.ts'
import {
  AMOUNT,
  ANYTHING,
  checkNamed,
  ENGINE,
  type Expected,
  FLAG,
  FUNCTION,
  fits,
  OBJECT,
  oneOf,
  type Table,
  TEXT,
  TEXTS,
  withMethods,
} from './check-options.ts'

/** Without line breaks and characters beyond Latin-1. */
function isHeaderValue(value: unknown): boolean {
  return typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
}

const VALUE = fits('a string that a header may have', isHeaderValue)
const HEADERS = fits(
  'an object of header names and values',
  (value) => OBJECT.fits(value) && Object.entries(value as object).every(([name, text]) => isToken(name) && isHeaderValue(text)),
)
const RATE = fits('a number above 0', (value) => AMOUNT.fits(value) && value !== 0)

const TIMEOUTS: Table<Timeouts> = {
  attempt: AMOUNT,
  headers: AMOUNT,
  body: AMOUNT,
  total: fits('a number of 0 or more, or false', (value) => value === false || AMOUNT.fits(value)),
}

const FORM: Table<FormOptions> = {
  arrays: oneOf('indices', 'brackets', 'repeat', 'comma'),
  nesting: oneOf('brackets', 'dots'),
  booleans: oneOf('digits', 'words'),
  dates: oneOf('iso', 'unix'),
  nulls: oneOf('empty', 'skip', 'error'),
  spaces: oneOf('percent', 'plus'),
}

const HOOKS: Table<Hooks> = {
  ...{ request: FUNCTION, response: FUNCTION, retry: FUNCTION, queue: FUNCTION },
  ...{ warning: FUNCTION, progress: FUNCTION, hookError: FUNCTION },
}

/** Options of every client; the constructors check the base URL and the limits. */
const COMMON = {
  baseUrl: ANYTHING,
  transport: FUNCTION,
  allowInsecure: oneOf('loopback'),
  timeouts: OBJECT,
  retries: AMOUNT,
  maxRetryAfter: AMOUNT,
  queueLimit: AMOUNT,
  limits: ANYTHING,
  hooks: OBJECT,
} satisfies Partial<Table<ApiClientOptions>>

const API_CLIENT: Table<ApiClientOptions> = {
  ...COMMON,
  credential: fits('a credential', OBJECT.fits),
  auth: ENGINE,
  userAgent: VALUE,
  headers: HEADERS,
  pinnedHeaders: TEXTS,
  form: OBJECT,
  refresh: FLAG,
  hints: OBJECT,
  parseJson: FUNCTION,
  codec: withMethods('an object', 'parse'),
}

const AUTH = fits('a credential or an engine', OBJECT.fits)

const TRANSLATION: Table<TranslationClientOptions> = {
  ...COMMON,
  ...{ plan: ANYTHING, apiKey: ANYTHING, authHeader: ANYTHING },
  auth: AUTH,
  headers: HEADERS,
  codec: API_CLIENT.codec,
  reportingTag: TEXT,
  appInfo: fits('an object with name', (value) => isObject(value) && typeof value.name === 'string'),
  validate: oneOf('strict', 'document', 'off'),
  maxTextsPerRequest: fits('a whole number of 1 or more', (value) => Number.isInteger(value) && Number(value) >= 1),
}

const TIME_TRACKING: Table<TimeTrackingOptions> = {
  ...COMMON,
  ...{ token: ANYTHING, authHeader: ANYTHING },
  auth: AUTH,
  userAgent: VALUE,
  apiVersion: fits('a string or false', (value) => value === false || typeof value === 'string'),
  profile: OBJECT,
  parseJson: FUNCTION,
}

const PROFILE: Table<NonNullable<TimeTrackingOptions['profile']>> = { form: OBJECT, envelope: ANYTHING, paging: OBJECT, replay: OBJECT }

const TABLES: Readonly<Record<string, Readonly<Record<string, Expected>>>> = {
  ApiClient: API_CLIENT,
  TranslationClient: TRANSLATION,
  TimeTrackingClient: TIME_TRACKING,
}

/**
 * Refuses unknown options, which would do nothing, and values of another type. Errors: `CONFIG_INVALID`.
 *
 * @param name of the class of the client
 */
export function checkClient(name: string, options: object): void {
  checkNamed(name, options, TABLES[name] ?? {})
  const { timeouts = {}, hooks = {}, form = {}, profile = {}, limits } = options as Partial<ApiClientOptions & TimeTrackingOptions>
  checkNamed('timeouts', timeouts, TIMEOUTS)
  checkNamed('hooks', hooks, HOOKS)
  checkNamed('profile', profile, PROFILE)
  checkNamed('form', form, FORM)
  checkNamed('form', profile.form ?? {}, FORM)
  checkRate(limits)
}

function checkRate(limits: ServiceLimits | undefined): void {
  const { rate, burst } = limits?.rate ?? {}
  checkNamed('ServiceLimits', { rate, burst }, { rate: RATE, burst: AMOUNT })
}
