/** What the tests use of `oidc-provider`, which comes without types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export interface ClientMetadata {
    readonly client_id: string
    readonly client_secret: string
    readonly token_endpoint_auth_method: 'client_secret_basic' | 'client_secret_post'
    readonly grant_types: readonly string[]
    readonly redirect_uris: readonly string[]
    readonly response_types: readonly string[]
    readonly scope: string
  }

  export interface IssuedToken {
    readonly clientId?: string
    readonly scope?: string
    /** Seconds. */
    readonly remainingTTL: number
  }

  export class Provider {
    constructor(issuer: string, configuration: { readonly clients: readonly ClientMetadata[]; readonly [setting: string]: unknown })
    readonly Grant: new (holder: {
      readonly accountId: string
      readonly clientId: string
    }) => {
      addOIDCScope(scope: string): void
      save(): Promise<string>
    }
    readonly AccessToken: new (token: {
      readonly accountId: string
      readonly clientId: string
      readonly grantId: string
      readonly scope: string
    }) => {
      setThumbprint(name: 'jkt', thumbprint: string): void
      save(): Promise<string>
    }
    readonly ClientCredentials: { find(token: string): Promise<IssuedToken | undefined> }
    callback(): (request: IncomingMessage, response: ServerResponse) => void
  }
}
