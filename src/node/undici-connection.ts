import { TLSSocket } from 'node:tls'
import { type buildConnector, Client } from 'undici'
import { NetworkError } from '../errors.ts'
import type { Connection, SendOptions } from '../http/message.ts'
import { exchangeEnd, failure, originOf } from '../http/network-error.ts'
import { throwIfAborted } from '../net/cancellation.ts'
import { shareSignal } from './shared-signal.ts'
import { exchange } from './undici-exchange.ts'

type Socket = Exclude<Parameters<buildConnector.Callback>[1], null>

/**
 * One connection to the origin of that address, opened at once. Errors: as of {@link exchange}; a request after the connection
 * was lost is `NETWORK_RESET`.
 */
export async function undiciConnection(
  url: string,
  connector: buildConnector.connector,
  limits: Client.Options,
  options: SendOptions,
): Promise<Connection> {
  const socket = await opened(url, connector, options)
  const origin = originOf(url)
  let taken = false
  // undici does not expect an answer before it has finished asking.
  const connect: buildConnector.connector = (_to, callback) =>
    queueMicrotask(() => {
      if (taken || socket.destroyed) return callback(lost(origin), null)
      taken = true
      callback(null, socket)
    })
  const client = new Client(origin, { ...limits, connect })
  return {
    send: async (request, options = {}) => {
      if (originOf(request.url) !== origin) throw new TypeError(`this connection is to ${origin}, not to ${originOf(request.url)}`)
      return exchange(client, request, options)
    },
    keyingMaterial: (length, label, context) =>
      socket instanceof TLSSocket && socket.getProtocol() === 'TLSv1.3'
        ? socket.exportKeyingMaterial(length, label, Buffer.from(context))
        : undefined,
    close: () => {
      if (!taken) socket.destroy()
      void client.close()
    },
  }
}

async function opened(url: string, connector: buildConnector.connector, options: SendOptions): Promise<Socket> {
  throwIfAborted(options.signal)
  shareSignal(options.signal)
  const end = exchangeEnd(options, url)
  try {
    return await dialled(new URL(url), connector, end.signal)
  } catch (error) {
    throw failure(error, end.signal, url)
  } finally {
    end.clear()
  }
}

/** A connection that comes after the abort is closed at once. */
function dialled({ protocol, hostname, host, port }: URL, connector: buildConnector.connector, signal?: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    connector({ protocol, hostname: hostname.replace(/^\[|\]$/g, ''), host, port }, (error, socket) => {
      signal?.removeEventListener('abort', abort)
      if (!socket) return reject(error)
      // It is somebody's from here on: an error before that would be nobody's.
      socket.on('error', () => {})
      if (signal?.aborted) socket.destroy()
      resolve(socket)
    })
  })
}

function lost(origin: string): NetworkError {
  return new NetworkError('NETWORK_RESET', `${origin} closed the connection that the authorization belongs to`, { retryable: true })
}
