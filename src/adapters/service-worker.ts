/** A service worker that authorizes what elements of a page load. */
import type { Auth } from '../auth/auth.ts'
import { isAuthError } from '../errors.ts'

/** The `self` of a service worker, as far as it matters here. */
export interface WorkerScope {
  addEventListener(type: 'fetch', listener: (event: FetchEvent) => void): void
}

interface FetchEvent {
  readonly request: Request
  respondWith(answer: Promise<Response>): void
}

/** `img`, `video`, `audio`, `track`, and what scripts of the page ask for, such as tiles; never pages, scripts and styles. */
const DESTINATIONS = new Set<string>(['image', 'video', 'audio', 'track', ''])

/** Which headers the browser adds by itself, and a script must not. */
const OF_BROWSER = /^(?:sec-|user-agent$|accept-encoding$|upgrade-insecure-requests$)/

/**
 * Answers the GET and HEAD requests of a page for URLs that a credential covers with `sendTo`; all others go their way untouched, also those
 * that carry an authorization of their own. The page gets the answers, never a token nor a URL with a key in it.
 * The servers must allow the page by CORS. What is refused is a network error for the page, and is told to `onError`.
 *
 * Service workers have no `import()`: bundle the worker into one file, with what is loaded on demand in it.
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
  // A copy has no URL: that which was asked may hold a key.
  return new Response(body, { status, statusText, headers: told })
}

/** Whether a credential is meant for the URL; asks no server. */
async function isCovered(auth: Auth, url: string): Promise<boolean> {
  try {
    await auth.service(url)
    return true
  } catch (error) {
    if (isAuthError(error) && error.code !== 'CONFIG_INVALID') return false
    throw error
  }
}
