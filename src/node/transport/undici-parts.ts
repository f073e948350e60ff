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
 * Lets requests over that connection skip `100 Continue`, which servers may send unasked (RFC 9110 §15.2). undici skips every other
 * informational response, but closes the connection at 100, so its parser is told 102 instead.
 */
export function skipContinue<To extends Socket>(socket: To): To {
  let parser: Parser | null = null
  return Object.defineProperty(socket, symbols.kParser, {
    get: () => parser,
    set: (created: Parser | null) => {
      parser = created
      if (!created) return
      const complete = created.onHeadersComplete
      created.onHeadersComplete = (status, ...rest) => complete.call(created, status === 100 ? 102 : status, ...rest)
    },
  })
}

/** The parser that undici attaches to a connection with HTTP/1.1. */
interface Parser {
  onHeadersComplete(status: number, upgrade: boolean, shouldKeepAlive: boolean): number
}
