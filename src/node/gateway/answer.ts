/** Answers one request of a program with the response of the server. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { AbortedError, type AuthError, ConfigurationError, type ErrorCode, isAuthError, TrustError } from '../../errors.ts'
import { mediaType } from '../../http/headers.ts'
import type { HttpResponse } from '../../http/message.ts'
import { retryAfterOf } from '../../net/retry.ts'
import { DOCUMENT_LIMITS } from '../../stac/document.ts'
import { errorText } from '../../text/sanitize.ts'
import { answerFailure } from '../base/answer-failure.ts'
import { internalError } from '../base/system-error.ts'
import { unknownCoding } from '../transport/decode-body.ts'
import { type RewriteContext, rewrittenBody } from './documents.ts'
import { contentRange, corsFields, OWN_FIELDS, type ResponseUse, requestFields, responseFields, selectedRange } from './fields.ts'
import type { Accepted } from './guard.ts'
import { Reader, relay } from './relay.ts'
import { mayBeDocument } from './rewrite.ts'
import type { Upstream, UpstreamRequest, UpstreamResponse } from './upstream.ts'

/** What requests have in common. */
type GatewayContext = Omit<AnswerContext, 'gatewayUrl'>

interface AnswerContext extends RewriteContext {
  readonly upstream: Upstream
  /** False passes documents through unchanged. */
  readonly rewrite: boolean
  /** Compares the beginning of a file with what was promised for its URL, and warns of a difference. */
  readonly watch: (url: string, response: HttpResponse) => Reader['onBegin']
}

/** The outcome of a request. */
export interface Answered {
  readonly bytes: number
  readonly credential?: string
  /** Code of the error that the gateway responded with, or that interrupted the body. */
  readonly code?: ErrorCode
  /** The error in words. */
  readonly message?: string
  readonly hint?: string
}

/** Maximum bytes of the body of a search. */
const LONGEST_SEARCH = 2 ** 20

/** Answers a request. A failure becomes an error response, or ends the connection if the response had begun. */
export async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { url, origin }: Accepted,
  given: GatewayContext,
): Promise<Answered> {
  const context: AnswerContext = { ...given, gatewayUrl: new URL(incoming.url ?? '', given.base).href }
  const reader = new Reader(outgoing)
  const leaving = new AbortController()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) leaving.abort()
  })
  let credential: string | undefined
  try {
    const method = incoming.method as UpstreamRequest['method']
    const headers = requestFields(incoming.headers)
    const body = method === 'POST' ? await searchBody(incoming, outgoing, url) : undefined
    if (body) Object.assign(headers, { 'content-type': incoming.headers['content-type'] ?? 'application/json' })
    const request: UpstreamRequest = { method, url, headers, signal: leaving.signal, ...(body && { body }) }
    const received = method === 'HEAD' ? await head(request, context) : await context.upstream.send(request)
    credential = received.credential
    await pass(received, request, { outgoing, reader, origin }, context)
    return { bytes: reader.bytes, ...(credential !== undefined && { credential }) }
  } catch (error) {
    const known = leaving.signal.aborted ? new AbortedError(leaving.signal.reason) : isAuthError(error) ? error : internalError(error)
    if (outgoing.headersSent) cut(outgoing, incoming)
    else if (!outgoing.destroyed) refuse(outgoing, known, origin)
    leaving.abort()
    const used = credential ?? known.credential
    return { ...failureOf(known), bytes: reader.bytes, ...(used !== undefined && { credential: used }) }
  }
}

/** Closes the connection so that the response is recognized as incomplete: in HTTP/1.0 one without length ends with its connection. */
function cut(outgoing: ServerResponse, { httpVersionMinor, socket }: IncomingMessage): void {
  if (httpVersionMinor === 0) socket.resetAndDestroy()
  else outgoing.destroy()
}

/** Returns the fields of an error for the program. */
export function failureOf({ code, message, hint }: AuthError): Pick<Answered, 'code' | 'message' | 'hint'> {
  return { code, message, ...(hint !== undefined && { hint }) }
}

/** Statuses with which servers refuse the method HEAD, or a signature that was made for GET. */
const HEAD_REFUSED = new Set([400, 401, 403, 405, 501])

/** Returns the response to HEAD; if the server refuses that method, that to a GET of the first byte, with the complete length. */
async function head(request: UpstreamRequest, { upstream }: AnswerContext): Promise<UpstreamResponse> {
  const first = await upstream.send(request).catch((error: unknown) => {
    if (isAuthError(error) && error.code === 'AUTH_REJECTED' && HEAD_REFUSED.has(error.status ?? 0)) return error
    throw error
  })
  if (!isAuthError(first) && !HEAD_REFUSED.has(first.response.status)) return first
  if (!isAuthError(first)) await first.response.discard()
  const { range: _range, 'if-range': _ifRange, ...headers } = request.headers
  const received = await upstream.send({ ...request, method: 'GET', headers: { ...headers, range: 'bytes=0-0' } })
  // This closes the connection if the server sends more than that byte.
  await received.response.discard()
  return { ...received, response: asWhole(received.response) }
}

/** Converts the response to a request for the first byte into one for the complete representation. */
function asWhole(response: UpstreamResponse['response']): UpstreamResponse['response'] {
  const { status, headers } = response
  const field = headers.get('content-range')
  const total = status === 206 ? contentRange(field)?.total : status === 416 && field === 'bytes */0' ? 0 : undefined
  if (status !== 206 && total === undefined) return response
  const changed = new Map<string, string | null>([
    ['content-range', null],
    ['content-length', total === undefined ? null : String(total)],
  ])
  return {
    ...response,
    url: response.url,
    status: 200,
    headers: {
      get: (name) => {
        const value = changed.get(name.toLowerCase())
        return value === undefined ? headers.get(name) : value
      },
    },
    bytes: async () => new Uint8Array(),
    text: async () => '',
    discard: async () => {},
    toResponse: () => response.toResponse(),
  }
}

interface Client {
  readonly outgoing: ServerResponse
  readonly reader: Reader
  readonly origin: string | undefined
}

/** Passes a response on. Errors: `AUTH_REJECTED` for a refused request without a credential, and those of the body. */
async function pass(received: UpstreamResponse, request: UpstreamRequest, client: Client, context: AnswerContext): Promise<void> {
  const { response, credential } = received
  const { status, headers } = response
  if (!response.chunks && request.method !== 'HEAD')
    throw new ConfigurationError('CONFIG_INVALID', 'the transport of this engine cannot stream responses', { hint: 'use undiciTransport' })
  if (status === 401 || status === 403 || status === 407 || status < 200 || status > 599) {
    const serverMessage = () => response.serverMessage?.() ?? Promise.resolve({})
    const failure = await answerFailure({ status, headers, url: request.url, serverMessage })
    await response.discard()
    throw failure
  }
  const type = headers.get('content-type') ?? undefined
  const isReadable = unknownCoding(headers.get('content-encoding')) === undefined
  if (context.rewrite && (status === 200 || status === 206) && isReadable && mayBeDocument(type, request.url)) {
    if (await passDocument(received, request, client, context)) return
  }
  const { outgoing, reader, origin } = client
  const fields = responseFields(response, { credential, origin })
  // A 204 response must not have this field (RFC 9110 §8.6).
  if (status === 204) delete fields['Content-Length']
  outgoing.writeHead(status, fields)
  if (request.method === 'HEAD' || status === 204 || status === 304) await response.discard()
  else {
    reader.onBegin = context.watch(request.url, response)
    await relay(response, request, context.upstream, reader)
  }
  outgoing.end()
}

/**
 * Responds with a rewritten document or a range of it: length and ranges refer to the rewritten bytes. Returns false, with the response
 * unread, for a body that is longer than any document or of unknown length.
 */
async function passDocument(
  received: UpstreamResponse,
  request: UpstreamRequest,
  { outgoing, reader, origin }: Client,
  context: AnswerContext,
): Promise<boolean> {
  const range = contentRange(received.response.headers.get('content-range'))
  const isPart = received.response.status === 206
  if (isPart && request.method === 'POST') return false
  const size = isPart ? range?.total : Number(received.response.headers.get('content-length') ?? 0)
  if (size === undefined || size > DOCUMENT_LIMITS.other) return false
  const { response, credential } = isPart || request.method === 'HEAD' ? await whole(received, request, context) : received
  if (response.status !== 200) return passDifferent(response, outgoing, { credential, origin })
  const { bytes: body, isRewritten, rest } = await rewrittenBody(response, request, context)
  context.watch(request.url, received.response)?.(body)
  const fields = responseFields(response, { credential, origin })
  for (const name of ['Content-Encoding', 'Content-Length', 'Content-Range']) delete fields[name]
  if (rest) {
    outgoing.writeHead(200, fields)
    if (request.method === 'HEAD') await rest.return?.()
    else await reader.write(joined(body, rest))
    outgoing.end()
    return true
  }
  // The URLs in it are only valid for this program.
  if (isRewritten) fields['Cache-Control'] = 'private, no-store'
  const isAsked = isPart && (request.headers['if-range'] === undefined || isSameVersion(received.response, response))
  const selected = isAsked ? selectedRange(request.headers.range, body.length) : undefined
  if (selected === 'none') {
    outgoing.writeHead(416, { ...fields, 'Content-Range': `bytes */${body.length}`, 'Content-Length': '0' }).end()
    return true
  }
  const part = selected ? body.subarray(selected.first, selected.last + 1) : body
  if (selected) fields['Content-Range'] = `bytes ${selected.first}-${selected.last}/${body.length}`
  fields['Content-Length'] = String(part.length)
  outgoing.writeHead(selected ? 206 : 200, fields)
  if (request.method !== 'HEAD') await reader.write(one(part))
  outgoing.end()
  return true
}

/** True for responses with the same version of a representation, by their `ETag` and `Last-Modified`. */
function isSameVersion(first: UpstreamResponse['response'], other: UpstreamResponse['response']): boolean {
  return ['etag', 'last-modified'].every((name) => first.headers.get(name) === other.headers.get(name))
}

/** Requests the complete document, which is needed to rewrite a part of it. */
async function whole({ response }: UpstreamResponse, request: UpstreamRequest, { upstream }: AnswerContext): Promise<UpstreamResponse> {
  await response.discard()
  const { range: _range, 'if-range': _ifRange, ...headers } = request.headers
  return upstream.send({ ...request, method: 'GET', headers })
}

/** Responds with the status of the server, without body, if it answers the request for the complete document with an error. */
async function passDifferent(response: UpstreamResponse['response'], outgoing: ServerResponse, use: ResponseUse): Promise<boolean> {
  await response.discard()
  const fields = responseFields(response, use)
  for (const name of ['Content-Encoding', 'Content-Length', 'Content-Range']) delete fields[name]
  outgoing.writeHead(response.status === 206 ? 502 : response.status, { ...fields, 'Content-Length': '0' }).end()
  return true
}

async function* one(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk
}

async function* joined(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first
  yield* { [Symbol.asyncIterator]: () => rest }
}

/** Reads the body of a search. Errors: `REQUEST_REFUSED` for any other POST, and for a longer body. */
async function searchBody(incoming: IncomingMessage, outgoing: ServerResponse, url: string): Promise<Uint8Array> {
  const type = mediaType(incoming.headers['content-type'])
  if (!/^[^?]*\/search\/?(?:\?|$)/.test(url) || type !== 'application/json' || incoming.headers['content-encoding'] !== undefined) {
    outgoing.shouldKeepAlive = false
    throw new TrustError('REQUEST_REFUSED', 'request refused: POST is for /search of a STAC API, with a JSON body', { url })
  }
  if (incoming.headers.expect !== undefined) outgoing.writeContinue()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of incoming as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > LONGEST_SEARCH) {
      outgoing.shouldKeepAlive = false
      throw new TrustError('REQUEST_REFUSED', `request refused: the body of a search exceeds ${LONGEST_SEARCH} bytes`, { url })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Responds with an error as the command line prints it. */
export function refuse(outgoing: ServerResponse, error: AuthError, origin?: string, status = statusOf(error)): void {
  const text = `${errorText(error)}\n`
  const wait = retryAfterOf(error)
  outgoing.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(text)),
    'Cache-Control': 'no-store',
    ...(wait !== undefined && { 'Retry-After': String(Math.ceil(wait / 1000)) }),
    'x-stac-auth-code': error.code,
    ...OWN_FIELDS,
    ...corsFields(origin),
  })
  outgoing.end(outgoing.req.method === 'HEAD' ? undefined : text)
}

/** Returns 500 for internal errors, 504 for timeouts, 502 for other failures of network or server, 403 for refused requests. */
function statusOf({ name, code }: AuthError): number {
  if (code === 'INTERNAL') return 500
  if (name === 'TimeoutError') return 504
  return name === 'NetworkError' || name === 'ProtocolError' ? 502 : 403
}
