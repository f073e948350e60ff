/** A file server on loopback that judges who asks it for parts, and that fails as it is told to. */
import { createCipheriv, createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beginningOf } from './chaos/file-beginning.ts'

/** A request as it came. */
export interface Asking {
  readonly path: string
  readonly range: string | undefined
  readonly ifRange: string | undefined
  readonly authorization: string | undefined
  /** Bytes of the body that were handed to the socket. */
  sent: number
}

/** What happens to one answer instead of what should happen. */
export interface Fault {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** The connection is reset after so many bytes of the body; 0 before anything. */
  readonly resetAfter?: number
  /** The body ends after so many bytes, with a correct end of the connection. */
  readonly endAfter?: number
  /** The range is not looked at. */
  readonly ignoreRange?: boolean
  /** A part is given whatever `If-Range` says, as by servers and proxies that do not know it. */
  readonly ignoreIfRange?: boolean
  /** The body is sent in chunks, or until the connection is closed, without a length. */
  readonly framing?: 'chunked' | 'close'
  /** Milliseconds between two drops of the body; bytes of one, default 1. */
  readonly drip?: number
  readonly drop?: number
}

export interface FileServer {
  readonly origin: string
  readonly asked: readonly Asking[]
  /** What a correct client never does. */
  readonly violations: readonly string[]
  /** Bytes of all bodies that were handed to sockets. */
  readonly sent: number
  close(): Promise<void>
}

export interface ServedContent {
  readonly bytes: Buffer
  /** Default: a strong one made from the bytes; null for none. */
  readonly etag?: string | null
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * @param content the file of a path at this moment
 * @param faultOf what goes wrong with the n-th request, from 0; undefined for nothing
 */
export async function startFileServer(
  content: (path: string, asking: Asking) => ServedContent | undefined,
  faultOf: (asking: Asking, n: number) => Fault | undefined = () => undefined,
): Promise<FileServer> {
  const asked: Asking[] = []
  const violations: string[] = []
  const server = createServer((request, response) => {
    const asking = askingOf(request)
    const fault = faultOf(asking, asked.length)
    asked.push(asking)
    violations.push(...violationsOf(request))
    answer(response, content(asking.path, asking), asking, fault ?? {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    violations,
    get sent() {
      return asked.reduce((sum, { sent }) => sum + sent, 0)
    },
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** Bytes that repeat nowhere soon, always the same for a seed, and begin as its extension promises; as a TIFF without one. */
export function noise(length: number, seed = 'a'): Buffer {
  const key = createHash('sha256').update(seed).digest()
  const bytes = createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(length))
  beginningOf(seed).copy(bytes)
  return bytes
}

/** The strong entity tag of these servers. */
export function tagOf(bytes: Buffer): string {
  const tag = tags.get(bytes) ?? `"v-${createHash('sha1').update(bytes).digest('hex')}"`
  tags.set(bytes, tag)
  return tag
}
/** A large file is hashed once, not for each request; no test changes the bytes of a file in place. */
const tags = new WeakMap<Buffer, string>()

function askingOf({ url = '', headers }: IncomingMessage): Asking {
  const { range, authorization } = headers
  return { path: url, range, ifRange: headers['if-range'] as string | undefined, authorization, sent: 0 }
}

function violationsOf({ method, headers }: IncomingMessage): string[] {
  const ifRange = String(headers['if-range'] ?? '')
  return [
    ...(method === 'GET' ? [] : [`method ${method}`]),
    ...(headers.range === undefined || /^bytes=\d+-\d*$/.test(headers.range) ? [] : [`range ${headers.range}`]),
    ...(ifRange && headers.range === undefined ? ['If-Range without Range (RFC 9110 §13.1.5)'] : []),
    ...(headers.range && !ifRange ? ['a part of nobody knows which version'] : []),
    ...(ifRange.startsWith('W/') ? ['weak If-Range'] : []),
    ...(headers['accept-encoding'] === 'identity' ? [] : [`accept-encoding ${headers['accept-encoding']}`]),
  ]
}

function answer(response: ServerResponse, found: ServedContent | undefined, asking: Asking, fault: Fault): void {
  if (fault.resetAfter === 0) return void response.socket?.resetAndDestroy()
  if (!found) return void response.writeHead(404).end('no such file')
  const { bytes, etag = tagOf(bytes), type = 'application/octet-stream' } = found
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(asking.range ?? '') ?? []
  const current = etag ?? found.headers?.['last-modified']
  const isPart = from !== undefined && !fault.ignoreRange && (fault.ignoreIfRange || asking.ifRange === current)
  const headers: Record<string, string> = {
    'content-type': type,
    'accept-ranges': 'bytes',
    ...(etag !== null && { etag }),
    ...found.headers,
  }
  if (isPart && Number(from) >= bytes.length && fault.status === undefined) {
    response.writeHead(416, { ...headers, 'content-range': `bytes */${bytes.length}` }).end()
    return
  }
  const [start, end] = isPart ? [Number(from), to ? Math.min(Number(to) + 1, bytes.length) : bytes.length] : [0, bytes.length]
  const body = fault.body === undefined ? bytes.subarray(start, end) : Buffer.from(fault.body)
  if (isPart) headers['content-range'] = `bytes ${start}-${end - 1}/${bytes.length}`
  if (fault.framing !== 'chunked' && fault.framing !== 'close') headers['content-length'] = String(body.length)
  if (fault.framing === 'close') {
    response.useChunkedEncodingByDefault = false
    headers.connection = 'close'
  }
  response.writeHead(fault.status ?? (isPart ? 206 : 200), { ...headers, ...fault.headers })
  send(response, body, asking, fault)
}

function send(response: ServerResponse, body: Buffer, asking: Asking, { resetAfter, endAfter, drip, drop = 1 }: Fault): void {
  const { socket } = response
  if (drip !== undefined) {
    let at = 0
    const timer = setInterval(() => {
      const part = body.subarray(at, (at += drop))
      asking.sent += part.length
      if (at < body.length) return void response.write(part)
      clearInterval(timer)
      response.end(part)
    }, drip)
    response.on('close', () => clearInterval(timer))
    return
  }
  const part = body.subarray(0, resetAfter ?? endAfter ?? body.length)
  asking.sent = part.length
  if (resetAfter === undefined && endAfter === undefined) return void response.end(body)
  response.write(part, () => {
    if (endAfter !== undefined) socket?.end()
    // What was written is to arrive before the reset does.
    else setTimeout(() => socket?.resetAndDestroy(), 20)
  })
}
