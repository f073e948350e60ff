/** The connection of a voice session: its URL, and the WebSocket that is opened once. */
import { abortedBy, NetworkError, TimeoutError } from '../../../errors.ts'
import type { MessageSocket } from '../../../http/message.ts'
import { Interruption } from '../../../net/cancellation.ts'
import { startTimer } from '../../../net/clock.ts'
import type { ApiClient } from '../../client/api-client.ts'
import type { TranslationService } from '../translation-service.ts'
import { unreadable } from './messages.ts'

/** Opens a WebSocket. */
export type OpenSocket = (url: string) => MessageSocket

/** The access to a voice session (`POST /v3/voice/realtime`). */
export interface VoiceAccess {
  /** WebSocket URL of the session. */
  readonly streaming_url: string
  /** Opens the session once; a secret. */
  readonly token: string
  /** Identifier of the session. */
  readonly session_id?: string
}

const CONNECT_TIMEOUT = 10_000

/**
 * Returns the URL of a session: encrypted, public, with the token in its query. Errors: `RESPONSE_INVALID`, without the URL.
 *
 * @param api the client whose service named it
 */
export function lineAddress(
  api: ApiClient,
  { streaming_url, token }: VoiceAccess,
): { readonly url: string; readonly origin: string; readonly allowPrivateNetwork: boolean } {
  if (!/^wss?:/i.test(streaming_url)) throw unreadable('the URL of the session is not a WebSocket URL')
  // Checked as an https: URL, because wss: differs in the scheme only.
  const { url, allowPrivateNetwork } = api.allowed(streaming_url.replace(/^ws/i, 'http'))
  const search = `${url.search ? `${url.search}&` : '?'}token=${encodeURIComponent(token)}`
  const origin = url.origin.replace(/^http/, 'ws')
  return { url: origin + url.pathname + search, origin, allowPrivateNetwork }
}

/**
 * Opens the connection. Errors: `NETWORK_FAILED`, `TIMEOUT_CONNECT`, `ABORTED`; the URL is never shown.
 *
 * @param closed called when the connection has ended, on either side
 */
export async function openLine(
  open: OpenSocket,
  url: string,
  { service, signal }: { readonly service: TranslationService; readonly signal: AbortSignal | undefined },
  heard: (data: unknown) => void,
  closed: (code: number | undefined) => void,
): Promise<MessageSocket> {
  if (signal?.aborted) throw abortedBy(signal)
  const { host } = new URL(url)
  const socket = socketOf(open, url, host)
  const interruption = new Interruption(signal)
  const late = () => interruption.interrupt(new TimeoutError('TIMEOUT_CONNECT', `${host}: no connection within ${CONNECT_TIMEOUT} ms`))
  const stop = startTimer(service.clock, CONNECT_TIMEOUT, late, 'guard')
  let isOpen = false
  try {
    await new Promise<void>((resolve, reject) => {
      interruption.tell(reject)
      socket.addEventListener('open', () => {
        isOpen = true
        resolve()
      })
      socket.addEventListener('message', ({ data }) => heard(data))
      // A socket does not report why it failed; its close event follows.
      socket.addEventListener('error', () => undefined)
      socket.addEventListener('close', ({ code }) => (isOpen ? closed(code) : reject(notOpened(host))))
    })
    return socket
  } catch (error) {
    socket.close()
    throw error
  } finally {
    stop()
    interruption.close()
  }
}

/** The error of the constructor contains the URL with the token, so it is not passed on as a cause. */
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
  const hint = 'a token opens a session once: reconnect() requests a new one'
  return new NetworkError('NETWORK_FAILED', `${host}: the voice session could not be opened`, { hint, retryable: false })
}
