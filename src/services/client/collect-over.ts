import { isAuthError } from '../../errors.ts'
import type { Cancel, Collect, Collected, CollectOptions, PartedRequest, Uncollected } from '../../http/body.ts'
import { readBody, utf8 } from '../../http/body.ts'
import type { HttpRequest, HttpResponse, Send } from '../../http/message.ts'
import { failure } from '../../http/network-error.ts'

/**
 * Collects answers with a transport that only sends. Whether anything was sent is told by the failure; a body that is a stream is read
 * first, because not every platform can send one.
 *
 * @param keep takes the answers that are a success, to read them itself; their body is empty in what is collected
 */
export function collectOver(send: Send, keep?: (answer: HttpResponse) => void): Collect {
  return (request, options, done): Cancel => {
    const controller = new AbortController()
    let over = false
    const end = (result: Collected | Uncollected) => {
      if (over) return
      over = true
      done(result)
    }
    const stage = { sent: false, begun: false }
    exchange({ send, keep }, request, options, controller.signal, stage).then(end, (error: unknown) => {
      const known = failure(error, undefined, request.origin)
      end({ error: known, sent: stage.sent && !UNSENT.test(known.code), begun: stage.begun, stale: false })
    })
    return (reason) => {
      end({ error: reason, ...stage, stale: false })
      controller.abort(reason)
    }
  }
}

const NOTHING = new Uint8Array()

/** What fails before the first byte. */
const UNSENT = /^(?:NETWORK_(?:DNS|REFUSED|UNREACHABLE)|TLS_|PROXY_|TIMEOUT_CONNECT|URL_|UNSUPPORTED_|REQUEST_INVALID)/

async function exchange(
  { send, keep }: { readonly send: Send; readonly keep: ((answer: HttpResponse) => void) | undefined },
  request: PartedRequest,
  { limit, failureLimit, allowPrivateNetwork = false }: CollectOptions,
  signal: AbortSignal,
  stage: { sent: boolean; begun: boolean },
): Promise<Collected> {
  const whole = await wholeRequest(request)
  stage.sent = true
  const answer = await send(whole, { signal, allowPrivateNetwork, ...(keep && { pooled: true }) })
  stage.begun = true
  const { status, headers } = answer
  if (keep && status < 300) {
    keep(answer)
    return { status, headers, body: NOTHING, text: () => '' }
  }
  const body = status < 300 ? await answer.bytes(limit) : await answer.bytes(failureLimit).catch(nothingIfTooLong)
  return { status, headers, body, text: () => utf8(body) }
}

/** A status that is no success says enough without its body. */
function nothingIfTooLong(error: unknown): Uint8Array {
  if (isAuthError(error) && /^RESPONSE_|^NETWORK_RESET/.test(error.code)) return new Uint8Array()
  throw error
}

async function wholeRequest({ method, origin, path, headers, body }: PartedRequest): Promise<HttpRequest> {
  const request = { method, url: origin + path, headers }
  if (body === undefined) return request
  const whole = typeof body === 'string' || body instanceof Uint8Array ? body : await readBody(body, Number.POSITIVE_INFINITY, origin)
  return { ...request, body: whole }
}
