/** What the two platforms, `node.ts` and `web.ts`, both supply behind `#platform`. */
import type { SecretSource } from '../auth/credential.ts'
import type { Connect, MessageSocket, Transport } from '../http/message.ts'

export interface Platform {
  /** The transport used when the caller gives none; made on first use. */
  defaultTransport(): Promise<Transport>
  /** True where a page may not read the headers of another origin unless the server exposes them. */
  readonly hidesHeaders: boolean
  /** As that transport connects; undefined where the platform cannot hold a connection. */
  readonly connect: Connect | undefined
  /**
   * Opens connections for messages (RFC 6455), to public addresses unless `allowPrivateNetwork`, where the platform can tell. Errors:
   * `UNSUPPORTED_IN_BROWSER` where it has none.
   */
  socket(allowPrivateNetwork: boolean): Promise<(url: string) => MessageSocket>
  /** Hex SHA-256 of a text in UTF-8; at once where the platform can. */
  sha256Hex(text: string): string | Promise<string>
  /** The hash of bytes; at once where the platform can. */
  digest(algorithm: HashName, bytes: Uint8Array): Uint8Array | Promise<Uint8Array>
  /** Imports an HMAC-SHA-256 key; at once where the platform can. */
  hmacKey(bytes: Uint8Array): HmacKey | Promise<HmacKey>
  /** A function that reads a secret from its source, once. Errors: `CREDENTIAL_SOURCE`, `UNSUPPORTED_IN_BROWSER`. */
  secretSource(source: SecretSource): () => Promise<string>
  /** Object-store keys of the user's environment for an `s3` credential without keys of its own. */
  s3Keys(entry: S3KeyWish): S3KeySource
  /** A channel on which programs that watch others hear of something; undefined where there are none. */
  channel(name: string): Channel | undefined
  /** Lets any number of calls wait for one signal, where the platform would take that for a leak. */
  shareSignal(signal: AbortSignal): void
  /** The files of the user. Errors: `UNSUPPORTED_IN_BROWSER`. */
  files(): Promise<Files>
  /** Begins to prove the user to a service with the tickets of the system. Errors: `SCHEME_UNSUPPORTED`, `UNSUPPORTED_IN_BROWSER`. */
  securityContext(wanted: SecurityRequest): Promise<SecurityContext>
}

/** The hash functions of HTTP Digest, strongest first (RFC 7616 §6.1). */
export type HashName = 'SHA-512-256' | 'SHA-256' | 'MD5'

/** An imported HMAC key. */
export interface HmacKey {
  /** HMAC-SHA-256 of a text in UTF-8 as bytes. */
  sign(text: string): Uint8Array | Promise<Uint8Array>
  /** The same in hex. */
  signHex(text: string): string | Promise<string>
}

/** Access keys; `expiration` in epoch milliseconds, absent for keys that last. */
export interface S3Keys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
  readonly expiration?: number
  /** The region that their source names beside them. */
  readonly region?: string
}

/** What a credential says about keys that it does not hold. */
export interface S3KeyWish {
  /** A profile of the user's files, before anything else. */
  readonly profile?: string
  /** The metadata service of the machine may be asked, after everything else. */
  readonly instanceMetadata?: boolean
}

/**
 * Gives the keys each time they are asked for and tells what it passed over; what the environment says about the place is
 * known at once. Errors: `CREDENTIAL_SOURCE`, `LOGIN_REQUIRED`, `UNSUPPORTED_IN_BROWSER`.
 */
export interface S3KeySource {
  (warn?: (message: string) => void): Promise<S3Keys>
  readonly endpoint?: string
  readonly region?: string
}

/** What a security context is for. */
export interface SecurityRequest {
  /** Id of the credential, for errors. */
  readonly id: string
  /** Host-based name of the service (RFC 2743 §4.1): `HTTP@data.example`. */
  readonly service: string
  /** Whose ticket; default: that of the system's ticket cache. */
  readonly principal?: string
  /** True lets the service act for the user elsewhere. */
  readonly delegate?: boolean
  /** Ends the waiting for tickets. */
  readonly signal?: AbortSignal
}

/** The client's side of GSS-API (RFC 2743 §2.2) with the mechanism SPNEGO (RFC 4178); both sides have to prove themselves. */
export interface SecurityContext {
  /** True once the server has proved itself as well. */
  readonly isComplete: boolean
  /**
   * What to send (base64): the first token, or the answer to one of the server's; undefined when nothing is left to say.
   * Errors: `LOGIN_REQUIRED`, `CREDENTIAL_SOURCE`, `CLOCK_SKEW`; `AUTH_SERVER_UNPROVEN` for a token that does not belong here.
   */
  step(token?: string): Promise<string | undefined>
}

/** Files by their paths. Errors: `FILE_ACCESS`, `FILE_CHANGED`, `PATH_EXISTS`, `PATH_UNSAFE`, `PATH_BUSY`, `DISK_FULL`. */
export interface Files {
  /** A regular file, to be read from its beginning as often as wanted. */
  open(path: string): Promise<{ readonly name: string; readonly size: number; chunks(): AsyncIterable<Uint8Array> }>
  /** Refuses a path where `write` would not write. */
  check(path: string, overwrite: boolean): Promise<void>
  /** A new file that is complete or not there; `source` is asked once the file may be written. */
  write(path: string, source: () => Promise<AsyncIterable<Uint8Array>>, overwrite: boolean): Promise<void>
}

/** Somewhere to tell what happens (`node:diagnostics_channel`). */
export interface Channel {
  readonly hasSubscribers: boolean
  publish(message: unknown): void
}
