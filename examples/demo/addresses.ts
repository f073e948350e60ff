/** Where the servers stand, each without a slash at the end. */
export interface Addresses {
  /** Files behind passwords, tokens and keys. */
  readonly files: string
  /** Files that a proof over the encrypted connection opens. */
  readonly sealed: string
  /** Token endpoint. */
  readonly tokenUrl: string
  /** Where tokens are issued that say nothing about their holder. */
  readonly issuerRequestUri: string
  /** Signing API. */
  readonly signing: string
  /** Files behind signed URLs. */
  readonly blobs: string
  /** Object store. */
  readonly s3: string
}

export const USERNAME = 'ada'
/** What the servers know the user's keys by. */
export const KEY_ID = 'ada-key'
/** Name of the issuer in challenges. */
export const ISSUER = 'issuer.example'
export const CLIENT_ID = 'demo-client'
export const SCOPE = 'read'
export const REGION = 'demo-1'
/** Word of an `Authorization` header that no registry knows, as some portals have. */
export const PORTAL_WORD = 'Portal'
