/** `--verbose`: one line on stderr for each request, without secrets. */

import { type ErrorCode, isAuthError } from '../errors.ts'
import {
  type CredentialUse,
  type HttpRequest,
  type HttpResponse,
  isRedirect,
  type Send,
  type SendOptions,
  type Transport,
} from '../http/message.ts'
import { locationText } from '../http/redirect.ts'
import { canParseUrl } from '../text/can-parse-url.ts'
import { Redactor } from '../text/redactor.ts'
import { forJson, forLine } from '../text/sanitize.ts'
import type { Context } from './context.ts'
import { styleOf, write } from './io.ts'
import { defined } from './options.ts'

/** One request and its result; `--json` prints it as `request`. */
export interface LoggedRequest {
  readonly method: string
  /** Origin and path, without secrets. */
  readonly url: string
  /** HTTP status; absent without a response. */
  readonly status?: number
  /** Error code, without a response. */
  readonly code?: string
  readonly milliseconds: number
  /** Id and type of the credential that the request is for. */
  readonly credential?: string
  readonly type?: string
  /** Why the request was sent, and what follows from its response. */
  readonly notes: readonly string[]
}

/**
 * Returns the option `transport` of an engine or a client: with `--verbose` one that logs each request, otherwise none, so that the default
 * is used.
 */
export async function loggedTransport(context: Context): Promise<{ readonly transport?: Transport }> {
  const { io, requestLog } = context
  if (!requestLog) return {}
  const { undiciTransport } = await import('../node/transport/index.ts')
  const { dim } = styleOf(io, io.stderr)
  const textOf = requestLog === 'json' ? (request: LoggedRequest) => forJson({ severity: 'debug', request }) : lineOf
  const log: Log = (request, secret) => void write(io.stderr, `${dim(textOf(request, secret))}\n`).catch(() => undefined)
  return { transport: logged(undiciTransport({ env: { ...io.env } }), log) }
}

/** @param secret name of a header with a credential; clients of services do not say which credential they use */
type Log = (request: LoggedRequest, secret: string | undefined) => void

function lineOf({ method, url, status, code, milliseconds, credential, type, notes }: LoggedRequest, secret: string | undefined): string {
  const unnamed = secret === undefined ? 'no credential' : `credential in the header "${secret}"`
  const use = credential === undefined ? unnamed : `credential "${credential}" (${type})`
  return forLine(`debug ${method} ${url} ${status ?? code} ${milliseconds} ms: ${[use, ...notes].join(', ')}`)
}

/** Wraps a transport so that each request is logged once its response begins or it has failed. */
function logged(transport: Transport, log: Log): Transport {
  const history = new History()
  const wrapped =
    (send: Send): Send =>
    async (request, options) => {
      const why = history.reasonFor(request, options)
      const start = performance.now()
      const done = (answer: HttpResponse | ErrorCode) => {
        const redacted = history.redact(request)
        const { credential, type } = options?.use ?? {}
        const result = typeof answer === 'string' ? { code: answer } : { status: answer.status }
        const notes = [...why, ...history.remember(request, answer)].map(redacted)
        const milliseconds = Math.round(performance.now() - start)
        const url = redacted(bareUrl(request.url))
        const secret = Object.keys(request.headers).find((name) => !PUBLIC.test(name))
        log({ method: request.method, url, ...result, milliseconds, ...defined({ credential, type }), notes }, secret)
      }
      try {
        const response = await send(request, options)
        done(response)
        return response
      } catch (error) {
        done(isAuthError(error) ? error.code : 'INTERNAL')
        throw error
      }
    }
  const { connect, streams } = transport
  return Object.assign(wrapped(transport), {
    ...(streams && { streams }),
    ...(connect && {
      connect: async (url: string, options?: SendOptions) => {
        const connection = await connect(url, options)
        return Object.assign(connection, { send: wrapped(connection.send) })
      },
    }),
  })
}

/** Earlier requests, which explain later ones. */
class History {
  readonly #redactor = new Redactor()
  /** Last failure of each method and URL, and its number of attempts. */
  readonly #failed = new Map<string, { readonly reason: string; readonly attempts: number }>()
  /** URLs to which a redirect led. */
  readonly #redirected = new Set<string>()
  /** Credentials that have sent a request to an endpoint of theirs. */
  readonly #renewed = new Set<string>()

  /** Returns why a request is sent: a redirect, a retry, a token. */
  reasonFor(request: HttpRequest, { use }: SendOptions = {}): readonly string[] {
    const earlier = this.#failed.get(keyOf(request))
    const notes: string[] = []
    if (this.#redirected.delete(request.url)) notes.push('after a redirect')
    if (earlier) notes.push(`attempt ${earlier.attempts + 1} after ${earlier.reason}`)
    if (use) notes.push(...this.#tokenNotes(use))
    return notes
  }

  #tokenNotes({ credential, type, to }: CredentialUse): readonly string[] {
    if (to === 'endpoint') {
      this.#renewed.add(credential)
      return [type === 'signedUrl' ? 'signing request' : 'token request']
    }
    return /^(?:oauth2|openIdConnect)$/.test(type) && !this.#renewed.has(credential) ? ['stored token'] : []
  }

  /** Returns what follows from a response, or from the code of an error. */
  remember(request: HttpRequest, answer: HttpResponse | ErrorCode): readonly string[] {
    const key = keyOf(request)
    const attempts = (this.#failed.get(key)?.attempts ?? 0) + 1
    const reason = typeof answer === 'string' ? answer : String(answer.status)
    const isFailed = typeof answer === 'string' || answer.status >= 400
    if (this.#failed.size > 1000) this.#failed.clear()
    if (isFailed) this.#failed.set(key, { reason, attempts })
    else this.#failed.delete(key)
    if (typeof answer === 'string') return []
    const { status, headers } = answer
    const location = isRedirect(status) ? headers.get('location') : null
    if (location !== null) return this.#redirect(request.url, location)
    const challenges = status === 401 ? [...(headers.get('www-authenticate') ?? '').matchAll(CHALLENGE)].map(([, scheme]) => scheme) : []
    const retryAfter = isFailed ? headers.get('retry-after') : null
    return [
      ...(challenges.length > 0 ? [`the server offers ${challenges.join(', ')}`] : []),
      ...(retryAfter === null ? [] : [`Retry-After ${retryAfter}`]),
    ]
  }

  #redirect(from: string, location: string): readonly string[] {
    const text = locationText(location, from)
    if (!canParseUrl(text, from)) return ['redirect to a malformed URL']
    const to = new URL(text, from)
    if (this.#redirected.size > 1000) this.#redirected.clear()
    this.#redirected.add(to.href.replace(/#.*$/s, ''))
    return [`redirect to ${to.origin === new URL(from).origin ? to.pathname : `another origin, ${bareUrl(to.href)}`}`]
  }

  /** Returns a function that removes the secrets of all requests so far, which a server may repeat in a path or a header. */
  redact({ headers, url }: HttpRequest): (text: string) => string {
    for (const [name, value] of Object.entries(headers)) if (!PUBLIC.test(name)) this.#redactor.addHeader(value)
    for (const value of secretsInQuery(url)) this.#redactor.add(value)
    return this.#redactor.scrub
  }
}

/** Returns the values of a query. Of one that is a URL, as signing services are sent, its own: the URL occurs in other lines. */
function secretsInQuery(url: string): readonly string[] {
  const values = [...new URL(url).searchParams.values()]
  return values.flatMap((value) =>
    /^(?:https?|s3):\/\//i.test(value) && canParseUrl(value) ? [...new URL(value).searchParams.values()] : [value],
  )
}

/** The schemes of a `WWW-Authenticate`. */
const CHALLENGE = /(?:^|,)\s*([A-Za-z][\w-]*)(?=\s|$|,)/g

/** Request headers without secrets. */
const PUBLIC = /^(?:accept(?:-.*)?|content-(?:type|length)|range|if-.*|user-agent|x-amz-(?:date|content-sha256|request-payer)|host)$/

function keyOf({ method, url }: HttpRequest): string {
  return `${method} ${url}`
}

/** Origin and path: queries carry keys and signatures. */
function bareUrl(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}
