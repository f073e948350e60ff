/** The local gateway: programs request protected URLs from it without a credential. */

import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { Auth } from '../../auth/auth.ts'
import type { Warning } from '../../auth/strategy.ts'
import { AbortedError, ConfigurationError, type ErrorCode, IntegrityError } from '../../errors.ts'
import { isObject } from '../../stac/document.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { shellWord } from '../../text/shell-word.ts'
import { ANYTHING, checkArgument, checkNamed, ENGINE, FLAG, FUNCTION, fits, PORT, SIGNAL, type Table, TEXT } from '../base/check-options.ts'
import { makeFolder } from '../base/files.ts'
import { readOwnFile, writeOwnFile } from '../base/own-file.ts'
import { writeFailure } from '../base/system-error.ts'
import { folderHint, folderVariables, userFolder } from '../base/user-folder.ts'
import { plainGatewayPath } from './gateway-url.ts'
import type { GatewayDocument } from './routes.ts'
import type { GatewayListen } from './server.ts'

export type { GatewayDocument } from './routes.ts'
export type { GatewayListen } from './server.ts'

/** An answered request. */
export interface GatewayRequest {
  /** The method. */
  readonly method: string
  /** The URL behind the gateway, without its query; empty for a request that was refused for its form. */
  readonly url: string
  /** HTTP status of the response. */
  readonly status: number
  /** Bytes of the body that were passed on. */
  readonly bytes: number
  /** Milliseconds until the end of the response. */
  readonly milliseconds: number
  /** Id of the credential that was used. */
  readonly credential?: string
  /** True if GDAL requested a large file without a range: it was given a URL, not a file name that begins with `/vsicurl/`. */
  readonly isWhole?: boolean
  /** Code of the error that the gateway responded with, or after which it closed the connection. */
  readonly code?: ErrorCode
  /** The error in words. */
  readonly message?: string
  /** What to do about it. */
  readonly hint?: string
}

/** Options of `createGateway`. */
export interface GatewayOptions {
  /** Documents whose targets are reachable; default: none, so that only `sendTo` of the credentials decides. */
  readonly documents?: readonly GatewayDocument[]
  /** Port on 127.0.0.1 and ::1; default: chosen by the system. */
  readonly port?: number
  /**
   * Name of a gateway whose URLs stay the same: its port and its capability are kept in a file of the user's configuration folder that only
   * the user can read. Default: both are new for each gateway.
   */
  readonly name?: string
  /** Where to listen instead: the path of a Unix socket, or an address that others can connect to. */
  readonly listen?: GatewayListen
  /** Origin of the one web page whose requests are answered; default: none. */
  readonly allowOrigin?: string
  /** False passes STAC documents through without replacing their URLs; default true. */
  readonly rewrite?: boolean
  /** Closes the gateway. */
  readonly signal?: AbortSignal
  /** Called after each request. */
  readonly onRequest?: (event: GatewayRequest) => void
  /** Called once for each URL whose response is not the file that the document or its name promises; it is passed on unchanged. */
  readonly onWarning?: (warning: Warning) => void
}

/** An asset or alternate of a document, and where the gateway serves it. */
export interface GatewayTarget {
  /** `id` of the document, else its URL. */
  readonly document: string
  /** Key of the asset; `KEY/NAME` for an alternate. */
  readonly key: string
  /** The URL of the asset. */
  readonly href: string
  /** The URL of the gateway for it. */
  readonly url: string
}

/** An asset or alternate that the gateway cannot serve. */
export interface GatewayRefusal {
  /** `id` of the document, else its URL. */
  readonly document: string
  /** Key of the asset; `KEY/NAME` for an alternate. */
  readonly key: string
  /** Why its URL cannot be used. */
  readonly code: ErrorCode
  /** The reason in words. */
  readonly message: string
  /** What to do about it. */
  readonly hint?: string
}

/** A running gateway. */
export interface Gateway {
  /** `http://127.0.0.1:PORT/<capability>/`: anyone who knows it can use the credentials until the gateway is closed. */
  readonly base: string
  /** The targets of its documents, with their URLs at the gateway. */
  readonly targets: readonly GatewayTarget[]
  /** The assets and alternates of its documents whose URLs cannot be used, with the reasons. */
  readonly refused: readonly GatewayRefusal[]
  /**
   * Returns the URL of the gateway for a URL, which is not requested and may be refused later. It consists of letters, digits and `._-/:`,
   * so no shell reads anything else in it, and ends with the extension of the path. Errors: `USAGE`.
   */
  urlFor(url: string): string
  /** True for a URL that the gateway would request. Errors: none for URLs that are refused. */
  allows(url: string): Promise<boolean>
  /** Stops listening and aborts requests in progress. */
  close(): Promise<void>
}

const DOCUMENTS = fits('a list of { document, url }', (value) => Array.isArray(value) && value.every(hasDocument))

const OPTIONS: Table<GatewayOptions> = {
  documents: DOCUMENTS,
  port: PORT,
  name: TEXT,
  listen: fits('{ path } or { host, port, othersCanConnect: true }', hasPlace),
  allowOrigin: TEXT,
  rewrite: FLAG,
  signal: SIGNAL,
  onRequest: FUNCTION,
  onWarning: FUNCTION,
}

const LISTEN = { path: TEXT, host: TEXT, port: PORT, othersCanConnect: ANYTHING }

function hasPlace(value: unknown): boolean {
  return isObject(value) && (typeof value.path === 'string' || typeof value.host === 'string')
}

function hasDocument(value: unknown): boolean {
  return isObject(value) && isObject(value.document)
}

/** Number of random bytes in the capability. */
const CAPABILITY_BYTES = 16

/**
 * Starts a server on this machine that authorizes each request with the engine and passes the response on, so that any program can read
 * protected URLs. It requests only URLs that a document or `sendTo` of a credential allows.
 *
 * Errors: `NETWORK_LISTEN`, `CONFIG_INVALID`, `PATH_EXISTS` for the path of a socket, `ABORTED`; `CACHE_UNSAFE` and `FILE_ACCESS` for the file of a name.
 *
 * @example const gateway = await createGateway(auth, { documents: [{ document: item, url }] })
 */
export async function createGateway(auth: Auth, options: GatewayOptions = {}): Promise<Gateway> {
  checkArgument('the first argument of createGateway', auth, ENGINE)
  checkNamed('createGateway', options, OPTIONS)
  if (options.listen) checkNamed('listen', options.listen, LISTEN)
  const { documents = [], rewrite = true, signal, onRequest, onWarning, name } = options
  if (name !== undefined && options.listen)
    throw new ConfigurationError('CONFIG_INVALID', 'a gateway with a name listens on a port of 127.0.0.1 and ::1')
  if (signal?.aborted) throw new AbortedError(signal.reason)
  const allowOrigin = options.allowOrigin === undefined ? undefined : pageOrigin(options.allowOrigin)
  const kept = name === undefined ? undefined : await keptPlace(name)
  const [{ respond, FileWatch }, { Routes }, { GatewayServer }, { Upstream }] = await Promise.all([
    import('./answer.ts'),
    import('./routes.ts'),
    import('./server.ts'),
    import('./upstream.ts'),
    auth.ready(),
  ])
  const routes = new Routes(auth, documents)
  const capability = kept?.capability ?? randomBytes(CAPABILITY_BYTES).toString('hex')
  const server = await GatewayServer.open(kept ? { port: kept.port, ...options } : options)
  const base = `${server.origin}/${capability}/`
  const guard = { capability, isHost: (host: string) => server.isHost(host), allowOrigin }
  const context = { guard, upstream: new Upstream(auth, routes), routes, rewrite, base, files: new FileWatch(routes, onWarning), onRequest }
  try {
    if (signal?.aborted) throw new AbortedError(signal.reason)
    const port = Number(new URL(server.origin).port)
    if (name !== undefined && port !== kept?.port) await keepPlace(name, { port, capability })
  } catch (error) {
    await server.close()
    throw error
  }
  server.serve((incoming, outgoing) => respond(incoming, outgoing, context))
  let closing: Promise<void> | undefined
  const close = () => {
    signal?.removeEventListener('abort', close)
    closing ??= server.close()
    return closing
  }
  signal?.addEventListener('abort', close, { once: true })
  const urlFor = (url: string) => {
    const path = plainGatewayPath(canParseUrl(url) ? new URL(url).href : url)
    if (path === undefined) throw new ConfigurationError('USAGE', 'the gateway serves https:, http:, s3: and gs: URLs only')
    return base + path
  }
  return {
    base,
    targets: routes.targets.map((target) => ({ ...target, url: urlFor(target.href) })),
    refused: routes.refused,
    urlFor,
    allows: (url) => routes.allows(url),
    close,
  }
}

/** Returns the origin of a web page. Errors: `CONFIG_INVALID`. */
function pageOrigin(text: string): string {
  const origin = canParseUrl(text) ? new URL(text).origin : 'null'
  if (origin !== 'null' && /^https?:/.test(origin)) return origin
  throw new ConfigurationError('CONFIG_INVALID', 'allowOrigin is not the URL of a web page', { hint: 'such as https://viewer.example' })
}

/** What the URLs of a gateway begin with. */
interface KeptPlace {
  readonly port: number
  readonly capability: string
}

/** A safe file name on every system. */
const GATEWAY_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

const MAX_BYTES = 1024

/** Returns the path of the file of a name. Errors: `CONFIG_INVALID` for another name, and without a configuration folder. */
function pathOf(name: string): string {
  if (!GATEWAY_NAME.test(name))
    throw new ConfigurationError('CONFIG_INVALID', 'the name of a gateway has 1 to 64 letters, digits, "-" and "_"')
  const folder = userFolder('config', ['stac-auth', 'gateways'])
  if (folder !== undefined) return join(folder, `${name}.json`)
  throw new ConfigurationError(
    'CONFIG_INVALID',
    `there is no folder for gateways: neither ${folderVariables('config')} is an absolute path`,
    {
      hint: folderHint('config'),
    },
  )
}

/**
 * Returns the place of a name; undefined for a new name. Errors: `CONFIG_INVALID`, `FILE_ACCESS`; `CACHE_UNSAFE` for a file that other users
 * can read or that belongs to one.
 */
async function keptPlace(name: string): Promise<KeptPlace | undefined> {
  const path = pathOf(name)
  const file = await readOwnFile(path, MAX_BYTES)
  if (!file) return undefined
  const place = parsed(file.bytes.toString())
  if (place) return place
  throw new IntegrityError('CACHE_UNSAFE', `"${path}" is damaged: it names no port and no capability`, { hint: `rm ${shellWord(path)}` })
}

function parsed(text: string): KeptPlace | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (!isObject(value)) return undefined
    const { port, capability } = value
    const isPort = typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536
    return isPort && typeof capability === 'string' && /^[0-9a-f]{32}$/.test(capability) ? { port, capability } : undefined
  } catch {
    return undefined
  }
}

/** Keeps the place of a name in a file that only the user can read. Errors: `CONFIG_INVALID`, `FILE_ACCESS`, `DISK_FULL`. */
async function keepPlace(name: string, place: KeptPlace): Promise<void> {
  const path = pathOf(name)
  await makeFolder(dirname(path), 0o700).catch((error: unknown) => {
    throw writeFailure(error, `"${dirname(path)}"`)
  })
  await writeOwnFile(path, `${JSON.stringify(place)}\n`)
}
