/** A transport without a network: it remembers what was sent and answers as the test says. */
import { AbortedError } from '../../src/errors.ts'
import type { HttpRequest, HttpResponse, Send, SendOptions } from '../../src/http/message.ts'
import { tooLarge } from '../../src/http/network-error.ts'

/** What the test lets a server say. */
export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Cookies that it sets. */
  readonly setCookies?: readonly string[]
  /** Text, or a value that becomes JSON. */
  readonly body?: unknown
}

/** One request as the transport was given it. */
export interface Sent extends HttpRequest {
  readonly options: SendOptions
}

export interface Script {
  readonly send: Send
  readonly sent: readonly Sent[]
  /** The requests to one host. */
  to(host: string): readonly Sent[]
}

type Answer = Reply | Promise<Reply>

/** Answers each request by the function, or `200` with an empty body. */
export function script(answer: (request: HttpRequest, index: number) => Answer | undefined = () => undefined): Script {
  const sent: Sent[] = []
  return {
    sent,
    to: (host) => sent.filter(({ url }) => new URL(url).host === host),
    send: async (request, options = {}) => {
      if (options.signal?.aborted) throw new AbortedError(options.signal.reason)
      sent.push({ ...request, options })
      const reply = await abortable(answer(request, sent.length - 1) ?? {}, options.signal)
      return responseOf(reply, request.url)
    },
  }
}

/** Answers by path: what is not listed is a 404. */
export function routes(replies: { readonly [url: string]: Answer | ((request: HttpRequest) => Answer) }): Script {
  return script((request) => {
    const reply = replies[request.url] ?? replies[request.url.replace(/\?.*$/s, '')] ?? { status: 404 }
    return typeof reply === 'function' ? reply(request) : reply
  })
}

export const redirectTo = (location: string, status = 302): Reply => ({ status, headers: { location } })

/** An {@link HttpResponse} made by hand; its body is read once, as a real one. */
function responseOf({ status = 200, headers = {}, setCookies = [], body = '' }: Reply, url: string): HttpResponse {
  const isText = typeof body === 'string'
  const bytes = new TextEncoder().encode(isText ? body : JSON.stringify(body))
  const all = new Headers({ 'content-type': isText ? 'text/plain' : 'application/json', ...headers })
  for (const cookie of setCookies) all.append('set-cookie', cookie)
  let used = false
  const take = (limit: number) => {
    if (used) throw new Error('the body was read twice')
    used = true
    if (bytes.length > limit) throw tooLarge(url, `the answer exceeds ${limit} bytes`)
    return bytes
  }
  return {
    status,
    url,
    headers: all,
    bytes: async (limit) => take(limit),
    text: async (limit) => new TextDecoder().decode(take(limit)),
    discard: async () => {
      used = true
    },
    toResponse: () => new Response(status === 204 || status === 304 ? null : take(Number.POSITIVE_INFINITY), { status, headers: all }),
  }
}

function abortable(reply: Answer, signal: AbortSignal | undefined): Answer {
  if (!signal) return reply
  return new Promise((resolve, reject) => {
    const abort = () => reject(new AbortedError(signal.reason))
    signal.addEventListener('abort', abort, { once: true })
    Promise.resolve(reply)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort))
  })
}
