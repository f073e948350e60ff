/** A site with one page and its scripts, and an archive and a stranger that the page may ask by CORS. */
import { deflateSync } from 'node:zlib'
import { type Answer, type AnsweringServer, type Inquiry, startAnswering } from '../servers/answering-server.ts'
import { partOf } from '../servers/byte-range.ts'
import type { Guard } from '../servers/guards.ts'

/** Starts a site: files by path, each with its type; POST only where a function answers. */
export function startSite(
  files: Readonly<Record<string, { readonly type: string; readonly body: string }>>,
  post: (path: string) => Answer,
) {
  return startAnswering(({ method, path }) => {
    if (method !== 'GET') return post(path)
    const file = Object.hasOwn(files, path) ? files[path] : undefined
    return file ? { status: 200, headers: { 'content-type': file.type }, body: file.body } : { status: 404 }
  })
}

export interface Holdings {
  readonly files: Readonly<Record<string, { readonly type: string; readonly body: Uint8Array }>>
  readonly guard?: Guard
  /** Where `/moved` leads. */
  readonly moved?: string
  /** Whose pages may ask, and which headers of theirs. */
  readonly allows?: { readonly origin: string; readonly headers: string }
}

/** Starts an archive: a request whose headers were not asked for before (CORS) is no answer for the page. */
export function startHoldings({ files, guard, moved, allows }: Holdings): Promise<AnsweringServer> {
  return startAnswering((request) => {
    const cors = allows && { 'access-control-allow-origin': allows.origin, 'access-control-expose-headers': 'content-range' }
    const answer = request.method === 'OPTIONS' ? preflight(allows?.headers ?? '') : given(request)
    return { ...answer, headers: { ...answer.headers, ...cors } }
  })

  function given(request: Inquiry): Answer {
    const refusal = guard?.(request)
    if (refusal) return refusal
    const { path, headers } = request
    if (path.startsWith('/moved/')) return { status: 302, headers: { location: `${moved}${path.replace('/moved/', '/tiles/')}` } }
    const file = files[path] ?? (path.startsWith('/tiles/') ? files['/tile'] : undefined)
    if (!file) return { status: 404 }
    const part = partOf(file.body, headers.range)
    return part ? { ...part, headers: { ...part.headers, 'content-type': file.type } } : { status: 416 }
  }
}

/** A picture of one colour, 8 bits of grey. */
export function png(size: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const frame = Buffer.alloc(8)
    frame.writeUInt32BE(data.length)
    frame.writeUInt32BE(crc32(body), 4)
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
  }
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0])
  header.writeUInt32BE(size)
  header.writeUInt32BE(size, 4)
  const rows = deflateSync(Buffer.alloc((size + 1) * size))
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))])
}

/** Silence of that many seconds as WAV, 8000 samples of a byte per second. */
export function wav(seconds: number): Buffer {
  const samples = seconds * 8000
  const head = Buffer.alloc(44)
  head.write('RIFF')
  head.writeUInt32LE(36 + samples, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(8000, 24)
  head.writeUInt32LE(8000, 28)
  head.writeUInt16LE(1, 32)
  head.writeUInt16LE(8, 34)
  head.write('data', 36)
  head.writeUInt32LE(samples, 40)
  return Buffer.concat([head, Buffer.alloc(samples, 128)])
}

function preflight(headers: string): Answer {
  return { status: 204, headers: { 'access-control-allow-headers': headers } }
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
