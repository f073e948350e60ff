/** The loopback redirection of native apps (RFC 8252 §7.3): a listener that closes after one response of an authorization server. */

import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Interaction, Redirection } from '../auth/auth.ts'
import { AbortedError, CredentialError, isAuthError, NetworkError } from '../errors.ts'
import { isLoopbackHost } from '../http/url.ts'
import { canParseUrl } from '../text/can-parse-url.ts'
import { AMOUNT, checkNamed, FUNCTION, oneOf, PORT, required, type Table } from './base/check-options.ts'
import { withAbsoluteFolders } from './base/user-folder.ts'

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

/** Headers of the pages, which have no script, load nothing and repeat nothing of the request. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  connection: 'close',
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
    const servers = await listenOn(host, options.port ?? port, answer)
    const origin = originOf(servers, host)
    const until = (url: string, isOurs: Wait['isOurs']) =>
      waitFor<URL>(signal, options.timeout ?? TIMEOUT, async (resolve) => {
        wait = { isOurs, resolve }
        await options.show(url)
      })
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
  response.writeHead(status, HEADERS).end(`<!doctype html>\n<title>stac-auth</title>\n<p>${text}</p>\n`)
}

/** Free ports of 127.0.0.1 that are tried for one that is also free on ::1. */
const PORTS = 10

/**
 * Listens on the addresses of the host, all with the same port. Another program on one of the addresses of `localhost` could receive the
 * login, so that both are taken, or none. A machine without IPv6 has only one.
 */
async function listenOn(host: Address | 'localhost', port: number, answer: RequestListener): Promise<readonly Server[]> {
  const addresses: readonly Address[] = host === 'localhost' ? ['127.0.0.1', '::1'] : [host]
  for (let tries = 1; ; tries++) {
    const servers: Server[] = []
    try {
      for (const address of addresses) {
        const server = createServer(LIMITS, answer)
        newestConnections(server)
        const isMissing = await listen(server, address, servers[0] ? portOf(servers[0]) : port).then(
          () => false,
          (error: unknown) => {
            if (servers.length > 0 && isAuthError(error) && NO_ADDRESS.includes(error.actual ?? '')) return true
            throw error
          },
        )
        if (!isMissing) servers.push(server)
      }
      return servers
    } catch (error) {
      await allClosed(servers)
      if (servers.length === 0 || port !== 0 || tries === PORTS) throw error
    }
  }
}

/** Codes of systems without IPv6. */
const NO_ADDRESS = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL']

/** Where a login is waited for. */
type Address = '127.0.0.1' | '::1'

function listen(server: Server, host: Address, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const code = 'code' in cause ? String(cause.code) : 'unknown reason'
      const hint = code === 'EADDRINUSE' ? { hint: 'stop the program that listens on that port, or register and use another port' } : {}
      const message = `cannot listen on ${host}${port === 0 ? '' : ` port ${port}`}: ${code}`
      reject(new NetworkError('NETWORK_LISTEN', message, { ...hint, actual: code }))
    })
    server.listen({ port, host: host satisfies '127.0.0.1' | '::1', ipv6Only: true }, resolve)
  })
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

function originOf([server]: readonly Server[], host: string): string {
  return `http://${host === '::1' ? '[::1]' : host}:${portOf(server as Server)}`
}

/** Resolves like `begin`, unless the signal aborts or the timeout ends first. */
function waitFor<T>(signal: AbortSignal | undefined, timeout: number, begin: (resolve: (value: T) => void) => Promise<void>): Promise<T> {
  let end = () => {}
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(new AbortedError(signal?.reason))
    const timer = setTimeout(() => reject(tooLate(timeout)), timeout)
    end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
    signal?.addEventListener('abort', abort, { once: true })
    if (signal?.aborted) abort()
    else begin(resolve).catch(reject)
  }).finally(() => end())
}

function tooLate(timeout: number): CredentialError {
  return new CredentialError('LOGIN_TIMEOUT', `the browser did not return from the login within ${Math.ceil(timeout / 1000)} s`, {
    hint: 'log in again, and finish in a browser on this machine',
  })
}

async function allClosed(servers: readonly Server[]): Promise<void> {
  await Promise.all(servers.map(closed))
}

/** Stops listening and closes connections that browsers opened in advance. */
function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/**
 * Keeps at most `limit` connections of a server: a further one closes the oldest, so that open connections of other programs cannot lock
 * the browser out.
 */
function newestConnections(server: Server, limit = 64): void {
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    if (open.size <= limit) return
    const [oldest] = open
    oldest?.destroy()
  })
}

/** Options of `openBrowser`. */
export interface BrowserOptions {
  /** The platform; default: that of the process. */
  readonly platform?: NodeJS.Platform
  /** The environment; default: that of the process. */
  readonly env?: NodeJS.ProcessEnv
}

/** Characters that URL parsers leave in a URL, except quotes, braces and others that a program may interpret. */
const PLAIN = /^https?:\/\/[\w.~:/?#[\]@!$&()*+,;=%-]+$/

/**
 * Opens a URL in the user's browser: https only, http for loopback. The program of the platform is started directly, without a
 * shell, with the parsed URL as one argument. Returns true when it was started; never throws, since the URL is printed as well.
 *
 * @example if (!(await openBrowser(url))) console.log(`Open ${url}`)
 */
export function openBrowser(address: string, options?: BrowserOptions): Promise<boolean> {
  const { platform = process.platform, env = process.env } = options ?? {}
  const url = browsable(address)
  const [program, ...args] = programOf(platform, env)
  if (url === undefined || program === undefined) return Promise.resolve(false)
  return new Promise((resolve) => {
    try {
      const child = spawn(program, [...args, url], {
        stdio: 'ignore',
        detached: true,
        shell: false,
        windowsHide: true,
        env: withAbsoluteFolders(env),
      })
      child.once('error', () => resolve(false))
      child.once('spawn', () => resolve(true))
      child.unref()
    } catch {
      resolve(false)
    }
  })
}

/** Returns the URL as the only argument of a program: it starts with `https://`, or with `http://` and a loopback host. */
function browsable(address: string): string | undefined {
  if (!canParseUrl(address)) return undefined
  const { protocol, hostname, username, password, href } = new URL(address)
  const allowed = protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))
  if (!allowed || username || password) return undefined
  const plain = href.replaceAll("'", '%27')
  return PLAIN.test(plain) ? plain : undefined
}

/** Returns the program that opens a browser. On other systems it needs a display: without one it would start a browser in the terminal. */
function programOf(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): readonly string[] {
  if (platform === 'darwin') return ['/usr/bin/open']
  if (platform === 'win32') return [`${env.SystemRoot ?? 'C:\\Windows'}\\System32\\rundll32.exe`, 'url.dll,FileProtocolHandler']
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : []
}
