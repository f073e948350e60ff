import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Framing } from './fault-script.ts'
import type { ServiceClock } from './manual-clock.ts'
import type { RateLimit } from './rate-limiter.ts'
import type { Reply } from './reply.ts'
import type { Route } from './routes.ts'
import type { ServiceRequest } from './service-request.ts'

/** What makes one service different from another. */
export interface ServiceDefinition {
  readonly routes: readonly Route[]
  /** The credential of a request, only from where it belongs. */
  readonly credentialOf: (headers: IncomingHttpHeaders) => string | undefined
  /** Answers a request that has a place and no violation; throws `Refusal` for another answer. */
  readonly perform: (request: ServiceRequest) => Reply
  /** Violations that only this service knows. */
  readonly inspect?: (request: ServiceRequest) => readonly string[]
  /** The answer for what fails before any operation. */
  readonly failure: (status: number, message: string) => Reply
  /** Fields that go on every answer. */
  readonly headersOf?: (route: Route | undefined) => Readonly<Record<string, string>> | undefined
  /** Names of fields, in lower case, that no client of this service sends. */
  readonly forbiddenHeaders: readonly string[]
  readonly longestUrl?: number
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
}

/** What every service lets its tests choose. */
export interface ServiceOptions {
  readonly clock?: ServiceClock
  /** Of the identifiers. */
  readonly seed?: number
  /** `false` lets violations pass unseen. */
  readonly strict?: boolean
  /** `false` keeps no log, for benchmarks. */
  readonly log?: boolean
  readonly limiter?: RateLimit
  readonly framing?: Framing
  /** Milliseconds an idle connection is kept. */
  readonly keepAlive?: number
  /** Where violations are written: one list for services that belong together. */
  readonly violations?: string[]
  /** Key and certificate, PEM, for https. */
  readonly certified?: { readonly key: string; readonly cert: string }
}
