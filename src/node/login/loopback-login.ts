/** The loopback redirection of native apps (RFC 8252 §7.3): a listener that closes after one response of an authorization server. */

import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Interaction, Redirection } from '../../auth/auth.ts'
import { AbortedError, CredentialError } from '../../errors.ts'
import { unlessAborted, withTimeout } from '../../net/cancellation.ts'
import { AMOUNT, checkNamed, FUNCTION, oneOf, PORT, required, type Table } from '../base/check-options.ts'
import { answerWith, bracketed, closed, listenOnLoopback, portOf } from '../base/local-server.ts'

/** Options of a login with a redirect to this machine (RFC 8252 §7.3). */
export interface LoopbackOptions {
  /** Called with the URL of the authorization request, which it opens in a browser or prints; it is awaited. */
  readonly show: (url: string) => unknown
  /** `::1` or `localhost` if the client is registered with it; default: that of the credential, else `127.0.0.1`. */
  readonly host?: '127.0.0.1' | '::1' | 'localhost'
  /** Port to listen on, if the client is registered with one; default: that of the credential, else a free one. */
  readonly port?: number
  /** Milliseconds to wait for the browser; default 5 minutes. */
  readonly timeout?: number
}

const OPTIONS: Table<LoopbackOptions> = {
  show: required(FUNCTION),
  host: oneOf('127.0.0.1', '::1', 'localhost'),
  port: PORT,
  timeout: AMOUNT,
}

const PATH = '/callback'

const TIMEOUT = 5 * 60_000

/** Timeout for receiving a request, in milliseconds; browsers open connections that they do not use. */
const REQUEST_TIMEOUT = 10_000

/** Maximum bytes of the request line and the header fields. */
const MAX_HEADER_SIZE = 16_384

/** Fields of the pages, which have no script, load nothing and repeat nothing of the request. */
const PAGE_FIELDS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': "default-src 'none'",
  Connection: 'close',
}

/** The expected response: who checks it, and who receives it. */
interface Wait {
  readonly isOurs: (callback: URL) => boolean
  readonly resolve: (callback: URL) => void
}

/**
 * Returns the `redirect` of a login. The listener has one loopback address, or both for `localhost`, a free port and a fixed path,
 * or those of the credential (`redirectHost`, `redirectPort`, `redirectPath`) or the options, and accepts GET requests for exactly this host. Everything else, also a wrong state, gets a
 * 4xx page, and the listener keeps waiting.
 *
 * Errors: `LOGIN_TIMEOUT`, `ABORTED`, `NETWORK_LISTEN` when there is no such address.
 *
 * @example await auth.login('account', { redirect: loopbackRedirect({ show: openBrowser }) })
 */
export function loopbackRedirect(options: LoopbackOptions): NonNullable<Interaction['redirect']> {
  checkNamed('loopbackRedirect', options, OPTIONS)
  return async (signal, { host: ownHost = '127.0.0.1', port = 0, path = PATH } = {}) => {
    if (signal?.aborted) throw new AbortedError(signal.reason)
    const { host = ownHost } = options
    let wait: Wait | undefined
    const answer: RequestListener = (request, response) => {
      const callback = callbackOf(request, origin, path)
      if (callback === undefined) return page(response, 404, 'There is nothing here.')
      if (!wait || !isComplete(callback) || !accepts(wait, callback)) return page(response, 400, 'This is not the expected login response.')
      const { resolve } = wait
      wait = undefined
      response.once('close', () => resolve(callback))
      page(response, 200, 'The login response was received. You can close this page and return to the terminal.')
    }
    const servers = await listenOnLoopback({
      addresses: host === 'localhost' ? ['127.0.0.1', '::1'] : [host],
      port: options.port ?? port,
      create: () => newestConnections(createServer(LIMITS, answer)),
      hint: 'stop the program that listens on that port, or register and use another port',
    })
    const origin = `http://${bracketed(host)}:${portOf(servers[0] as Server)}`
    const until = async (url: string, isOurs: Wait['isOurs']) => {
      const { timeout = TIMEOUT } = options
      const waiting = withTimeout(signal, timeout, () => tooLate(timeout))
      const callback = new Promise<URL>((resolve, reject) => {
        wait = { isOurs, resolve }
        Promise.resolve(options.show(url)).catch(reject)
      })
      return unlessAborted(callback, waiting.signal).finally(waiting.clear)
    }
    return redirectionOf(servers, `${origin}${path}`, until)
  }
}

const LIMITS = {
  maxHeaderSize: MAX_HEADER_SIZE,
  headersTimeout: REQUEST_TIMEOUT,
  requestTimeout: REQUEST_TIMEOUT,
  connectionsCheckingInterval: 1000,
}

function redirectionOf(servers: readonly Server[], uri: string, until: Redirection['answer']): Redirection {
  let closing: Promise<void> | undefined
  const close = () => (closing ??= allClosed(servers))
  return { uri, close, answer: (...wanted) => until(...wanted).finally(close) }
}

/** Returns the URL that the browser was redirected to, or undefined for any other request. */
function callbackOf({ method, url = '', headersDistinct, headers }: IncomingMessage, origin: string, path: string): URL | undefined {
  const { host = [] } = headersDistinct
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0
  if (method !== 'GET' || hasBody || host.length !== 1 || `http://${host[0]}` !== origin) return undefined
  if (url.split('?', 1)[0] !== path) return undefined
  return new URL(origin + url)
}

/** True for a response with `state` and either a code or an error (RFC 6749 §4.1.2), and no repeated parameter (§3.1). */
function isComplete({ searchParams }: URL): boolean {
  const names = [...searchParams.keys()]
  return new Set(names).size === names.length && searchParams.has('state') && searchParams.has('code') !== searchParams.has('error')
}

/** The callback may throw for requests of other programs: these do not count as the response. */
function accepts({ isOurs }: Wait, callback: URL): boolean {
  try {
    return isOurs(callback)
  } catch {
    return false
  }
}

function page(response: ServerResponse, status: number, text: string): void {
  answerWith(response, status, `<!doctype html>\n<title>stac-auth</title>\n<p>${text}</p>\n`, PAGE_FIELDS)
}

function tooLate(timeout: number): CredentialError {
  return new CredentialError('LOGIN_TIMEOUT', `the browser did not return from the login within ${Math.ceil(timeout / 1000)} s`, {
    hint: 'log in again, and finish in a browser on this machine',
  })
}

/** Stops listening and closes connections that browsers opened in advance. */
async function allClosed(servers: readonly Server[]): Promise<void> {
  await Promise.all(
    servers.map((server) => {
      const closing = closed(server)
      server.closeAllConnections()
      return closing
    }),
  )
}

/**
 * Keeps at most `limit` connections of a server: a further one closes the oldest, so that open connections of other programs cannot lock
 * the browser out.
 */
function newestConnections(server: Server, limit = 64): Server {
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    if (open.size <= limit) return
    const [oldest] = open
    oldest?.destroy()
  })
  return server
}
