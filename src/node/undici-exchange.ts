import type { Dispatcher } from 'undici'
import { type Deadline, deadline, failure, throwIfAborted } from '../http/deadline.ts'
import type { HttpRequest, SendOptions } from '../http/message.ts'
import { codingsOf } from './decode-body.ts'
import { UndiciResponse } from './undici-response.ts'

/** Sends one request through that dispatcher. Errors: `NetworkError`, `TimeoutError`, `TrustError`, `AbortedError`. */
export async function exchange(dispatcher: Dispatcher, request: HttpRequest, options: SendOptions): Promise<UndiciResponse> {
  throwIfAborted(options.signal)
  const end = deadline(options, request.url)
  try {
    const data = await dispatched(dispatcher, request, end)
    return respond(request, data, end)
  } catch (error) {
    end.clear()
    throw failure(error, end.signal, request.url)
  }
}

/** The answer, or the reason of an abort at once: undici itself hears of one only when it is connected. */
function dispatched(dispatcher: Dispatcher, request: HttpRequest, { signal }: Deadline): Promise<Dispatcher.ResponseData> {
  const { origin, pathname, search } = new URL(request.url)
  const { method, body = null } = request
  const options = { origin, path: pathname + search, method, headers: withCodings(request), body, signal: signal ?? null }
  if (!signal) return dispatcher.request(options)
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    dispatcher.request(options, (error, data) => {
      signal.removeEventListener('abort', abort)
      if (error) reject(error)
      else resolve(data)
    })
  })
}

/** A part of a file is asked for as it is: a part of its compressed form could not be taken apart. */
function withCodings({ headers }: HttpRequest): Readonly<Record<string, string>> {
  return headers['accept-encoding'] === undefined && headers.range === undefined ? { ...headers, 'accept-encoding': 'gzip, br' } : headers
}

function respond(request: HttpRequest, data: Dispatcher.ResponseData, end: Deadline): UndiciResponse {
  const coded = request.method !== 'HEAD' && data.statusCode !== 206 ? data.headers['content-encoding'] : undefined
  try {
    return new UndiciResponse(request, data, coded === undefined ? [] : codingsOf(String(coded), request.url), end)
  } catch (error) {
    data.body.on('error', () => {}).destroy()
    throw error
  }
}
