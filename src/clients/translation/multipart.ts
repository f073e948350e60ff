/** `multipart/form-data` (RFC 7578), written piece by piece. */
import { IntegrityError } from '../../errors.ts'

/** The part with the file. */
export interface FilePart {
  readonly filename: string
  /** In bytes, where it is known. */
  readonly size: number | undefined
  chunks(): AsyncIterable<Uint8Array>
}

/** A whole body. */
export interface MultipartBody {
  readonly contentType: string
  /** In bytes, where the size of the file is known. */
  readonly contentLength: number | undefined
  chunks(): AsyncIterable<Uint8Array>
}

const ENCODER = new TextEncoder()

/**
 * The fields in their order, the file behind them. Errors of its chunks: `FILE_CHANGED` when the file has not the size that it was said to
 * have, and those of the file.
 */
export function multipart(fields: readonly (readonly [name: string, value: string])[], file: FilePart): MultipartBody {
  const boundary = `stac-auth-${crypto.randomUUID()}`
  const texts = fields.map(([name, value]) => `${disposition(boundary, name)}\r\n\r\n${value}\r\n`)
  const opening = `${disposition(boundary, 'file')}; filename="${escaped(file.filename)}"\r\nContent-Type: application/octet-stream\r\n\r\n`
  const head = ENCODER.encode(texts.join('') + opening)
  const tail = ENCODER.encode(`\r\n--${boundary}--\r\n`)
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    contentLength: file.size === undefined ? undefined : head.length + file.size + tail.length,
    async *chunks() {
      yield head
      yield* counted(file)
      yield tail
    },
  }
}

function disposition(boundary: string, name: string): string {
  return `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"`
}

/** As browsers do (HTML, multipart/form-data encoding algorithm): line breaks and quotes in percent, everything else in UTF-8. */
function escaped(name: string): string {
  return name.toWellFormed().replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')
}

async function* counted({ filename, size, chunks }: FilePart): AsyncGenerator<Uint8Array> {
  let count = 0
  for await (const chunk of chunks()) {
    count += chunk.length
    if (size !== undefined && count > size) throw changed(filename)
    yield chunk
  }
  if (size !== undefined && count < size) throw changed(filename)
}

function changed(name: string): IntegrityError {
  return new IntegrityError('FILE_CHANGED', `"${name}" was changed while it was read`, { hint: 'upload it again' })
}
