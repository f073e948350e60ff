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
  /** Texts may have placeholders for parts of the URL to be signed. */
  readonly parameters?: ReadonlyMap<string, Secret>
  /** The service on whose URLs bucket and key are told apart, where its host is none that is known. */
  readonly endpoint?: string
  readonly virtualHost?: boolean
  /** In code only. */
  readonly parameter?: ParameterFunction
  readonly responseField?: string
  /** What one signature serves: all that it says it covers (default), or one address. */
  readonly reuse?: 'container' | 'address'
  /** Calls per second that the API is never asked to exceed. */
  readonly signingRate?: number
}
