/** The connection of a voice session. */
import { AbortedError, type AuthError, abortedBy, NetworkError, TimeoutError } from '../../errors.ts'
import type { MessageSocket } from '../../http/message-socket.ts'
import { type Clock, startTimer } from '../../net/clock.ts'
import type { ApiClient } from '../api-client.ts'
import { unreadable } from './voice-messages.ts'

/** Opens a connection for messages. */
export type OpenSocket = (url: string) => MessageSocket

/** Where a session is: what the service answered. */
export interface VoiceAccess {
  readonly streaming_url: string
  /** Opens the session once; a secret. */
  readonly token: string
  readonly session_id?: string
}

interface VoiceLineOptions {
  readonly clock: Clock
  readonly signal?: AbortSignal | undefined
  readonly heard: (data: unknown) => void
  /** The connection is over, whoever ended it. */
  readonly closed: (code: number | undefined) => void
}

const CONNECT_TIMEOUT = 10_000

/**
 * The address of a session: encrypted, public, with the token in its query. Errors: `RESPONSE_INVALID`, without the address.
 *
 * @param api the client whose service named it
 */
export function lineAddress(
  api: ApiClient,
  { streaming_url, token }: VoiceAccess,
): { readonly url: string; readonly origin: string; readonly granted: boolean } {
  if (!/^wss?:/i.test(streaming_url)) throw unreadable('the address of the session is not one of a web socket')
  // Checked as an address of the web, which it is but for its name.
  const { url, granted } = api.allowed(streaming_url.replace(/^ws/i, 'http'))
  const search = `${url.search ? `${url.search}&` : '?'}token=${encodeURIComponent(token)}`
  const origin = url.origin.replace(/^http/, 'ws')
  return { url: origin + url.pathname + search, origin, granted }
}

/** Opens the connection. Errors: `NETWORK_FAILED`, `TIMEOUT_CONNECT`, `ABORTED`; the address is never shown. */
export function openLine(open: OpenSocket, url: string, { clock, signal, heard, closed }: VoiceLineOptions): Promise<MessageSocket> {
  if (signal?.aborted) return Promise.reject(abortedBy(signal))
  const { host } = new URL(url)
  return new Promise((resolve, reject) => {
    // Before the timer: there is nothing to end as long as there is no socket.
    const socket = socketOf(open, url, host)
    let isOpen = false
    const fail = (error: AuthError) => {
      settle()
      reject(error)
      socket.close()
    }
    const abort = () => fail(signal ? abortedBy(signal) : new AbortedError(undefined))
    const stop = startTimer(
      clock,
      CONNECT_TIMEOUT,
      () => fail(new TimeoutError('TIMEOUT_CONNECT', `${host}: no connection within ${CONNECT_TIMEOUT} ms`)),
      'guard',
    )
    const settle = () => {
      stop()
      signal?.removeEventListener('abort', abort)
    }
    signal?.addEventListener('abort', abort)
    socket.addEventListener('open', () => {
      isOpen = true
      settle()
      resolve(socket)
    })
    socket.addEventListener('message', ({ data }) => heard(data))
    // A socket tells nobody why it failed; its close comes next.
    socket.addEventListener('error', () => undefined)
    socket.addEventListener('close', ({ code }) => (isOpen ? closed(code) : fail(notOpened(host))))
  })
}

/** What a constructor throws names the address, and with it the token: it is no cause. */
function socketOf(open: OpenSocket, url: string, host: string): MessageSocket {
  try {
    const socket = open(url)
    socket.binaryType = 'arraybuffer'
    return socket
  } catch {
    throw notOpened(host)
  }
}

function notOpened(host: string): NetworkError {
  const hint = 'a token opens a session once: reconnect() asks for another'
  return new NetworkError('NETWORK_FAILED', `${host}: the voice session could not be opened`, { hint, retryable: false })
}
