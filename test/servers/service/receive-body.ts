import type { IncomingMessage } from 'node:http'

/** The body of a request, and how it came. */
export interface ReceivedBody {
  readonly bytes: Buffer
  readonly chunks: { readonly at: number; readonly bytes: number }[]
}

/** Reads a body to its end; `undefined` when the connection ended before. */
export function receiveBody(request: IncomingMessage, done: (body: ReceivedBody | undefined) => void): void {
  const parts: Buffer[] = []
  const chunks: ReceivedBody['chunks'] = []
  let finished = false
  request.on('data', (part: Buffer) => {
    parts.push(part)
    chunks.push({ at: Date.now(), bytes: part.length })
  })
  request.on('end', () => {
    finished = true
    done({ bytes: parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts), chunks })
  })
  request.on('close', () => {
    if (!finished) done(undefined)
  })
}

/** Reads so many bytes and lets the rest wait at the sender. */
export function stopReadingAfter(request: IncomingMessage, bytes: number): void {
  let read = 0
  request.on('data', (part: Buffer) => {
    read += part.length
    if (read >= bytes) request.pause()
  })
  if (bytes === 0) request.pause()
}
