import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createDateField } from './date-field.ts'
import { distorted, ownReply, replaces } from './distort.ts'
import { type Action, type FaultScript, type Framing, NO_ACTION } from './fault-script.ts'
import { formPairs } from './form-pairs.ts'
import type { ServiceClock } from './manual-clock.ts'
import type { RateLimit, RateLimiter } from './rate-limiter.ts'
import { type ReceivedBody, receiveBody, stopReadingAfter } from './receive-body.ts'
import { Refusal, type Reply } from './reply.ts'
import { resetSocket } from './reset-socket.ts'
import { createRouter, type Found } from './routes.ts'
import type { ServiceDefinition, ServiceOptions } from './service-definition.ts'
import type { ServiceRequest } from './service-request.ts'
import { headViolations } from './strict-head.ts'
import type { OpenRequest, Traffic } from './traffic.ts'
import { writeReply } from './write-reply.ts'

/** What all exchanges of a service have in common. */
export interface ExchangeContext {
  readonly definition: ServiceDefinition
  readonly options: ServiceOptions
  readonly clock: ServiceClock
  readonly traffic: Traffic
  readonly script: FaultScript
  readonly violations: string[]
  readonly state: { readonly framing: Framing }
  readonly limit?: RateLimit & RateLimiter
}

/** One request from its head to the end of its answer. */
interface Exchange {
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
  readonly found: Found
  readonly path: string
  readonly credential: string | undefined
  readonly n: number
  readonly inFlight: number
  readonly action: Action
  readonly entry: OpenRequest | undefined
  readonly date: () => string
}

const NO_BODY = Buffer.alloc(0)

/** Makes the listener of a service's HTTP server. */
export function createExchanges(context: ExchangeContext): RequestListener {
  const find = createRouter(context.definition.routes)
  const forbidden = new Set(context.definition.forbiddenHeaders)
  const date = createDateField(context.clock)
  return (incoming, response) => {
    const exchange = { ...begin(context, find, incoming, response), date }
    const { action } = exchange
    if (action.resetBefore) return resetSocket(incoming.socket)
    if (action.stopReading !== undefined) return stopReadingAfter(incoming, action.stopReading)
    receiveBody(incoming, (body) => {
      if (!body) return
      if (exchange.entry) Object.assign(exchange.entry, { bodyBytes: body.bytes, chunks: body.chunks })
      if (action.delay === undefined) return finish(context, exchange, body, forbidden)
      const wait =
        typeof action.delay === 'number' ? new Promise((resolve) => setTimeout(resolve, Number(action.delay)).unref()) : action.delay
      // A promise that fails ends the wait as well.
      wait.then(
        () => finish(context, exchange, body, forbidden),
        () => finish(context, exchange, body, forbidden),
      )
    })
  }
}

function begin(
  context: ExchangeContext,
  find: ReturnType<typeof createRouter>,
  incoming: IncomingMessage,
  response: ServerResponse,
): Omit<Exchange, 'date'> {
  const { definition, traffic, script, options } = context
  const { method = '', url = '', headers, socket } = incoming
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const found = find(method, path)
  const op = found.kind === 'route' ? found.route.op : undefined
  const credential = definition.credentialOf(headers)
  const { n, inFlight, end } = traffic.begin(op, credential)
  const action = script.take({ op, method, path, credential }) ?? NO_ACTION
  const [socketId, requestOnSocket] = traffic.place(socket)
  const entry = options.log === false ? undefined : logged(context, incoming, { n, op, socketId, requestOnSocket, path, credential })
  const [readBefore, writtenBefore] = requestOnSocket === 1 ? [0, 0] : [socket.bytesRead, socket.bytesWritten]
  response.once('close', () => {
    end()
    if (!entry) return
    entry.status = response.headersSent ? response.statusCode : 0
    entry.aborted = !response.writableFinished
    entry.bytesReceived = socket.bytesRead - readBefore
    entry.bytesSent = socket.bytesWritten - writtenBefore
  })
  return { incoming, response, found, path, credential, n, inFlight, action, entry }
}

type Place = Pick<OpenRequest, 'n' | 'op' | 'socketId' | 'requestOnSocket' | 'path' | 'credential'>

function logged(
  { traffic, clock }: ExchangeContext,
  { method = '', url = '', headers, rawHeaders }: IncomingMessage,
  place: Place,
): OpenRequest {
  const entry: OpenRequest = {
    ...place,
    at: clock.now(),
    method,
    rawUrl: url,
    query: queryOf(url) ?? [],
    rawHeaders,
    headers,
    bodyBytes: NO_BODY,
    get body() {
      return this.bodyBytes.toString()
    },
    chunks: [],
    status: 0,
    aborted: false,
    bytesReceived: 0,
    bytesSent: 0,
  }
  traffic.log.push(entry)
  return entry
}

function finish(context: ExchangeContext, exchange: Exchange, body: ReceivedBody, forbidden: ReadonlySet<string>): void {
  const { definition, limit, clock, state } = context
  const { incoming, response, action, credential = '', inFlight, found } = exchange
  if (response.destroyed) return
  const perform = () => answered(context, exchange, body, forbidden)
  let fault = action
  let reply: Reply
  if (limit?.exceeded(credential, inFlight)) {
    reply = definition.failure(429, 'Too many requests')
    if (limit.retryAfter !== undefined) reply = { ...reply, headers: { ...reply.headers, 'Retry-After': limit.retryAfter } }
  } else {
    if (action.performThen) {
      perform()
      fault = action.performThen
    }
    reply =
      fault === NO_ACTION ? perform() : distorted(replaces(fault) || action.performThen ? ownReply(fault) : perform(), fault, clock.now())
  }
  if (fault.noResponse) return
  if (fault.resetBefore) return void resetSocket(incoming.socket)
  const { sent } = reply
  if (sent) response.once('close', () => sent(response.writableFinished))
  const own = definition.headersOf?.(found.kind === 'route' ? found.route : undefined)
  const headers = { Date: exchange.date(), ...own, ...reply.headers }
  writeReply(incoming, response, { ...reply, headers }, fault, fault.framing ?? state.framing)
}

/** The answer of the service itself: violations first, then the place, then the operation. */
function answered(context: ExchangeContext, exchange: Exchange, body: ReceivedBody, forbidden: ReadonlySet<string>): Reply {
  const { definition, options, clock } = context
  const { incoming, found, path, credential, n } = exchange
  const { method = '', url = '', headers, rawHeaders } = incoming
  const complain = (violation: string) => {
    if (options.strict !== false) context.violations.push(`request ${n}, ${method} ${path}: ${violation}`)
  }
  if (found.kind !== 'route') return misplaced(definition, found, complain)
  if (url.length > (definition.longestUrl ?? Number.POSITIVE_INFINITY)) return definition.failure(414, 'URI too long')
  const query = queryOf(url)
  if (!query) return refused(definition, complain, 'a query that is not encoded correctly')
  const { route, params } = found
  const request = { n, at: clock.now(), route, params, method, rawUrl: url, path, query, headers, rawHeaders, credential, body: body.bytes }
  if (options.strict !== false) {
    const problem = [...headViolations(method, rawHeaders, forbidden), ...(definition.inspect?.(request) ?? [])]
    if (problem.length) return refused(definition, complain, ...problem)
  }
  return performed(definition, request, complain)
}

function misplaced(definition: ServiceDefinition, found: Exclude<Found, { kind: 'route' }>, complain: (text: string) => void): Reply {
  if (found.kind === 'id') return definition.failure(404, 'Not found')
  complain(found.kind === 'path' ? 'an unknown path' : 'a verb that the path does not have')
  if (found.kind === 'path') return definition.failure(404, 'Not found')
  const reply = definition.failure(405, 'Method not allowed')
  return { ...reply, headers: { ...reply.headers, Allow: found.allow.join(', ') } }
}

function refused(definition: ServiceDefinition, complain: (text: string) => void, ...problems: readonly string[]): Reply {
  for (const problem of problems) complain(problem)
  return definition.failure(400, `Bad request: ${problems.join(', ')}`)
}

function performed(definition: ServiceDefinition, request: ServiceRequest, complain: (text: string) => void): Reply {
  try {
    return definition.perform(request)
  } catch (error) {
    if (!(error instanceof Refusal)) {
      complain(`the service itself failed: ${error instanceof Error ? error.stack : error}`)
      return definition.failure(500, 'Internal error')
    }
    if (error.violation) complain(error.violation)
    return error.reply
  }
}

/** Nothing when it cannot be read strictly. */
function queryOf(url: string): ServiceRequest['query'] | undefined {
  const mark = url.indexOf('?')
  if (mark < 0) return []
  try {
    return formPairs(url.slice(mark + 1))
  } catch {
    return undefined
  }
}
