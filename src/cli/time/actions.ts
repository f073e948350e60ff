/** The actions of `time projects` and `time customers`. */

import { ConfigurationError } from '../errors.ts'
import { checkVersionedBase, numericId, TimeTrackingClient } from '../services/time-tracking/time-tracking-client.ts'
import { isObject } from '../stac/document.ts'
import { forJson, forLine } from '../text/sanitize.ts'
import type { Context } from './context.ts'
import { EXIT, usageError } from './exit-code.ts'
import { write } from './io.ts'
import { openAuth, serviceAuth } from './open-auth.ts'
import type { CredentialsOption } from './options.ts'
import { loggedTransport } from './request-log.ts'

export type TimeResource = 'projects' | 'customers'

export interface TimeOptions extends CredentialsOption {
  readonly baseUrl?: string
  readonly apiVersion?: string
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
}

/** Runs an action and returns its exit code. Errors: `USAGE`, `REQUEST_INVALID`, those of the client. */
export async function timeAction(
  action: TimeAction,
  name: TimeResource,
  id: string | undefined,
  options: TimeActionOptions,
  context: Context,
): Promise<number> {
  const { io, diagnostics } = context
  const number = id === undefined ? 0 : numericId(id)
  const fields = action === 'create' || action === 'update' ? writtenFields(options) : {}
  const resource = (await openClient(options, context)).resource(name)
  const call = { signal: io.signal }
  const print = (value: unknown, text: string) => write(io.stdout, withExactNumbers(options.json ? `${forJson(value ?? null, 2)}\n` : text))
  if (action === 'list') {
    const records = await resource.list(call)
    for (const { message } of records.decodeIssues) diagnostics.warn({ code: 'PAGE_UNREAD', message })
    await print(records, records.map((record) => `${forLine(columns(record).join('  '))}\n`).join(''))
    return EXIT.done
  }
  const send: Record<typeof action, () => Promise<unknown>> = {
    get: () => resource.get(number, call),
    create: () => resource.create(fields, call),
    update: () => resource.update(number, fields, call),
    delete: () => resource.delete(number, call),
  }
  const result = await send[action]()
  await print(result, recordText(result))
  if (action !== 'get') await diagnostics.note(`${action}d`)
  return EXIT.done
}

/** Formats one line per field; nothing for an empty response. */
function recordText(record: unknown): string {
  if (record === undefined) return ''
  if (!isObject(record)) return `${forLine(valueText(record))}\n`
  return Object.entries(record)
    .map(([name, value]) => `${forLine(`${name}: ${valueText(value)}`)}\n`)
    .join('')
}

/** Id, name, status and customer. */
function columns(record: unknown): string[] {
  if (!isObject(record)) return [valueText(record)]
  const { id, name, status, customer_name } = record
  return [id, name, status, customer_name].filter((value) => value !== undefined && value !== null).map(valueText)
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : forJson(value ?? null)
}

/**
 * Returns a client with the token in `STAC_AUTH_TIME_TOKEN`, else with the credential that allows the service.
 *
 * Errors: `USAGE` without a URL, `URL_INSECURE` and `CONFIG_INVALID` for a wrong one before a credential is read, those of the
 * credential file.
 */
async function openClient(options: TimeOptions, context: Context): Promise<TimeTrackingClient> {
  const { env } = context.io
  const baseUrl = options.baseUrl ?? (env.STAC_AUTH_TIME_URL || undefined)
  if (baseUrl === undefined) throw usageError('no service is given: give --base-url or set STAC_AUTH_TIME_URL')
  const userAgent = options.userAgent ?? (env.STAC_AUTH_TIME_USER_AGENT || undefined)
  const common = {
    baseUrl,
    parseJson: parseExactly,
    ...(options.apiVersion !== undefined && { apiVersion: options.apiVersion }),
    ...(options.allowInsecure && { allowInsecure: 'loopback' as const }),
    ...(userAgent !== undefined && { userAgent }),
    ...(await loggedTransport(context)),
  }
  try {
    checkVersionedBase(common)
  } catch (error) {
    throw inOptions(error)
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
function inOptions(error: unknown): unknown {
  if (!(error instanceof ConfigurationError) || error.hint === undefined) return error
  const hint =
    error.code === 'URL_INSECURE'
      ? 'use https:, or --allow-insecure for tests on this machine'
      : 'add the version to the end of the URL, or give --api-version'
  return new ConfigurationError(error.code, error.message, { hint })
}

/** Marks exact numbers; random, so that no text of a service can contain it. */
const MARK = `number ${crypto.randomUUID()} `

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g')

/** Parses JSON; numbers that JavaScript cannot represent exactly become marked strings. Errors: `SyntaxError`. */
function parseExactly(text: string): unknown {
  const plain: unknown = JSON.parse(text)
  const exact = text.replace(TOKEN, (token) => (token.startsWith('"') || String(Number(token)) === token ? token : `"${MARK}${token}"`))
  return exact === text ? plain : JSON.parse(exact)
}

/** Restores marked numbers in the output. */
function withExactNumbers(text: string): string {
  return text.replace(MARKED, '$1').replaceAll(MARK, '')
}

/** Returns the fields to write. Errors: `USAGE` for none, a repeated or a malformed field. */
function writtenFields({ name, set = [] }: TimeActionOptions): Readonly<Record<string, string>> {
  const pairs = set.map((text): [string, string] => {
    const equals = text.indexOf('=')
    if (equals < 1) throw usageError('--set must be FIELD=VALUE')
    return [text.slice(0, equals), text.slice(equals + 1)]
  })
  if (name !== undefined) pairs.unshift(['name', name])
  if (pairs.length === 0) throw usageError('no field is given: give --name NAME or --set FIELD=VALUE')
  const twice = pairs.find(([field], index) => pairs.findIndex(([other]) => other === field) < index)
  if (twice) throw usageError(`the field ${JSON.stringify(twice[0])} is given twice`)
  return Object.fromEntries(pairs)
}
