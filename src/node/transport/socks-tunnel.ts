import { once } from 'node:events'
import { connect, isIP, type Socket } from 'node:net'
import { isAuthError, NetworkError } from '../../errors.ts'
import { unreachable } from './guarded-connect.ts'

const VERSION = 5
const METHODS = { none: 0, password: 2 } as const
const CONNECT = 1
const ADDRESS_TYPES = { ipv4: 1, name: 3, ipv6: 4 } as const
const ADDRESS_LENGTHS: Readonly<Record<number, number>> = { 1: 4, 4: 16 }
/** Replies (RFC 1928 §6). */
const REPLIES = [
  '',
  'general failure',
  'not allowed by its rules',
  'the network is unreachable',
  'the host is unreachable',
  'the connection was refused',
  'timed out',
  'CONNECT is not supported',
  'the address type is not supported',
]

/**
 * Opens a connection through a SOCKS 5 proxy (RFC 1928), with the user name and password of the proxy URL (RFC 1929), if it has them. The
 * proxy sees only host and port.
 *
 * @param host a name, which the proxy resolves, or an IP address
 * @param timeout milliseconds until the connection must be open
 *
 * Errors: `PROXY_AUTH_REQUIRED`, `PROXY_REFUSED`, `PROXY_UNREACHABLE`.
 */
export async function openSocksTunnel(proxy: URL, host: string, port: string, timeout: number): Promise<Socket> {
  const socket = connect({ host: proxy.hostname.replace(/^\[|\]$/g, ''), port: Number(proxy.port || 1080) })
  const incoming = new Incoming(socket)
  let problem = unreachable
  const timer = setTimeout(() => {
    problem = unreachable
    socket.destroy(unreachable(proxy))
  }, timeout)
  try {
    await once(socket, 'connect')
    problem = invalidReply
    await introduce(socket, incoming, proxy)
    socket.write(Uint8Array.of(VERSION, CONNECT, 0, ...addressBytes(host), Number(port) >> 8, Number(port) & 0xff))
    await readReply(incoming, proxy, `${isIP(host) === 6 ? `[${host}]` : host}:${port}`)
    incoming.release()
    return socket
  } catch (error) {
    socket.destroy()
    throw isAuthError(error) ? error : problem(proxy)
  } finally {
    clearTimeout(timer)
  }
}

/** Negotiates the authentication method and authenticates (RFC 1928 §3, RFC 1929 §2). */
async function introduce(socket: Socket, incoming: Incoming, proxy: URL): Promise<void> {
  const method = proxy.username ? METHODS.password : METHODS.none
  socket.write(Uint8Array.of(VERSION, 1, method))
  const [version, chosen] = await incoming.take(2)
  if (version !== VERSION) throw invalidReply(proxy)
  if (chosen !== method) throw loginRequired(proxy)
  if (method === METHODS.none) return
  const [name, password] = [proxy.username, proxy.password].map((text) => Buffer.from(decodeURIComponent(text)).subarray(0, 255))
  socket.write(Uint8Array.of(1, name?.length ?? 0, ...(name ?? []), password?.length ?? 0, ...(password ?? [])))
  const [, status] = await incoming.take(2)
  if (status !== 0) throw loginRequired(proxy)
}

async function readReply(incoming: Incoming, proxy: URL, wanted: string): Promise<void> {
  const [version, reply = 1, , type = 0] = await incoming.take(4)
  if (version !== VERSION) throw invalidReply(proxy)
  if (reply !== 0) {
    throw new NetworkError(
      'PROXY_REFUSED',
      `the proxy ${proxy.host} refused the connection to ${wanted}: ${REPLIES[reply] ?? `reply ${reply}`}`,
      {
        retryable: reply !== 2,
      },
    )
  }
  const length = type === ADDRESS_TYPES.name ? (await incoming.take(1))[0] : ADDRESS_LENGTHS[type]
  if (length === undefined) throw invalidReply(proxy)
  await incoming.take(length + 2)
}

/** Encodes an address with its type, and for names their length (RFC 1928 §5). */
function addressBytes(host: string): Uint8Array {
  const version = isIP(host)
  if (version === 0) {
    const name = Buffer.from(host)
    return Uint8Array.of(ADDRESS_TYPES.name, name.length, ...name)
  }
  if (version === 4) return Uint8Array.of(ADDRESS_TYPES.ipv4, ...host.split('.').map(Number))
  return Uint8Array.of(ADDRESS_TYPES.ipv6, ...groupsOf(host).flatMap((group) => [group >> 8, group & 0xff]))
}

/** Returns the eight groups of an IPv6 address; the URL parser has removed any IPv4 part. */
function groupsOf(address: string): readonly number[] {
  const plain = new URL(`http://[${address}]/`).hostname.slice(1, -1)
  const [head = [], tail] = plain.split('::').map((part) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))))
  return tail ? [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail] : head
}

/** Reads the replies of the proxy in pieces of a given length. */
class Incoming {
  readonly #socket: Socket
  #bytes = Buffer.alloc(0)
  #isOver = false
  #wake = () => {}

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', this.#add)
    socket.on('close', this.#end)
    socket.on('end', this.#end)
    socket.on('error', this.#end)
  }

  async take(length: number): Promise<Uint8Array> {
    while (this.#bytes.length < length) {
      if (this.#isOver) throw new Error('the proxy closed the connection')
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    const taken = this.#bytes.subarray(0, length)
    this.#bytes = this.#bytes.subarray(length)
    return taken
  }

  /** Removes the listeners from the socket and returns unread bytes to it. */
  release(): void {
    this.#socket.pause()
    this.#socket.off('data', this.#add)
    this.#socket.off('close', this.#end)
    this.#socket.off('end', this.#end)
    this.#socket.off('error', this.#end)
    if (this.#bytes.length > 0) this.#socket.unshift(this.#bytes)
  }

  readonly #add = (chunk: Buffer) => {
    this.#bytes = Buffer.concat([this.#bytes, chunk])
    this.#wake()
  }

  readonly #end = () => {
    this.#isOver = true
    this.#wake()
  }
}

function loginRequired({ host }: URL): NetworkError {
  const hint = 'add the user name and password to the variable of the proxy: all_proxy=socks5h://user:password@proxy:1080'
  return new NetworkError('PROXY_AUTH_REQUIRED', `the proxy ${host} requires a login or refused the login in its variable`, { hint })
}

function invalidReply({ host }: URL): NetworkError {
  return new NetworkError('PROXY_UNREACHABLE', `the response of the proxy ${host} is invalid: it is not a SOCKS 5 reply`, {
    retryable: true,
  })
}
