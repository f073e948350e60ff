/** The local gateway: programs request protected URLs from it without a credential. */

import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Auth } from '../../auth/auth.ts'
import type { Warning } from '../../auth/strategy.ts'
import { AbortedError, ConfigurationError, type ErrorCode } from '../../errors.ts'
import { isObject } from '../../stac/document.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { ANYTHING, checkArgument, checkNamed, ENGINE, FLAG, FUNCTION, fits, PORT, SIGNAL, type Table, TEXT } from '../base/check-options.ts'
import type { Answered } from './answer.ts'
import { plainGatewayPath, withoutQuery } from './gateway-url.ts'
import { keepPlace, keptPlace } from './kept-place.ts'
import type { GatewayListen } from './listeners.ts'
import type { GatewayDocument } from './routes.ts'

export type { GatewayListen } from './listeners.ts'
export type { GatewayDocument } from './routes.ts'

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

/** Maximum bytes of the request line and the header fields. */
const HEADER_LIMIT = 32_768

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
  const [{ answer, failureOf, refuse }, { preflightFields }, { check }, { Listeners }, { Routes }, { Upstream }, { FileWatch }] =
    await Promise.all([
      import('./answer.ts'),
      import('./fields.ts'),
      import('./guard.ts'),
      import('./listeners.ts'),
      import('./routes.ts'),
      import('./upstream.ts'),
      import('./file-watch.ts'),
      auth.ready(),
    ])
  const routes = new Routes(auth, documents)
  const upstream = new Upstream(auth, routes)
  const capability = kept?.capability ?? randomBytes(CAPABILITY_BYTES).toString('hex')
  const server = createServer({ maxHeaderSize: HEADER_LIMIT, keepAliveTimeout: 60_000, insecureHTTPParser: false })
  server.timeout = 60_000
  const listeners = await Listeners.open(server, kept ? { port: kept.port, ...options } : options)
  if (signal?.aborted) {
    await listeners.close()
    throw new AbortedError(signal.reason)
  }
  const base = `${listeners.origin}/${capability}/`
  const port = Number(new URL(listeners.origin).port)
  if (name !== undefined && port !== kept?.port) {
    await keepPlace(name, { port, capability }).catch(async (error: unknown) => {
      await listeners.close()
      throw error
    })
  }
  const guard = { capability, isHost: (host: string) => listeners.isHost(host), allowOrigin }
  const files = new FileWatch(routes, onWarning)
  const context = { upstream, routes, rewrite, base, watch: files.watch }

  async function respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const start = performance.now()
    const checked = check(incoming, guard)
    const tell = (url: string, told: Answered) =>
      onRequest?.({
        method: incoming.method ?? '',
        url: withoutQuery(url),
        status: outgoing.statusCode,
        ...told,
        ...(isReadWhole(incoming, told.bytes) && { isWhole: true }),
        milliseconds: performance.now() - start,
      })
    if ('status' in checked) {
      const { status, error } = checked
      // The body of the request may be unread.
      outgoing.shouldKeepAlive = false
      if (error) refuse(outgoing, error, undefined, status)
      else outgoing.writeHead(status, { 'Content-Length': '0' }).end()
      tell('', { bytes: 0, ...(error && failureOf(error)) })
    } else if (checked.isPreflight) {
      outgoing.writeHead(204, preflightFields(checked.origin ?? '', incoming.headers)).end()
    } else tell(checked.url, await answer(incoming, outgoing, checked, context))
  }

  const serve = (incoming: IncomingMessage, outgoing: ServerResponse) => listeners.inOrder(incoming, outgoing, respond)
  server.on('request', serve)
  server.on('checkContinue', serve)
  let closing: Promise<void> | undefined
  const close = () => {
    signal?.removeEventListener('abort', close)
    closing ??= listeners.close()
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

/** Bytes of a file that is read whole in a moment. */
const LARGE_FILE = 2 ** 20

function isReadWhole({ method, headers }: IncomingMessage, bytes: number): boolean {
  return method === 'GET' && headers.range === undefined && bytes >= LARGE_FILE && /^GDAL\//.test(headers['user-agent'] ?? '')
}

/** Returns the origin of a web page. Errors: `CONFIG_INVALID`. */
function pageOrigin(text: string): string {
  const origin = canParseUrl(text) ? new URL(text).origin : 'null'
  if (origin !== 'null' && /^https?:/.test(origin)) return origin
  throw new ConfigurationError('CONFIG_INVALID', 'allowOrigin is not the URL of a web page', { hint: 'such as https://viewer.example' })
}
