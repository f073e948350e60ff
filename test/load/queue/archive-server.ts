/**
 * A protected archive in a process of its own: files of any size from one buffer, ranges, entity tags, a limit of concurrent requests that
 * is watched, and counters. It prints its port, and its counters for each line on standard input.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

const MIB = 2 ** 20
const [key = 'key', bytesPerSecond = '0'] = process.argv.slice(2)
/** Bytes per second of each response; 0 for no limit. */
const BYTES_PER_SECOND = Number(bytesPerSecond)
const counts = { requests: 0, bytes: 0, refused: 0, most: 0, ranges: 0, start: 0 }
let active = 0

/** A mebibyte, twice: what a position of a file holds must not depend on where a request began. */
const block = Buffer.alloc(2 * MIB)
for (let at = 0; at < MIB; at += 32) createHash('sha256').update(`block ${at}`).digest().copy(block, at)
block.copy(block, MIB, 0, MIB)

const server = createServer((request, response) => {
  active++
  counts.most = Math.max(counts.most, active)
  let isOver = false
  const over = () => {
    if (!isOver) active--
    isOver = true
  }
  const end = () => {
    over()
    response.end()
  }
  answer(request, response, over).then(end, end)
})

/** @param over called before the last byte: a client that has it may send its next request before this process hears of it */
async function answer({ url = '', headers }: IncomingMessage, response: ServerResponse, over: () => void): Promise<void> {
  counts.requests++
  const [, name = '', bytes = ''] = /^\/((\d+)\/\w+)$/.exec(url) ?? []
  if (headers['x-api-key'] !== key) counts.refused++
  if (headers['x-api-key'] !== key || name === '') {
    response.writeHead(name === '' ? 404 : 401)
    return
  }
  const size = Number(bytes)
  const etag = `"${createHash('sha256').update(name).digest('hex').slice(0, 16)}"`
  const [, from, to] = (headers['if-range'] ?? etag) === etag ? (/^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? []) : []
  const [start, end] = from === undefined ? [0, size] : [Number(from), to ? Math.min(size, Number(to) + 1) : size]
  const disposition = name.includes('/g') && { 'content-disposition': `attachment; filename="${name.replace('/', '-')}.nc"` }
  const fields = {
    ...disposition,
    etag,
    'accept-ranges': 'bytes',
    'content-length': end - start,
    'content-type': 'application/octet-stream',
  }
  if (from === undefined) response.writeHead(200, fields)
  else response.writeHead(206, { ...fields, 'content-range': `bytes ${start}-${end - 1}/${size}` })
  if (from !== undefined) counts.ranges++
  counts.start = start
  await send(response, { shift: shiftOf(name), start, end }, over)
}

interface Body {
  readonly shift: number
  readonly start: number
  readonly end: number
}

/** The first bytes of HDF5, which NetCDF files may have too. */
const HDF5 = Buffer.from('\x89HDF\r\n\x1a\n', 'latin1')

async function send(response: ServerResponse, { shift, start, end }: Body, over: () => void): Promise<void> {
  const began = Date.now()
  const head = HDF5.subarray(start, Math.max(start, Math.min(end, HDF5.length)))
  if (head.length > 0) response.write(head)
  for (let at = start + head.length; at < end && !response.destroyed; ) {
    const offset = (at + shift) % MIB
    const chunk = block.subarray(offset, offset + Math.min(end - at, 64 * 1024))
    at += chunk.length
    counts.bytes += chunk.length
    if (at >= end) over()
    if (!response.write(chunk)) await drained(response)
    const early = BYTES_PER_SECOND > 0 ? ((at - start) / BYTES_PER_SECOND) * 1000 - (Date.now() - began) : 0
    if (early > 0) await sleep(early)
  }
}

/** Waits until more can be written, or until nobody reads. */
function drained(response: ServerResponse): Promise<void> | undefined {
  if (response.destroyed) return undefined
  return new Promise((resolve) => {
    const end = () => {
      response.off('drain', end).off('close', end)
      resolve()
    }
    response.on('drain', end).on('close', end)
  })
}

/** Each file begins somewhere else in the buffer, which repeats. */
function shiftOf(name: string): number {
  return createHash('sha256').update(name).digest().readUInt32LE() % MIB
}

server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: (server.address() as AddressInfo).port })))
createInterface({ input: process.stdin }).on('line', () => {
  console.log(JSON.stringify({ ...counts, cpu: process.cpuUsage() }))
  counts.most = active
})
process.stdin.on('end', () => process.exit())
