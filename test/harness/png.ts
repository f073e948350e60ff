/** Pictures as PNG (ISO/IEC 15948), without filters. */
import { deflateSync } from 'node:zlib'
import type { Image } from './geotiff.ts'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const GREY = 0
const COLOUR = 2

/** 8 bits of grey, or of red, green and blue. */
export function encodePng({ width, height, pixels }: Image): Buffer {
  const bytes = pixels.length / height
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, bytes === width ? GREY : COLOUR, 0, 0, 0])
  header.writeUInt32BE(width)
  header.writeUInt32BE(height, 4)
  const rows = Array.from({ length: height }, (_, row) => [Buffer.of(0), pixels.subarray(row * bytes, (row + 1) * bytes)])
  const data = deflateSync(Buffer.concat(rows.flat()))
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length)
  frame.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}

/** ISO 3309, as PNG wants it; Node has it from 22.2 on only. */
function crc32(bytes: Uint8Array): number {
  let crc = ~0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}
