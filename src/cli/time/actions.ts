/** The actions of `time`: on projects, customers, and the collections of a profile. */

import { ConfigurationError, isAuthError } from '../../errors.ts'
import { MARK, markedJson } from '../../services/client/exact-numbers.ts'
import {
  checkVersionedBase,
  numericId,
  TimeTrackingClient,
  type TimeTrackingOptions,
} from '../../services/time-tracking/time-tracking-client.ts'
import { isObject } from '../../stac/document.ts'
import type { Context } from '../context.ts'
import { EXIT, usageError } from '../exit-code.ts'
import { withHint, write } from '../io.ts'
import { openAuth, serviceAuth } from '../open-auth.ts'
import type { CredentialsOption } from '../options.ts'
import { jsonText, recordLine, recordText } from '../records.ts'
import { loggedTransport } from '../request-log.ts'
import { readTimeProfile } from './profile.ts'

export interface TimeOptions extends CredentialsOption {
  readonly baseUrl?: string
  readonly apiVersion?: string
  readonly profile?: string
  readonly userAgent?: string
  readonly authHeader?: 'authorization' | 'x-api-token'
  readonly allowInsecure?: boolean
  readonly json?: boolean
}

export type TimeAction = 'list' | 'get' | 'create' | 'update' | 'delete'

/** Options of all actions; `name` and `set` are the fields of a record. */
export interface TimeActionOptions extends TimeOptions {
  readonly name?: string
  readonly set?: readonly string[]
  readonly limit?: number
  readonly pageSize?: number
  readonly query?: readonly string[]
}

/** Runs an action and returns its exit code. Errors: `USAGE`, `REQUEST_INVALID`, those of the profile and of the client. */
export async function timeAction(
  action: TimeAction,
  name: string,
  id: string | undefined,
  options: TimeActionOptions,
  context: Context,
): Promise<number> {
  const { io, diagnostics } = context
  const isNumeric = name === 'projects' || name === 'customers'
  const key = isNumeric && id !== undefined ? numericId(id) : (id ?? '')
  const fields = action === 'create' || action === 'update' ? writtenFields(options) : {}
  const { path, profile } = options.profile === undefined ? { path: name, profile: {} } : await readTimeProfile(options.profile, name)
  const { paging = FOLLOWED } = profile
  if (options.pageSize !== undefined && !('size' in paging && paging.size))
    throw usageError('--page-size needs a --profile whose paging names the "size" parameter', 'or send it with --query NAME=VALUE')
  const query = pairsOf(options.query ?? [], '--query must be NAME=VALUE')
  const client = await openClient(options, { ...profile, paging }, context)
  const resource = client.resource(path)
  const call = { signal: io.signal }
  const print = (value: unknown, text: string) => write(io.stdout, withExactNumbers(options.json ? jsonText(value) : text))
  if (action === 'list') {
    client.on('warning', ({ message }) => diagnostics.warn({ code: 'PAGE_UNREAD', message: withExactNumbers(message) }))
    const all: unknown[] = []
    const { limit, pageSize } = options
    const pages = resource
      .iterate({ ...call, query, ...(limit !== undefined && { limit }), ...(pageSize !== undefined && { pageSize }) })
      .pages()
    try {
      for await (const records of pages) {
        if (options.json) all.push(...records)
        else await print(records, records.map((record) => recordLine(columns(record))).join(''))
      }
    } catch (error) {
      // What was received is printed.
      if (options.json && all.length > 0) await print(all, '')
      throw isAuthError(error) && /^the list is incomplete/.test(error.message) && options.profile === undefined
        ? withHint(error, PROFILE_HINT)
        : error
    }
    if (options.json) await print(all, '')
    return EXIT.done
  }
  const send: Record<typeof action, () => Promise<unknown>> = {
    get: () => resource.get(key, call),
    create: () => resource.create(fields, call),
    update: () => resource.update(key, fields, call),
    delete: () => resource.delete(key, call),
  }
  const result = await send[action]()
  await print(result, recordText(result))
  if (action !== 'get') await diagnostics.note(`${action}d`)
  return EXIT.done
}

/** Without a profile, a link to the next page is followed, on the same origin and below the URL of the service. */
const FOLLOWED = { style: 'link' } as const

/** Id, name, status and customer; of a record without a name its first fields. */
function columns(record: unknown): readonly unknown[] {
  if (!isObject(record)) return [record]
  const { id, name, status, customer_name } = record
  return name === undefined ? Object.values(record).filter(isScalar).slice(0, SHOWN) : [id, name, status, customer_name]
}

/** Number of fields in a line. */
const SHOWN = 6

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}

/**
 * Returns a client with the token in `STAC_AUTH_TIME_TOKEN`, else with the credential that allows the service.
 *
 * Errors: `USAGE` without a URL, `URL_INSECURE` and `CONFIG_INVALID` for a wrong one before a credential is read, those of the
 * credential file.
 */
async function openClient(options: TimeOptions, profile: TimeTrackingOptions['profile'], context: Context): Promise<TimeTrackingClient> {
  const { env } = context.io
  const baseUrl = options.baseUrl ?? (env.STAC_AUTH_TIME_URL || undefined)
  if (baseUrl === undefined) throw usageError('no service is given: give --base-url or set STAC_AUTH_TIME_URL')
  const userAgent = options.userAgent ?? (env.STAC_AUTH_TIME_USER_AGENT || undefined)
  const common = {
    baseUrl,
    parseJson: (text: string) => JSON.parse(markedJson(text)),
    ...(profile && { profile }),
    ...(options.apiVersion !== undefined && { apiVersion: options.apiVersion }),
    ...(options.allowInsecure && { allowInsecure: 'loopback' as const }),
    ...(userAgent !== undefined && { userAgent }),
    ...(await loggedTransport(context)),
  }
  try {
    checkVersionedBase(common)
  } catch (error) {
    throw inOptions(error, baseUrl)
  }
  const { authHeader } = options
  if (env.STAC_AUTH_TIME_TOKEN) {
    const token = () => env.STAC_AUTH_TIME_TOKEN ?? ''
    return new TimeTrackingClient({ ...common, token, ...(authHeader === 'x-api-token' && { authHeader }) })
  }
  if (authHeader !== undefined) throw usageError('--auth-header needs STAC_AUTH_TIME_TOKEN; a credential specifies its own header')
  return new TimeTrackingClient({ ...common, auth: serviceAuth(await openAuth(context, options, [baseUrl])(), 'STAC_AUTH_TIME_TOKEN') })
}

/** Replaces the hint of an error about the URL with one that names options. */
function inOptions(error: unknown, baseUrl: string): unknown {
  if (!(error instanceof ConfigurationError) || error.hint === undefined) return error
  const [, version] = /\/(v\d[\w.-]*)\/*$/.exec(baseUrl) ?? []
  const end = version === undefined ? 'add the version to the end of the URL, or give --api-version' : `give --api-version ${version}`
  const hint = error.code === 'URL_INSECURE' ? 'use https:, or --allow-insecure for tests on this machine' : end
  return new ConfigurationError(error.code, error.message, { hint })
}

/** For a list whose next page is named in another way than by a link. */
const PROFILE_HINT =
  'say in a file for --profile how lists are paged, such as { "paging": { "style": "cursor", "cursor": "/next", "parameter": "cursor" } }'

const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g')

/** Restores marked numbers in the output. */
function withExactNumbers(text: string): string {
  return text.replace(MARKED, '$1').replaceAll(MARK, '')
}

/** Returns the fields to write. Errors: `USAGE` for none, a repeated or a malformed field. */
function writtenFields({ name, set = [] }: TimeActionOptions): Readonly<Record<string, string>> {
  const fields = pairsOf(set, '--set must be FIELD=VALUE')
  if (name !== undefined && Object.hasOwn(fields, 'name')) throw usageError('the field "name" is given twice')
  const all = name === undefined ? fields : { name, ...fields }
  if (Object.keys(all).length === 0) throw usageError('no field is given: give --name NAME or --set FIELD=VALUE')
  return all
}

/** Returns names and values. Errors: `USAGE` for a malformed or repeated one. */
function pairsOf(texts: readonly string[], malformed: string): Readonly<Record<string, string>> {
  const pairs = new Map<string, string>()
  for (const text of texts) {
    const equals = text.indexOf('=')
    if (equals < 1) throw usageError(malformed)
    const name = text.slice(0, equals)
    if (pairs.has(name)) throw usageError(`the field ${JSON.stringify(name)} is given twice`)
    pairs.set(name, text.slice(equals + 1))
  }
  return Object.fromEntries(pairs)
}
