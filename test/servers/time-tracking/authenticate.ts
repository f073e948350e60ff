import type { ServiceRequest } from '../service/service-request.ts'
import { refuse } from './answers.ts'
import type { TimeTrackingState } from './state.ts'

const IDLE = 30 * 24 * 3600 * 1000

/**
 * Passes a token that lives. It lives as long as it is used by the User-Agent that made it, at least every 30 days; any other User-Agent
 * destroys it.
 */
export function authenticate({ tokens, clock, switches }: TimeTrackingState, { credential, headers }: ServiceRequest): string {
  if (credential === undefined) return refuse(switches, 401, 'No token', { violation: 'no credential where one is needed' })
  const token = tokens.get(credential)
  if (!token) return refuse(switches, 401, 'Invalid token')
  const isIdle = clock.now() - token.lastUsed > IDLE
  if (isIdle || headers['user-agent'] !== token.userAgent) {
    tokens.delete(credential)
    return refuse(switches, 401, 'Token no longer valid')
  }
  token.lastUsed = clock.now()
  return credential
}
