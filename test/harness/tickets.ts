/** Tickets in place of those of Kerberos: the client's side of `negotiate-server.ts`. */
import { randomBytes } from 'node:crypto'
import { CredentialError, ProtocolError } from '../../src/errors.ts'
import type { SecurityContext, SecurityRequest } from '../../src/platform/platform.ts'
import { opened, sealed } from '../servers/negotiate-server.ts'

export interface Tickets {
  /** In place of `platform.securityContext`. */
  readonly securityContext: (wanted: SecurityRequest) => Promise<SecurityContext>
  /** What was asked for. */
  readonly wanted: readonly SecurityRequest[]
}

/** Tickets for these services, each by the key of its service; for no other. */
export function ticketsFor(
  keys: Readonly<Record<string, Uint8Array>>,
  nonce: () => string = () => randomBytes(9).toString('base64url'),
): Tickets {
  const wanted: SecurityRequest[] = []
  const securityContext = async (request: SecurityRequest): Promise<SecurityContext> => {
    wanted.push(request)
    const { id, service } = request
    const key = keys[service]
    let said = ''
    let isComplete = false
    return {
      get isComplete() {
        return isComplete
      },
      step: async (token) => {
        if (!key) throw new CredentialError('LOGIN_REQUIRED', `no ticket for ${service}`, { credential: id, hint: 'kinit' })
        const heard = token === undefined ? undefined : opened(token, key, said)
        if (token !== undefined && heard?.from !== 'server') throw new ProtocolError('AUTH_SERVER_UNPROVEN', 'foreign token')
        isComplete = heard?.isLast === true
        if (isComplete) return undefined
        const ours = sealed({ from: 'client', service, nonce: nonce(), isLast: false }, key, said + (token ?? ''))
        said += (token ?? '') + ours
        return ours
      },
    }
  }
  return { securityContext, wanted }
}
