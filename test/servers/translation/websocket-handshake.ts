import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** RFC 6455 §1.3. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** What is wrong with an opening handshake (RFC 6455 §4.2.1); nothing when it is correct. */
export function handshakeProblem({ method, httpVersion, headers }: IncomingMessage): string | undefined {
  const key = headers['sec-websocket-key'] ?? ''
  if (method !== 'GET' || httpVersion !== '1.1') return 'no GET of HTTP/1.1'
  if (headers.upgrade?.toLowerCase() !== 'websocket') return 'an upgrade to something else'
  if (!/(?:^|,)\s*upgrade\s*(?:,|$)/i.test(headers.connection ?? '')) return 'no upgrade in the connection field'
  if (headers['sec-websocket-version'] !== '13') return 'another version than 13'
  if (!/^[A-Za-z0-9+/]{22}==$/.test(key)) return 'a key that has not 16 bytes'
  return undefined
}

/** The head of the answer that begins the conversation. */
export function handshakeAnswer(key: string): string {
  const accept = createHash('sha1')
    .update(key + GUID)
    .digest('base64')
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`
}
