import type { ApiResponse } from '../clients/api-response.ts'
import type { CallInput, CallOptions } from '../clients/call-options.ts'
import { described } from '../clients/described.ts'
import type { Operation } from '../clients/operation.ts'
import { CredentialError } from '../errors.ts'
import { OnceClient } from './once-client.ts'

/** Sends nothing but what brings its own credential. Errors: `NO_CREDENTIAL`. */
export class ClientWithoutToken extends OnceClient {
  override async send<T = unknown>(operation: Operation, input?: CallInput, options: CallOptions = {}): Promise<ApiResponse<T>> {
    if (options.credential) return super.send(operation, input, options)
    const hint = 'give the client token or auth; auth.login() makes a token'
    throw described(new CredentialError('NO_CREDENTIAL', 'the client has no token; nothing was sent', { hint }), 0, operation.name)
  }
}
