/**
 * The parts of undici that send requests. Its index loads `fetch`, caches, mocks and more with them, which takes four times as long. These
 * paths are no promise of undici: package.json names its version exactly.
 */

import type * as undici from 'undici'
import connect from 'undici/lib/core/connect.js'
import agent from 'undici/lib/dispatcher/agent.js'
import client from 'undici/lib/dispatcher/client.js'

/** Keeps connections, to each origin its own. */
export const Agent: typeof undici.Agent = agent

/** Sends over one connection at a time, to one origin. */
export const Client: typeof undici.Client = client

/** Returns what opens connections, over TCP or TLS. */
export const buildConnector: typeof undici.buildConnector = connect
