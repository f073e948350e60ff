import { jsonReply, Refusal } from '../service/reply.ts'
import type { ServiceRequest } from '../service/service-request.ts'
import type { KeyRecord } from './account.ts'
import type { Operation } from './operations.ts'
import { refuse } from './refuse.ts'
import type { TranslationState } from './state.ts'

/** The key of a request that may do what it asks for; 401 or 403 for all others. */
export function authenticate(state: TranslationState, operation: Operation, { credential, headers }: ServiceRequest): KeyRecord {
  const key = credential === undefined ? undefined : state.keys.get(credential)
  const { settings } = state
  if (!key || key.deactivatedAt !== undefined) return refuseKey(operation, headers.authorization === undefined)
  if (key.plan !== settings.plan) return refuse(403, 'Wrong endpoint. Use the host of your plan.')
  const { right } = operation
  // Voice and administration are on the paid host only.
  if (settings.plan === 'free' && (right === 'admin' || right === 'unscoped')) return refuse(403, 'Forbidden')
  if (right === 'admin' && key.role !== 'admin') return refuse(403, 'Forbidden')
  if (right === 'unscoped' && key.scopes) return refuse(403, 'Forbidden')
  if (right !== 'any' && right !== 'admin' && right !== 'unscoped' && key.scopes && !key.scopes.includes(right)) {
    return refuse(403, 'Forbidden', { detail: `Missing required scope(s): ${right}` })
  }
  return key
}

/** The older operations know 403 only, the newer ones and all about glossaries 401. */
function refuseKey({ op }: Operation, missing: boolean): never {
  const unauthorized = op >= 12 && op <= 46 && ![26, 27, 28, 29].includes(op)
  const reply = unauthorized ? jsonReply(401, { message: 'Unauthorized' }) : jsonReply(403, { message: 'Forbidden' })
  throw new Refusal(reply, missing ? 'no authorization field' : undefined)
}
