/** A site with one page and its scripts, and an archive and a stranger that the page may ask by CORS. */
import { encodePng } from '../harness/png.ts'
import { type Answer, type AnsweringServer, type Inquiry, startAnswering } from '../servers/answering-server.ts'
import { partOf } from '../servers/byte-range.ts'
import { type Allowed, crossOrigin } from '../servers/cross-origin.ts'
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
  readonly allows?: Allowed
}

/** Starts an archive: a request whose headers were not asked for before (CORS) is no answer for the page. */
export function startHoldings({ files, guard, moved, allows }: Holdings): Promise<AnsweringServer> {
  return startAnswering(allows ? crossOrigin(given, allows) : given)

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

/** A black picture, 8 bits of grey. */
export function png(size: number): Buffer {
  return encodePng({ width: size, height: size, pixels: Buffer.alloc(size * size) })
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
