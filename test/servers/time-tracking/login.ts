import { jsonReply, type Reply } from '../service/reply.ts'
import type { ServiceRequest } from '../service/service-request.ts'
import { refuse } from './answers.ts'
import { readForm } from './read-form.ts'
import type { TimeTrackingState } from './state.ts'

const MINUTE = 60_000

/** `POST /auth`: a new token, bound to the User-Agent of this request. Logins have a limit of their own. */
export function login(state: TimeTrackingState, request: ServiceRequest): Reply {
  const { switches, clock, logins, loginsPerMinute, accounts } = state
  if (request.credential !== undefined) refuse(switches, 400, 'Already logged in', { violation: 'a token at the login' })
  const form = readForm(switches, request)
  const now = clock.now()
  if (logins.filter((at) => now - at < MINUTE).length >= loginsPerMinute) {
    refuse(switches, 429, 'Too many logins', { headers: { 'Retry-After': '60' } })
  }
  logins.push(now)
  const unknown = Object.keys(form).find((name) => !['email', 'password', 'account_id'].includes(name))
  if (unknown !== undefined && !switches.allowExtra) refuse(switches, 400, 'Unknown field', { violation: `the unknown field ${unknown}` })
  const account = accounts.find(
    ({ email, password, accountId }) => form.email === email && form.password === password && form.account_id === String(accountId),
  )
  if (!account) return refuse(switches, 401, 'Wrong email, password or account')
  const token = state.ids.hex(40)
  state.tokens.set(token, { userAgent: request.headers['user-agent'] ?? '', lastUsed: now })
  return jsonReply(200, { token, account_id: account.accountId })
}
