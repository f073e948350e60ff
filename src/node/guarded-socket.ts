import { Agent, WebSocket } from 'undici'
import type { MessageSocket } from '../http/message-socket.ts'
import { guardedConnect } from './guarded-connect.ts'
import { environmentProxies } from './proxy-tunnel.ts'

const CONNECT_TIMEOUT = 10_000
const agents = new Map<boolean, Agent>()

/**
 * Opens connections for messages to public addresses, checked as those of requests are, through the proxies of the environment. Carries no
 * credential and no cookie.
 *
 * @param granted whether a loopback or private address is allowed too
 */
export function guardedSocket(granted: boolean): (url: string) => MessageSocket {
  return (url) => new WebSocket(url, { dispatcher: agentFor(granted) })
}

function agentFor(granted: boolean): Agent {
  const known = agents.get(granted)
  if (known) return known
  const proxies = environmentProxies(process.env)
  const agent = new Agent({ connect: guardedConnect({ granted, timeout: CONNECT_TIMEOUT, ...(proxies && { proxies }) }) })
  agents.set(granted, agent)
  return agent
}
