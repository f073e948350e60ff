/** Answers one request of a program: checks it, sends it to the server, and passes the response on. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Warning } from '../../auth/strategy.ts'
import { AbortedError, type AuthError, ConfigurationError, isAuthError, TrustError } from '../../errors.ts'
import { mediaType } from '../../http/headers.ts'
import type { HttpResponse, ReplayableBody } from '../../http/message.ts'
import { bareAddress } from '../../http/url.ts'
import { retryAfterOf } from '../../net/retry.ts'
import { DOCUMENT_LIMITS } from '../../stac/document.ts'
import { nameInAddress } from '../../text/file-name.ts'
import { errorText } from '../../text/sanitize.ts'
import { answerFailure } from '../base/answer-failure.ts'
import { answerWith } from '../base/local-server.ts'
import { misfitOf, pageByType, promisedFile } from '../base/promised-file.ts'
import { internalError } from '../base/system-error.ts'
import { unknownCoding } from '../transport/decode-body.ts'
import type { GatewayRequest } from './gateway.ts'
import { withoutQuery } from './gateway-url.ts'
import {
  type Accepted,
  check,
  corsFields,
  type GuardOptions,
  OWN_FIELDS,
  preflightFields,
  type ResponseUse,
  requestFields,
  responseFields,
} from './guard.ts'
import { mayBeDocument, type RewriteContext, rewrittenBody } from './rewrite.ts'
import type { Routes } from './routes.ts'
import { BodyWriter, contentRange, relay, selectedRange, type Upstream, type UpstreamRequest, type UpstreamResponse } from './upstream.ts'

/** What the requests of a gateway have in common. */
export interface GatewayContext extends Omit<RewriteContext, 'gatewayUrl'> {
  readonly guard: GuardOptions
  readonly upstream: Upstream
  /** False passes documents through unchanged. */
  readonly rewrite: boolean
  readonly files: FileWatch
  readonly onRequest: ((event: GatewayRequest) => void) | undefined
}

type AnswerContext = GatewayContext & RewriteContext

/** What is reported of a request. */
type RequestResult = Pick<GatewayRequest, 'bytes' | 'credential' | 'code' | 'message' | 'hint'>

/** Answers a request, and reports it. */
export async function respond(incoming: IncomingMessage, outgoing: ServerResponse, context: GatewayContext): Promise<void> {
  const start = performance.now()
  const checked = check(incoming, context.guard)
  const report = (url: string, outcome: RequestResult) =>
    context.onRequest?.({
      method: incoming.method ?? '',
      url: withoutQuery(url),
      status: outgoing.statusCode,
      ...outcome,
      ...(isReadWhole(incoming, outcome.bytes) && { isWhole: true }),
      milliseconds: performance.now() - start,
    })
  if ('status' in checked) {
    const { status, error } = checked
    // The body of the request may be unread.
    outgoing.shouldKeepAlive = false
    if (error) refuse(outgoing, error, undefined, status)
    else outgoing.writeHead(status, { 'Content-Length': '0' }).end()
    report('', { bytes: 0, ...(error && failureOf(error)) })
  } else if (checked.isPreflight) {
    outgoing.writeHead(204, preflightFields(checked.origin ?? '', incoming.headers)).end()
  } else report(checked.url, await answer(incoming, outgoing, checked, context))
}

/** Bytes of a file that is read whole in a moment. */
const LARGE_FILE = 2 ** 20

function isReadWhole({ method, headers }: IncomingMessage, bytes: number): boolean {
  return method === 'GET' && headers.range === undefined && bytes >= LARGE_FILE && /^GDAL\//.test(headers['user-agent'] ?? '')
}

/** Maximum bytes of the body of a search. */
const LONGEST_SEARCH = 2 ** 20

/** Answers a request. A failure becomes an error response, or ends the connection if the response had begun. */
async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { url, origin }: Accepted,
  gateway: GatewayContext,
): Promise<RequestResult> {
  const context: AnswerContext = { ...gateway, gatewayUrl: new URL(incoming.url ?? '', gateway.base).href }
  const writer = new BodyWriter(outgoing)
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
    const received = method === 'HEAD' ? await responseToHead(request, context) : await context.upstream.send(request)
    credential = received.credential
    await pass(received, request, { outgoing, writer, origin }, context)
    return { bytes: writer.bytes, ...(credential !== undefined && { credential }) }
  } catch (error) {
    const known = leaving.signal.aborted ? new AbortedError(leaving.signal.reason) : isAuthError(error) ? error : internalError(error)
    if (outgoing.headersSent) cut(outgoing, incoming)
    else if (!outgoing.destroyed) refuse(outgoing, known, origin)
    leaving.abort()
    const used = credential ?? known.credential
    return { ...failureOf(known), bytes: writer.bytes, ...(used !== undefined && { credential: used }) }
  }
}

/** Closes the connection so that the response is recognized as incomplete: in HTTP/1.0 one without length ends with its connection. */
function cut(outgoing: ServerResponse, { httpVersionMinor, socket }: IncomingMessage): void {
  if (httpVersionMinor === 0) socket.resetAndDestroy()
  else outgoing.destroy()
}

/** Returns the fields of an error for the program. */
function failureOf({ code, message, hint }: AuthError): Pick<RequestResult, 'code' | 'message' | 'hint'> {
  return { code, message, ...(hint !== undefined && { hint }) }
}

/** Statuses with which servers refuse the method HEAD, or a signature that was made for GET. */
const HEAD_REFUSED = new Set([400, 401, 403, 405, 501])

/** Returns the response to HEAD; if the server refuses that method, that to a GET of the first byte, with the complete length. */
async function responseToHead(request: UpstreamRequest, { upstream }: AnswerContext): Promise<UpstreamResponse> {
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
  readonly writer: BodyWriter
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
  const { outgoing, writer, origin } = client
  const fields = responseFields(response, { credential, origin })
  // A 204 response must not have this field (RFC 9110 §8.6).
  if (status === 204) delete fields['Content-Length']
  outgoing.writeHead(status, fields)
  if (request.method === 'HEAD' || status === 204 || status === 304) await response.discard()
  else {
    writer.onBegin = context.files.watch(request.url, response)
    await relay(response, request, context.upstream, writer)
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
  { outgoing, writer, origin }: Client,
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
  context.files.watch(request.url, received.response)?.(body)
  const fields = responseFields(response, { credential, origin })
  for (const name of ['Content-Encoding', 'Content-Length', 'Content-Range']) delete fields[name]
  if (rest) {
    outgoing.writeHead(200, fields)
    if (request.method === 'HEAD') await rest.return?.()
    else await writer.write(joined(body, rest))
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
  if (request.method !== 'HEAD') await writer.write(one(part))
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
async function searchBody(incoming: IncomingMessage, outgoing: ServerResponse, url: string): Promise<ReplayableBody> {
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
function refuse(outgoing: ServerResponse, error: AuthError, origin?: string, status = statusOf(error)): void {
  const wait = retryAfterOf(error)
  answerWith(outgoing, status, `${errorText(error)}\n`, {
    'Content-Type': 'text/plain; charset=utf-8',
    ...(wait !== undefined && { 'Retry-After': String(Math.ceil(wait / 1000)) }),
    'x-stac-auth-code': error.code,
    ...OWN_FIELDS,
    ...corsFields(origin),
  })
}

/** Returns 500 for internal errors, 504 for timeouts, 502 for other failures of network or server, 403 for refused requests. */
function statusOf({ name, code }: AuthError): number {
  if (code === 'INTERNAL') return 500
  if (name === 'TimeoutError') return 504
  return name === 'NetworkError' || name === 'ProtocolError' ? 502 : 403
}

/** Bytes of a first chunk that decide, although more follow. */
const ENOUGH = 64

/** Warns of responses that are not the promised files: programs report them as broken files, or not at all. */
export class FileWatch {
  readonly #routes: Pick<Routes, 'targetAt'>
  readonly #warn: (warning: Warning) => void
  /** URLs without query that were warned of. */
  readonly #told = new Set<string>()

  constructor(routes: Pick<Routes, 'targetAt'>, warn: (warning: Warning) => void = () => {}) {
    this.#routes = routes
    this.#warn = warn
  }

  /** Returns what is called with the first bytes of a response; undefined for one that does not begin a file. */
  watch(url: string, response: HttpResponse): ((begin: Uint8Array) => void) | undefined {
    const { status, headers } = response
    const isBeginning = status === 200 || (status === 206 && contentRange(headers.get('content-range'))?.first === 0)
    if (!isBeginning || headers.get('content-encoding') !== null || this.#told.has(bareAddress(url))) return undefined
    const target = this.#routes.targetAt(url)
    const promise = promisedFile(target, target ? [] : [nameInAddress(url)])
    const contentType = headers.get('content-type')
    return (begin) => {
      const isAll = begin.length >= Number(headers.get('content-length') ?? Number.POSITIVE_INFINITY)
      const first = misfitOf(promise, begin, isAll, contentType, response.sent?.())
      const misfit =
        pageByType(promise, contentType) ??
        (first === 'more' && begin.length >= ENOUGH ? misfitOf(promise, begin, true, contentType, response.sent?.()) : first)
      if (!misfit || misfit === 'more') return
      this.#told.add(bareAddress(url))
      const says = misfit.says === undefined ? '' : `. The server says: ${misfit.says}`
      const message = `${bareAddress(url)} is ${misfit.words}: the program gets it as it is${says}`
      this.#warn({ code: 'CONTENT_TYPE_UNEXPECTED', message, ...(target && { pointer: target.pointer }) })
    }
  }
}
