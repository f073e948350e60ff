/** The actions of `time projects` and `time customers`. */

import { ConfigurationError } from '../errors.ts'
import type { RestResource } from '../services/client/rest-resource.ts'
import { numericId, type TimeTrackingClient } from '../services/time-tracking/time-tracking-client.ts'
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

/** Options for the fields of a record. */
export interface FieldOptions {
  readonly name?: string
  readonly set?: readonly string[]
}

/** Runs the actions of one resource; each returns its exit code. Errors: `USAGE`, `REQUEST_INVALID`, those of the client. */
export class TimeActions {
  readonly #name: TimeResource
  readonly #context: Context

  constructor(name: TimeResource, context: Context) {
    this.#name = name
    this.#context = context
  }

  async list(options: TimeOptions): Promise<number> {
    const { io, diagnostics } = this.#context
    const records = await (await this.#resource(options)).list({ signal: io.signal })
    for (const { message } of records.decodeIssues) diagnostics.warn({ code: 'PAGE_UNREAD', message })
    await write(io.stdout, withExactNumbers(options.json ? `${forJson(records, 2)}\n` : listText(records)))
    return EXIT.done
  }

  async get(id: string, options: TimeOptions): Promise<number> {
    const number = numericId(id)
    return this.#print(await (await this.#resource(options)).get(number, this.#call), options)
  }

  async create(options: TimeOptions & FieldOptions): Promise<number> {
    const fields = writtenFields(options)
    return this.#print(await (await this.#resource(options)).create(fields, this.#call), options, 'created')
  }

  async update(id: string, options: TimeOptions & FieldOptions): Promise<number> {
    const number = numericId(id)
    const fields = writtenFields(options)
    return this.#print(await (await this.#resource(options)).update(number, fields, this.#call), options, 'updated')
  }

  async delete(id: string, options: TimeOptions): Promise<number> {
    const number = numericId(id)
    return this.#print(await (await this.#resource(options)).delete(number, this.#call), options, 'deleted')
  }

  get #call() {
    return { signal: this.#context.io.signal }
  }

  /** Returns the resource with undecoded values, for exact JSON output. */
  async #resource(options: TimeOptions): Promise<RestResource> {
    return (await openClient(options, this.#context)).resource(this.#name)
  }

  async #print(record: unknown, { json }: TimeOptions, done?: string): Promise<number> {
    const { io, diagnostics } = this.#context
    await write(io.stdout, withExactNumbers(json ? `${forJson(record ?? null, 2)}\n` : recordText(record)))
    if (done !== undefined) await diagnostics.note(done)
    return EXIT.done
  }
}

/** Formats one line per record: id, name, status and customer. */
function listText(records: readonly unknown[]): string {
  return records.map((record) => `${forLine(columns(record).join('  '))}\n`).join('')
}

/** Formats one line per field; nothing for an empty response. */
function recordText(record: unknown): string {
  if (record === undefined) return ''
  if (!isRecord(record)) return `${forLine(valueText(record))}\n`
  return Object.entries(record)
    .map(([name, value]) => `${forLine(`${name}: ${valueText(value)}`)}\n`)
    .join('')
}

function columns(record: unknown): string[] {
  if (!isRecord(record)) return [valueText(record)]
  const { id, name, status, customer_name } = record
  return [id, name, status, customer_name].filter((value) => value !== undefined && value !== null).map(valueText)
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : forJson(value ?? null)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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
  const { checkVersionedBase } = await import('../services/time-tracking/time-tracking-client.ts')
  try {
    checkVersionedBase(common)
  } catch (error) {
    throw inOptions(error)
  }
  const { TimeTrackingClient: Client } = await import('../services/time-tracking/time-tracking-client.ts')
  const { authHeader } = options
  if (env.STAC_AUTH_TIME_TOKEN) {
    const token = () => env.STAC_AUTH_TIME_TOKEN ?? ''
    return new Client({ ...common, token, ...(authHeader === 'x-api-token' && { authHeader }) })
  }
  if (authHeader !== undefined) throw usageError('--auth-header needs STAC_AUTH_TIME_TOKEN; a credential specifies its own header')
  return new Client({ ...common, auth: serviceAuth(await openAuth(context, options, [baseUrl])(), 'STAC_AUTH_TIME_TOKEN') })
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
function writtenFields({ name, set = [] }: FieldOptions): Readonly<Record<string, string>> {
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
