import { isUtf8 } from 'node:buffer'

/** Kinds of frames (RFC 6455 §5.2). */
export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** A whole message, or a control frame. */
export interface Message {
  readonly opcode: number
  readonly payload: Buffer
}

/** What a client did wrong, with the code to close with (§7.4.1). */
export class FrameError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

interface Frame extends Message {
  readonly final: boolean
  /** Bytes on the wire. */
  readonly length: number
}

const LARGEST = 1024 * 1024

/** One frame of a server: whole, without a mask. */
export function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload
  if (length < 126) return Buffer.concat([Buffer.from([0x80 | opcode, length]), payload])
  const head = Buffer.alloc(length < 65_536 ? 4 : 10)
  head[0] = 0x80 | opcode
  head[1] = length < 65_536 ? 126 : 127
  if (length < 65_536) head.writeUInt16BE(length, 2)
  else head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, payload])
}

/** Puts the frames of a client together; each call gives the messages that are complete. Throws `FrameError`. */
export function createFrameReader(): (bytes: Buffer) => readonly Message[] {
  let rest = Buffer.alloc(0)
  let begun: { opcode: number; parts: Buffer[] } | undefined
  return (bytes) => {
    rest = Buffer.concat([rest, bytes])
    const messages: Message[] = []
    for (let next = readFrame(rest); next; next = readFrame(rest)) {
      rest = rest.subarray(next.length)
      const { opcode, payload, final } = next
      if (opcode >= OPCODE.close) {
        messages.push({ opcode, payload })
        continue
      }
      if ((opcode === OPCODE.continuation) !== Boolean(begun))
        throw new FrameError(1002, 'a continuation of nothing, or a message inside another')
      begun ??= { opcode, parts: [] }
      begun.parts.push(payload)
      if (!final) continue
      messages.push(whole(begun))
      begun = undefined
    }
    return messages
  }
}

/** Code and reason of a close frame (§5.5.1). Throws `FrameError` for what no endpoint may send. */
export function closeCode(payload: Buffer): number {
  if (payload.length === 0) return 1005
  const code = payload.length === 1 ? 0 : payload.readUInt16BE(0)
  const known = (code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code)) || (code >= 3000 && code <= 4999)
  if (!known) throw new FrameError(1002, `the close code ${code}`)
  if (!isUtf8(payload.subarray(2))) throw new FrameError(1007, 'a reason that is not UTF-8')
  return code
}

function whole({ opcode, parts }: { readonly opcode: number; readonly parts: readonly Buffer[] }): Message {
  const payload = Buffer.concat(parts)
  if (opcode === OPCODE.text && !isUtf8(payload)) throw new FrameError(1007, 'text that is not UTF-8')
  return { opcode, payload }
}

/** Nothing when the frame is not there yet. */
function readFrame(bytes: Buffer): Frame | undefined {
  const [first = 0, second = 0] = bytes
  if (bytes.length < 2) return undefined
  const opcode = first & 0x0f
  const final = (first & 0x80) !== 0
  checkStart(first, second, opcode, final)
  const size = payloadSize(bytes, second & 0x7f)
  if (!size || bytes.length < size.start + 4 + size.length) return undefined
  const mask = bytes.subarray(size.start, size.start + 4)
  const payload = Buffer.from(bytes.subarray(size.start + 4, size.start + 4 + size.length))
  for (let index = 0; index < payload.length; index++) payload[index] = (payload[index] ?? 0) ^ (mask[index % 4] ?? 0)
  return { opcode, final, payload, length: size.start + 4 + size.length }
}

function checkStart(first: number, second: number, opcode: number, final: boolean): void {
  if (first & 0x70) throw new FrameError(1002, 'a reserved bit')
  if (!Object.values<number>(OPCODE).includes(opcode)) throw new FrameError(1002, `the opcode ${opcode}`)
  if (!(second & 0x80)) throw new FrameError(1002, 'a frame without a mask')
  if (opcode >= OPCODE.close && (!final || (second & 0x7f) > 125)) throw new FrameError(1002, 'a control frame that is long or in pieces')
}

function payloadSize(bytes: Buffer, short: number): { readonly start: number; readonly length: number } | undefined {
  if (short < 126) return { start: 2, length: short }
  const start = short === 126 ? 4 : 10
  if (bytes.length < start) return undefined
  const length = short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  if (length < (short === 126 ? 126 : 65_536)) throw new FrameError(1002, 'a length that is not written in the shortest form')
  if (length > LARGEST) throw new FrameError(1009, 'a frame that is too large')
  return { start, length }
}
