/**
 * The parts of undici that send requests. Its index loads `fetch`, caches, mocks and more with them, which takes four times as long. These
 * paths are no promise of undici: package.json names its version exactly.
 */

import type { Socket } from 'node:net'
import type * as undici from 'undici'
import connect from 'undici/lib/core/connect.js'
import symbols from 'undici/lib/core/symbols.js'
import agent from 'undici/lib/dispatcher/agent.js'
import client from 'undici/lib/dispatcher/client.js'

/** Keeps connections, to each origin its own. */
export const Agent: typeof undici.Agent = agent

/** Sends over one connection at a time, to one origin. */
export const Client: typeof undici.Client = client

/** Returns what opens connections, over TCP or TLS. */
export const buildConnector: typeof undici.buildConnector = connect

/**
 * Corrects how undici reads HTTP/1.1 from that connection:
 *
 * - `100 Continue` is skipped, which servers may send unasked (RFC 9110 §15.2). undici skips every other informational response, but
 *   closes the connection at 100, so its parser is told 102 instead.
 * - A connection that ends while a slow reader pauses the parser ends the response. undici 7 throws an assertion that nobody can catch
 *   (nodejs/undici#5360); undici 8, which does not, needs Node 22.
 * - A reset is an error also for a body that ends with its connection (RFC 9112 §8), which undici takes for complete.
 */
export function withParserFixes<To extends Socket>(socket: To): To {
  let parser: Parser | null = null
  return Object.defineProperty(socket, symbols.kParser, {
    get: () => parser,
    set: (created: Parser | null) => {
      parser = created
      if (!created) return
      const { onHeadersComplete, finish } = created
      created.onHeadersComplete = (status, ...rest) => onHeadersComplete.call(created, status === 100 ? 102 : status, ...rest)
      created.finish = () => {
        readPaused(created, socket)
        return (created.statusCode !== 0 && socket.errored) || finish.call(created)
      }
    },
  })
}

/** Parses what had arrived before the end of the connection; what the parser passes on is kept, also while its reader pauses. */
function readPaused(parser: Parser, socket: Socket): void {
  while (parser.paused) {
    parser.llhttp.llhttp_resume(parser.ptr)
    parser.paused = false
    const chunk: Uint8Array | null = socket.read()
    parser.execute(chunk ?? new Uint8Array())
    if (chunk === null) break
  }
  if (!parser.paused) return
  parser.llhttp.llhttp_resume(parser.ptr)
  parser.paused = false
}

/** The parser that undici attaches to a connection with HTTP/1.1. */
interface Parser {
  readonly llhttp: { llhttp_resume(parser: unknown): void }
  readonly ptr: unknown
  /** True while the reader of the body pauses. */
  paused: boolean
  /** Status code of the response that has begun; 0 after its end. */
  readonly statusCode: number
  onHeadersComplete(status: number, upgrade: boolean, shouldKeepAlive: boolean): number
  execute(chunk: Uint8Array): void
  /** Called at the end of the connection; returns the error if the response is incomplete. */
  finish(): Error | null
}
