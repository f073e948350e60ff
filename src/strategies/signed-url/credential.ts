import type { Credential } from '../../auth/credential.ts'
import type { Grant } from '../../auth/grant.ts'
import type { Secret } from '../../auth/secret.ts'
import type { ParameterFunction } from './parameters.ts'

/** An entry of type `signedUrl` after reading. */
export type SignedUrlCredential = Credential & {
  readonly authorizationApi: string
  readonly method: 'GET' | 'POST'
  readonly signedUrlHosts: readonly Grant[]
  readonly with?: string
  readonly parameters?: ReadonlyMap<string, Secret>
  /** In code only. */
  readonly parameter?: ParameterFunction
  readonly responseField?: string
  /** What one signature serves: all that it says it covers (default), or one address. */
  readonly reuse?: 'container' | 'address'
  /** Calls per second that the API is never asked to exceed. */
  readonly signingRate?: number
}
