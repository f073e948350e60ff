/** A file server that is strict about ranges (RFC 9110 §13.1.5, §14) and whose files cost no space. */

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { piecesOf } from './depot-content.ts'
import { drained } from './drained.ts'

export interface DepotFile {
  readonly size: number
  /** Default `application/octet-stream`. */
  readonly type?: string
  /** What tells its versions apart; default a strong entity tag. */
  readonly validator?: 'strong' | 'weak' | 'none'
}

export interface DepotOptions {
  /** The file of a path. */
  readonly files: (path: string) => DepotFile | undefined
  /** Says why a request is 401; undefined lets it in. */
  readonly refuses?: (headers: IncomingMessage['headers']) => string | undefined
}

export interface FileDepot {
  /** Without a slash at the end. */
  readonly origin: string
  /** What no correct client sends. */
  readonly violations: readonly string[]
  readonly requests: number
  /** Requests that were 401. */
  readonly refused: number
  /** Bytes of bodies that were handed to the system. */
  readonly sent: number
  close(): Promise<void>
}

/** The field in which whoever stands before the depot says which version of a file is wanted. */
export const REVISION = 'x-revision'

/** Starts a depot on a free port of 127.0.0.1. */
export async function startFileDepot(options: DepotOptions): Promise<FileDepot> {
  const state = { violations: [] as string[], requests: 0, refused: 0, sent: 0 }
  const server = createServer({ keepAliveTimeout: 30_000 }, (request, response) => {
    state.requests++
    const violation = violationIn(request)
    if (violation !== undefined) state.violations.push(`${request.method} ${request.url}: ${violation}`)
    if (violation !== undefined) return response.writeHead(400, { 'content-length': 0 }).end()
    const challenge = options.refuses?.(request.headers)
    if (challenge !== undefined) {
      state.refused++
      return response.writeHead(401, { 'www-authenticate': challenge, 'content-length': 0 }).end()
    }
    const path = (request.url ?? '').replace(/\?.*$/s, '')
    const file = options.files(path)
    if (!file) return response.writeHead(404, { 'content-length': 0 }).end()
    return void answer(request, response, { ...file, name: contentName(path, Number(request.headers[REVISION] ?? 0)) }, state)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    violations: state.violations,
    get requests() {
      return state.requests
    },
    get refused() {
      return state.refused
    },
    get sent() {
      return state.sent
    },
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** The name under which the content of a version is known. */
export function contentName(path: string, revision: number): string {
  return `${path}@${revision}`
}

async function answer(
  { method, headers }: IncomingMessage,
  response: ServerResponse,
  { name, size, type = 'application/octet-stream', validator = 'strong' }: DepotFile & { readonly name: string },
  state: { sent: number },
): Promise<void> {
  const tag = `"${createHash('sha256').update(name).digest('base64url')}"`
  const fields = {
    'accept-ranges': 'bytes',
    'content-type': type,
    ...(validator !== 'none' && { etag: validator === 'weak' ? `W/${tag}` : tag }),
  }
  const isSame = headers['if-range'] === undefined || (validator === 'strong' && headers['if-range'] === tag)
  const [start, end] = (isSame && rangeIn(headers.range, size)) || [0, size]
  if (start >= end && size > 0) {
    response.writeHead(416, { ...fields, 'content-range': `bytes */${size}`, 'content-length': 0 }).end()
    return
  }
  const isPart = isSame && headers.range !== undefined
  const range = isPart ? { 'content-range': `bytes ${start}-${end - 1}/${size}` } : {}
  response.writeHead(isPart ? 206 : 200, { ...fields, ...range, 'content-length': end - start })
  if (method !== 'HEAD') {
    for (const piece of piecesOf(name, start, end)) {
      state.sent += piece.length
      if (response.write(piece)) continue
      await drained(response)
      if (response.destroyed) return
    }
  }
  response.end()
}

function violationIn({ method, url = '', headers, rawHeaders }: IncomingMessage): string | undefined {
  const { range, 'if-range': ifRange } = headers as Readonly<Record<string, string | undefined>>
  if (method !== 'GET' && method !== 'HEAD') return 'a method that changes something'
  if (url.includes('#')) return 'a fragment'
  if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0) return 'a body'
  if (range !== undefined && !isOneRange(range)) return `a range that is none: ${range}`
  if (ifRange !== undefined && range === undefined) return 'If-Range without a range'
  if (ifRange !== undefined && !/^"[^"]*"$/.test(ifRange)) return `If-Range with no strong entity tag: ${ifRange}`
  if (range !== undefined && /\b(?:gzip|br|deflate)\b/.test(String(headers['accept-encoding'] ?? ''))) return 'a part in a content coding'
  const names = rawHeaders.filter((_, at) => at % 2 === 0).map((field) => field.toLowerCase())
  return names.some((field, at) => names.indexOf(field) !== at) ? 'a field twice' : undefined
}

function isOneRange(range: string): boolean {
  const [, from, to = ''] = /^bytes=(\d+)-(\d*)$/.exec(range) ?? []
  return from !== undefined && (to === '' || Number(to) >= Number(from))
}

function rangeIn(range: string | undefined, size: number): readonly [number, number] | undefined {
  const [, from, to = ''] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? []
  if (from === undefined) return undefined
  return [Number(from), to === '' ? size : Math.min(size, Number(to) + 1)]
}
