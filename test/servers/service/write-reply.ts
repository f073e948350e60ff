import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { type Action, type Framing, NO_ACTION } from './fault-script.ts'
import type { Reply } from './reply.ts'
import { resetSocket } from './reset-socket.ts'

/** Puts an answer on the wire, whole or as broken as the action says. */
export function writeReply(request: IncomingMessage, response: ServerResponse, reply: Reply, action: Action, framing: Framing): void {
  const { status, headers = {} } = reply
  if (action === NO_ACTION && framing === 'length' && typeof reply.body === 'string') {
    // Text leaves together with the head, in one write.
    response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(reply.body) }).end(reply.body)
    return
  }
  const body = typeof reply.body === 'string' ? Buffer.from(reply.body) : (reply.body ?? Buffer.alloc(0))
  const whole = { ...reply, body }
  if (action.resetAfterHeaders || action.resetAfter !== undefined) {
    writeStart(response, whole, action.resetAfterHeaders ? 0 : (action.resetAfter ?? 0), () => resetSocket(request.socket))
  } else if (action.truncate !== undefined) {
    response.setHeader('Content-Length', Math.max(body.length, action.truncate + 1))
    writeStart(response, whole, action.truncate, () => request.socket.end())
  } else if (action.dripBody) {
    void drip(response, whole, action.dripBody)
  } else if (hasNoBody(status)) {
    response.writeHead(status, { ...headers }).end()
  } else {
    writeFramed(response, status, headers, body, framing !== 'gzip' || gzipped(request) ? framing : 'length')
  }
}

function gzipped({ headers }: IncomingMessage): boolean {
  return /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''))
}

function writeFramed(
  response: ServerResponse,
  status: number,
  headers: NonNullable<Reply['headers']>,
  body: Uint8Array,
  framing: Framing,
): void {
  if (framing === 'chunked') {
    response.writeHead(status, { ...headers })
    const middle = Math.ceil(body.length / 2)
    for (const part of [body.subarray(0, middle), body.subarray(middle)]) if (part.length) response.write(part)
    response.end()
  } else if (framing === 'bytes') {
    void drip(response, { status, headers, body }, { bytes: 1, everyMs: 0 })
  } else if (framing === 'gzip') {
    const packed = gzipSync(body)
    response.writeHead(status, { ...headers, 'Content-Encoding': 'gzip', 'Content-Length': String(packed.length) }).end(packed)
  } else {
    response.writeHead(status, { ...headers, 'Content-Length': String(body.length) }).end(body)
  }
}

/** Head and first bytes, then whatever ends the connection. */
function writeStart(response: ServerResponse, { status, headers, body = '' }: Reply, bytes: number, end: () => void): void {
  if (!response.hasHeader('Content-Length')) response.setHeader('Content-Length', body.length)
  response.writeHead(status, { ...headers })
  response.flushHeaders()
  const start = Buffer.from(body).subarray(0, bytes)
  // The callback comes when the system has the bytes; one more turn lets them leave before a reset.
  const soon = () => setTimeout(end, 5).unref()
  if (start.length) response.write(start, soon)
  else soon()
}

async function drip(
  response: ServerResponse,
  { status, headers, body = '' }: Reply,
  { bytes, everyMs }: { bytes: number; everyMs: number },
) {
  response.writeHead(status, { ...headers, 'Content-Length': String(body.length) })
  const all = Buffer.from(body)
  for (let at = 0; at < all.length && !response.destroyed; at += bytes) {
    await new Promise((resolve) => response.write(all.subarray(at, at + bytes), resolve))
    await (everyMs ? pause(everyMs, undefined, { ref: false }) : new Promise(setImmediate))
  }
  response.end()
}

function hasNoBody(status: number): boolean {
  return status === 204 || status === 304
}
