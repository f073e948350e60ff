import type { IncomingHttpHeaders } from 'node:http'
import type { Route } from './routes.ts'

/** A request that was received whole. */
export interface ServiceRequest {
  /** From 1, in the order of arrival. */
  readonly n: number
  /** By the clock of the service. */
  readonly at: number
  readonly route: Route
  /** Decoded once. */
  readonly params: Readonly<Record<string, string>>
  readonly method: string
  readonly rawUrl: string
  readonly path: string
  /** Decoded, with duplicates, in order. */
  readonly query: readonly (readonly [name: string, value: string])[]
  readonly headers: IncomingHttpHeaders
  /** Names and values by turns, as sent. */
  readonly rawHeaders: readonly string[]
  readonly credential: string | undefined
  readonly body: Buffer
}
