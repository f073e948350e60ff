import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { drained } from './drained.ts'
import type { Fault } from './fault.ts'

type Fields = Record<string, string | string[]>

/** Passes an answer on, as broken as the fault says; `count` hears of every byte of the body that is written. */
export async function breakAnswer(
  answer: IncomingMessage,
  response: ServerResponse,
  fault: Fault | undefined,
  count: (bytes: number) => void,
): Promise<void> {
  if (fault?.do === 'cut' && fault.framing !== 'length') return cutUnframed(answer, response, fault, count)
  if (fault?.do === 'hold' && fault.at === 'head') await fault.until
  if (fault?.do === 'delay') await pause(fault.ms, undefined, { ref: false })
  const { status, fields } = headOf(answer, fault)
  response.writeHead(status, fields)
  const length = Number(answer.headers['content-length'] ?? 0)
  const place = fault && 'at' in fault && typeof fault.at === 'number' ? Math.floor(fault.at * length) : Number.POSITIVE_INFINITY
  const manner = fault?.do === 'hold' ? { at: Number.POSITIVE_INFINITY, hold: { at: place, until: fault.until } } : { at: place }
  const isWhole = await copy(answer, response, { ...manner, ...(fault?.do === 'drip' && fault) }, count)
  if (isWhole) return end(response, fault)
  if (fault?.do === 'stall') return
  const { socket } = response
  if (fault?.do === 'cut') socket?.end()
  else socket?.resetAndDestroy()
}

function headOf(answer: IncomingMessage, fault: Fault | undefined): { readonly status: number; readonly fields: Fields } {
  const { statusCode: status = 502 } = answer
  const fields: Fields = {}
  for (const [name, value] of Object.entries(answer.headers)) if (value !== undefined && name !== 'connection') fields[name] = value
  delete fields['keep-alive']
  const length = Number(fields['content-length'])
  if (fault?.do === 'length') fields['content-length'] = String(length + fault.by)
  if (fault?.do !== 'range') return { status, fields }
  const [, first = '0', last = String(length - 1), total = String(length)] =
    /^bytes (\d+)-(\d+)\/(\d+)$/.exec(String(fields['content-range'] ?? '')) ?? []
  if (fault.as === 'missing') delete fields['content-range']
  else if (fault.as === 'start') fields['content-range'] = `bytes ${Number(first) - 1}-${Number(last) - 1}/${total}`
  else if (fault.as === 'total') fields['content-range'] = `bytes ${first}-${last}/${Number(total) + 1}`
  else fields['content-range'] = `bytes ${first}-${last}/${total}`
  return { status: 206, fields }
}

interface Manner {
  /** Bytes after which it ends. */
  readonly at: number
  readonly bytes?: number
  readonly everyMs?: number
  /** Bytes after which it waits. */
  readonly hold?: { readonly at: number; readonly until: Promise<unknown> }
}

/** True when all of it was passed on; after the last byte that is not, the system has what came before. */
async function copy(
  answer: IncomingMessage,
  response: ServerResponse,
  { at, bytes, everyMs, hold }: Manner,
  count: (bytes: number) => void,
): Promise<boolean> {
  let done = 0
  if (at === 0) await flushed(response)
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    for (const piece of bytes === undefined ? [chunk] : cutUp(chunk, bytes)) {
      const part = piece.subarray(0, Math.max(0, at - done))
      done += piece.length
      count(part.length)
      if (done >= at) {
        await new Promise<void>((resolve) => response.write(part, () => resolve()))
        return false
      }
      if (!response.write(part)) await drained(response)
      if (hold && done >= hold.at) await hold.until
      if (response.destroyed) return false
      if (everyMs !== undefined) await pause(everyMs, undefined, { ref: false })
    }
  }
  return true
}

async function flushed(response: ServerResponse): Promise<void> {
  response.flushHeaders()
  await new Promise(setImmediate)
}

function end(response: ServerResponse, fault: Fault | undefined): void {
  const { socket } = response
  if (fault?.do === 'length' && fault.by > 0) return void socket?.end()
  response.end()
  if (fault?.do === 'hang-up') response.once('finish', () => socket?.end())
}

function* cutUp(chunk: Buffer, bytes: number): Generator<Buffer, void> {
  for (let at = 0; at < chunk.length; at += bytes) yield chunk.subarray(at, at + bytes)
}

/** Bodies whose framing has to be written by hand. */
async function cutUnframed(
  answer: IncomingMessage,
  response: ServerResponse,
  { at, framing }: Extract<Fault, { readonly do: 'cut' }>,
  count: (bytes: number) => void,
): Promise<void> {
  const { status, fields } = headOf(answer, undefined)
  delete fields['content-length']
  const { socket } = response
  const whole = await buffer(answer)
  if (!socket || socket.destroyed) return
  const body = framing === 'gzip' ? gzipSync(whole) : whole
  const part = body.subarray(0, Math.floor(at * body.length))
  count(part.length)
  if (framing === 'gzip') {
    response.writeHead(status, { ...fields, 'content-encoding': 'gzip', 'content-length': part.length }).end(part)
    return
  }
  const extra = framing === 'chunk' ? `transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n` : 'connection: close\r\n\r\n'
  writeByHand(socket, status, fields, extra, part)
}

function writeByHand(socket: Socket, status: number, fields: Fields, extra: string, body: Buffer): void {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${String(value)}\r\n`)
  socket.write(`HTTP/1.1 ${status} \r\n${lines.join('')}${extra}`, 'latin1')
  socket.end(body)
}
