/** A service worker that authorizes the requests of page elements. */
import type { Auth } from '../auth/auth.ts'
import { isAuthError } from '../errors.ts'

/** The parts of a service worker's `self` that are used here. */
export interface WorkerScope {
  /** As in `ServiceWorkerGlobalScope`. */
  addEventListener(type: 'fetch', listener: (event: FetchEvent) => void): void
}

interface FetchEvent {
  readonly request: Request
  respondWith(answer: Promise<Response>): void
}

/**
 * Destinations that are authorized: `img`, `video`, `audio`, `track`, fonts of styles, and requests of scripts, such as tiles; never
 * documents, scripts and styles.
 */
const DESTINATIONS = new Set<string>(['image', 'video', 'audio', 'track', 'font', ''])

/** Headers of element requests that the worker sends as well. All headers of such requests are set by the browser. */
const OF_ELEMENTS = new Set(['accept', 'accept-language', 'if-range', 'range'])

/** Forbidden request-headers (Fetch standard, section 2.2.2), which only the browser sets. */
const FORBIDDEN = new Set([
  'accept-charset',
  'accept-encoding',
  'access-control-request-headers',
  'access-control-request-local-network',
  'access-control-request-method',
  'access-control-request-private-network',
  'connection',
  'content-length',
  'cookie',
  'cookie2',
  'date',
  'dnt',
  'expect',
  'host',
  'keep-alive',
  'origin',
  'referer',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
])

/** Headers that browsers add, and that interfere with CORS when a worker sends them. */
const ADDED = new Set([
  'device-memory',
  'downlink',
  'dpr',
  'ect',
  'priority',
  'purpose',
  'rtt',
  'save-data',
  'service-worker',
  'service-worker-navigation-preload',
  'upgrade-insecure-requests',
  'user-agent',
  'viewport-width',
  'width',
  'x-client-data',
  'x-moz',
  'x-purpose',
])

/** Headers that are forbidden with one of these methods. */
const METHOD_OVERRIDE = /^x-(?:http-method|http-method-override|method-override)$/
const FORBIDDEN_METHODS = new Set(['connect', 'trace', 'track'])

/**
 * Responds to GET and HEAD requests of a page for URLs in `sendTo` of a credential. Other requests are unchanged, including those with
 * their own `Authorization` header. The page receives the responses, never a token or a URL with a key. The servers must allow the page by
 * CORS. A refused request is a network error for the page, and its error is passed to `onError`; after `LOGIN_REQUIRED` the request is sent
 * as the page made it.
 *
 * Service workers do not support `import()`: bundle the worker and its dynamic imports into one file. With `createEngine` and only the
 * strategies in use, the file is smaller.
 *
 * @example authorizeRequests(self, createEngine({ credentials: [bearer(token, 'https://data.example/')], strategies: [simpleHttp] }))
 */
export function authorizeRequests(scope: WorkerScope, auth: Auth, onError: (error: unknown) => void = () => {}): void {
  scope.addEventListener('fetch', (event) => {
    const { request } = event
    if (isEligible(request)) event.respondWith(answerTo(request, auth, onError))
  })
}

function isEligible({ method, mode, destination, url, headers }: Request): boolean {
  const reads = (method === 'GET' || method === 'HEAD') && mode !== 'navigate'
  return reads && DESTINATIONS.has(destination) && url.startsWith('http') && !headers.has('authorization')
}

async function answerTo(request: Request, auth: Auth, onError: (error: unknown) => void): Promise<Response> {
  try {
    if (await isCovered(auth, request.url)) return await authorized(request, auth)
  } catch (error) {
    onError(error)
    // The file may be public; otherwise the page gets the refusal of the server, after which it can offer the login.
    if (!isAuthError(error) || error.code !== 'LOGIN_REQUIRED') return Response.error()
  }
  return fetch(request)
}

async function authorized(request: Request, auth: Auth): Promise<Response> {
  const { method, url, signal, redirect } = request
  const headers = [...request.headers].filter(([name, value]) => isSent(name.toLowerCase(), value, request.destination))
  const { body, status, statusText, headers: told } = await auth.fetch(url, { method, headers, signal, redirect })
  // A copied response has no URL; the original URL may contain a key.
  return new Response(body, { status, statusText, headers: told })
}

/** Returns true for a header that the worker sends as well, because the page set it or the element needs it. */
function isSent(name: string, value: string, destination: string): boolean {
  if (destination !== '') return OF_ELEMENTS.has(name)
  if (FORBIDDEN.has(name) || ADDED.has(name) || /^(?:proxy|sec)-/.test(name)) return false
  return !METHOD_OVERRIDE.test(name) || !value.split(',').some((method) => FORBIDDEN_METHODS.has(method.trim().toLowerCase()))
}

/** Returns true when `sendTo` of a credential contains the URL. Sends nothing. */
async function isCovered(auth: Auth, url: string): Promise<boolean> {
  try {
    await auth.service(url)
    return true
  } catch (error) {
    if (isAuthError(error) && error.code !== 'CONFIG_INVALID') return false
    throw error
  }
}
