/** What the tests use of `oidc-provider`, which comes without types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export interface ClientMetadata {
    readonly client_id: string
    readonly client_secret?: string
    readonly token_endpoint_auth_method?: string
    readonly application_type?: 'native' | 'web'
    readonly grant_types: readonly string[]
    readonly redirect_uris: readonly string[]
    readonly response_types: readonly string[]
    readonly scope: string
    readonly [member: string]: unknown
  }

  export interface IssuedToken {
    readonly clientId?: string
    readonly accountId?: string
    readonly scope?: string
    /** Seconds. */
    readonly remainingTTL: number
  }

  interface NewToken {
    readonly accountId: string
    readonly clientId?: string
    readonly client?: unknown
    readonly grantId: string
    readonly gty?: string
    readonly scope: string
  }

  interface MadeToken {
    /** Seconds. */
    readonly expiration: number
    setThumbprint(name: 'jkt', thumbprint: string): void
    save(): Promise<string>
  }

  /** What a grant or an event is given. */
  export interface GrantContext {
    status: number
    body: unknown
    readonly oidc: { readonly params?: Readonly<Record<string, string>>; readonly client: unknown }
  }

  interface Found {
    find(token: string): Promise<IssuedToken | undefined>
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
    readonly AccessToken: Found & (new (token: NewToken) => MadeToken)
    readonly RefreshToken: Found
    readonly ClientCredentials: Found
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    on(event: 'grant.success', listener: (context: GrantContext) => void): void
    on(event: 'grant.error', listener: (context: GrantContext, error: { readonly error: string }) => void): void
    registerGrantType(name: string, handler: (context: GrantContext) => Promise<unknown>, parameters: readonly string[]): void
  }
}
