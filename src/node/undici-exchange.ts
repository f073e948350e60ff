import type { Dispatcher } from 'undici'
import type { HttpRequest, SendOptions } from '../http/message.ts'
import { exchangeEnd, failure } from '../http/network-error.ts'
import { throwIfAborted } from '../net/cancellation.ts'
import { codingsOf } from './decode-body.ts'
import { requestTarget } from './request-target.ts'
import { shareSignal } from './shared-signal.ts'
import { UndiciArrival } from './undici-arrival.ts'
import { UndiciResponse } from './undici-response.ts'

/** Sends one request through that dispatcher. Errors: `NetworkError`, `TimeoutError`, `TrustError`, `AbortedError`. */
export async function exchange(dispatcher: Dispatcher, request: HttpRequest, options: SendOptions): Promise<UndiciResponse> {
  throwIfAborted(options.signal)
  shareSignal(options.signal)
  const { signal, clear } = exchangeEnd(options, request.url)
  const abort = () => arrival.destroy(signal?.reason)
  const arrival = new UndiciArrival(() => {
    signal?.removeEventListener('abort', abort)
    clear()
  })
  signal?.addEventListener('abort', abort)
  try {
    dispatcher.dispatch(dispatchOptions(request), arrival)
    const head = await arrival.head()
    const coded = request.method !== 'HEAD' && head.status !== 206 ? head.fields['content-encoding'] : undefined
    const codings = coded === undefined ? [] : codingsOf(String(coded), request.url)
    return new UndiciResponse(request, head, arrival, codings, signal)
  } catch (error) {
    arrival.destroy(error)
    throw failure(error, signal, request.url)
  }
}

function dispatchOptions(request: HttpRequest): Dispatcher.DispatchOptions {
  const { method, body = null } = request
  const { origin, path } = requestTarget(request.url)
  return { origin, path, method: method as Dispatcher.HttpMethod, headers: withCodings(request), body }
}

/** A part of a file is asked for as it is: a part of its compressed form could not be taken apart. */
function withCodings({ headers }: HttpRequest): Readonly<Record<string, string>> {
  return headers['accept-encoding'] === undefined && headers.range === undefined ? { ...headers, 'accept-encoding': 'gzip, br' } : headers
}
