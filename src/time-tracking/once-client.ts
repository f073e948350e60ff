import { ApiClient } from '../clients/api-client.ts'
import type { ApiResponse } from '../clients/api-response.ts'
import type { CallInput, CallOptions } from '../clients/call-options.ts'
import type { Operation } from '../clients/operation.ts'

/** Logins have limits of their own, so they wait by themselves. */
export const LOGIN_LIMITS = 'auth'

/**
 * Takes whatever is asked for below `auth` for a login or a revocation, by whatever way it is asked for: a `GET` takes a token back there,
 * and a second one would be about a token that is gone.
 */
export class OnceClient extends ApiClient {
  override send<T = unknown>(operation: Operation, input: CallInput = {}, options: CallOptions = {}): Promise<ApiResponse<T>> {
    return super.send(isAuth(operation, input) ? { ...operation, replay: 'unsafe', limits: LOGIN_LIMITS } : operation, input, options)
  }
}

/** One of the segments is `auth`, as servers may read it. */
function isAuth({ path }: Operation, { path: values = {} }: CallInput): boolean {
  const [way = ''] = path.split('?')
  return [...way.split('/'), ...Object.values(values)].some((segment) => /^auth(?:;|$)/i.test(decoded(String(segment))))
}

/** Also what is encoded twice. */
function decoded(segment: string): string {
  return segment.replace(/%(?:25)*([0-7][\da-f])/gi, (_escape, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}
