/** A voice session spoken by hand: sockets and frames, so that a client may be wrong in every way. */
import { createHash, randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'

/** One frame of the service. */
export interface Received {
  readonly opcode: number
  readonly payload: Buffer
}

/** A connection whose bytes are ours. */
export interface VoiceClient {
  readonly socket: Socket
  /** Everything before the first frame. */
  readonly answer: string
  readonly received: readonly Received[]
  /** The text frames, as JSON. */
  readonly messages: () => readonly unknown[]
  readonly send: (payload: string | Buffer, opcode?: number, first?: number, masked?: boolean) => void
  readonly say: (message: unknown) => void
  /** The close code, 0 when the connection was cut. */
  readonly ended: Promise<number>
}

/** Opens an address of `ws:` with these fields in place of the usual ones. */
export function openVoice(address: string, fields: Readonly<Record<string, string | undefined>> = {}): Promise<VoiceClient> {
  const { hostname, port, host, pathname, search } = new URL(address)
  const key = randomBytes(16).toString('base64')
  const usual = { Host: host, Upgrade: 'websocket', Connection: 'Upgrade', 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': key }
  const head = Object.entries({ ...usual, ...fields }).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}\r\n`]))
  const socket = connect(Number(port), hostname)
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\n${head.join('')}\r\n`)
  return new Promise((resolve) => {
    const received: Received[] = []
    let rest: Buffer = Buffer.alloc(0)
    let answer = ''
    const ended = new Promise<number>((end) => {
      socket.once('close', () => end(received.find(({ opcode }) => opcode === 8)?.payload.readUInt16BE(0) ?? 0))
    })
    const client = { socket, received, messages: () => messagesOf(received), send: sender(socket), say: sayer(socket), ended }
    socket.on('error', () => socket.destroy())
    socket.on('data', (bytes) => {
      rest = Buffer.concat([rest, Buffer.from(bytes)])
      const end = rest.indexOf('\r\n\r\n')
      if (answer === '' && end >= 0) {
        answer = rest.toString('latin1', 0, end)
        rest = rest.subarray(end + 4)
        resolve({ ...client, answer })
      }
      if (answer) rest = readFrames(rest, received)
    })
  })
}

/** The accept field that belongs to the key of a client (RFC 6455 §1.3). */
export function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
}

/** A frame of a client; `first` is put into the first byte as it is. */
export function clientFrame(payload: Buffer, opcode: number, first = 0x80, masked = true): Buffer {
  const { length } = payload
  const size =
    length < 126
      ? [length]
      : length < 65_536
        ? [126, length >> 8, length & 255]
        : [127, 0, 0, 0, 0, ...[24, 16, 8, 0].map((shift) => (length >> shift) & 255)]
  size[0] = (size[0] ?? 0) | (masked ? 0x80 : 0)
  const mask = randomBytes(4)
  const content = masked ? Buffer.concat([mask, payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0))]) : payload
  return Buffer.concat([Buffer.from([first | opcode, ...size]), content])
}

function sender(socket: Socket): VoiceClient['send'] {
  return (payload, opcode = 1, first = 0x80, masked = true) => {
    socket.write(clientFrame(Buffer.from(payload), opcode, first, masked))
  }
}

function sayer(socket: Socket): VoiceClient['say'] {
  return (message) => {
    socket.write(clientFrame(Buffer.from(JSON.stringify(message)), 1))
  }
}

function messagesOf(received: readonly Received[]): readonly unknown[] {
  return received.filter(({ opcode }) => opcode === 1).map(({ payload }) => JSON.parse(payload.toString()))
}

function readFrames(bytes: Buffer, received: Received[]): Buffer {
  for (;;) {
    const short = (bytes[1] ?? 0) & 0x7f
    const start = short === 126 ? 4 : short === 127 ? 10 : 2
    if (bytes.length < start) return bytes
    const length = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short
    if (bytes.length < start + length) return bytes
    received.push({ opcode: (bytes[0] ?? 0) & 0x0f, payload: Buffer.from(bytes.subarray(start, start + length)) })
    bytes = bytes.subarray(start + length)
  }
}
