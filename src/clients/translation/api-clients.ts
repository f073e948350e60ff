/** The clients of an API behind a client of the translation service. */
import type { Auth } from '../../auth/auth.ts'
import type { ServiceCredential } from '../../auth/credential.ts'
import { ConfigurationError } from '../../errors.ts'
import { ApiClient } from '../api-client.ts'
import type { ApiClientOptions } from '../api-client-options.ts'
import { PACKAGE_VERSION } from '../package-version.ts'
import { keyEntry } from './api-key.ts'
import { hostsOf } from './host.ts'
import { reportingTag } from './reporting-tag.ts'
import type { TranslationClientOptions } from './translation-options.ts'

const HINTS = {
  403: 'check the key, its scopes and its plan: keys that end in :fx belong to the free host, and administration needs an administrator',
  413: 'send less at once: a text request has at most 128 KiB',
  456: 'the quota or the limit of the key is used up: raise it, or wait for the next period',
}

/** One client for each host that is possible. Errors: `CONFIG_INVALID`, `URL_INSECURE`, `REQUEST_INVALID` for a bad tag. */
export function apiClients(options: TranslationClientOptions): readonly ApiClient[] {
  const { baseUrl, plan, apiKey, auth } = options
  if ((apiKey === undefined) === (auth === undefined))
    throw new ConfigurationError('CONFIG_INVALID', 'a translation client needs either apiKey or auth')
  const knowsHost = baseUrl !== undefined || plan !== undefined
  if (!knowsHost && typeof apiKey !== 'string' && typeof apiKey !== 'function')
    throw new ConfigurationError('CONFIG_INVALID', 'the host cannot be told from the credential: give baseUrl or plan')
  return hostsOf(options).map((host) => new ApiClient({ ...inherited(options), ...credentials(options), baseUrl: host }))
}

function inherited({ authHeader, reportingTag: tag, appInfo, headers, ...options }: TranslationClientOptions): Partial<ApiClientOptions> {
  const { baseUrl: _baseUrl, plan: _plan, apiKey: _apiKey, auth: _auth, validate: _validate, maxTextsPerRequest: _max, ...own } = options
  return {
    ...own,
    hints: HINTS,
    form: { arrays: 'repeat' },
    userAgent: userAgent(appInfo),
    headers: { ...headers, ...(tag !== undefined && { 'x-deepl-reporting-tag': reportingTag(tag) }) },
    ...(authHeader && { pinnedHeaders: [authHeader.name] }),
  }
}

function credentials({ apiKey, auth, authHeader }: TranslationClientOptions): { auth: Auth } | { credential: ServiceCredential } {
  if (apiKey !== undefined) return { credential: keyEntry(apiKey, authHeader) }
  return isEntry(auth) ? { credential: auth } : { auth: auth as Auth }
}

function isEntry(auth: TranslationClientOptions['auth']): auth is ServiceCredential {
  return typeof (auth as { readonly type?: unknown }).type === 'string'
}

function userAgent({ name, version }: NonNullable<TranslationClientOptions['appInfo']> = { name: '' }): string {
  const app = name && (version === undefined ? name : `${name}/${version}`)
  if (/^[\x20-\x7e]*$/.test(app)) return `stac-auth/${PACKAGE_VERSION}${app && ` ${app}`}`
  throw new ConfigurationError('CONFIG_INVALID', 'appInfo has characters that a header cannot carry')
}
