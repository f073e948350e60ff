/** A service worker that authorizes the requests of page elements. */
import type { Auth } from '../auth/auth.ts'
import { isAuthError } from '../errors.ts'

/** The parts of a service worker's `self` that are used here. */
export interface WorkerScope {
  addEventListener(type: 'fetch', listener: (event: FetchEvent) => void): void
}

interface FetchEvent {
  readonly request: Request
  respondWith(answer: Promise<Response>): void
}

/**
 * Destinations that are authorized: `img`, `video`, `audio`, `track`, and requests of scripts, such as tiles; never documents, scripts and
 * styles.
 */
const DESTINATIONS = new Set<string>(['image', 'video', 'audio', 'track', ''])

/** Headers that the browser sets itself and scripts must not set. */
const OF_BROWSER = /^(?:sec-|user-agent$|accept-encoding$|upgrade-insecure-requests$)/

/**
 * Answers GET and HEAD requests of a page for URLs in `sendTo` of a credential. Other requests pass unchanged, including those with an
 * `Authorization` header of their own. The page receives the responses, never a token or a URL with a key. The servers must allow the page
 * by CORS. A refused request is a network error for the page, and its error is passed to `onError`.
 *
 * Service workers do not support `import()`: bundle the worker and its dynamic imports into one file.
 *
 * @example authorizeRequests(self, createAuth({ credentials: [bearer(token, 'https://data.example/')] }))
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
    return Response.error()
  }
  return fetch(request)
}

async function authorized(request: Request, auth: Auth): Promise<Response> {
  const { method, url, signal, redirect } = request
  const headers = [...request.headers].filter(([name]) => !OF_BROWSER.test(name))
  const { body, status, statusText, headers: told } = await auth.fetch(url, { method, headers, signal, redirect })
  // A copied response has no URL; the original URL may contain a key.
  return new Response(body, { status, statusText, headers: told })
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
