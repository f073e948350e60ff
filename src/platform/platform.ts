/** The interface of `#platform`, implemented by `node.ts` and `web.ts`. */
import type { EngineOptions } from '../auth/create-engine.ts'
import type { SecretReader, SecretSource } from '../auth/credential.ts'
import type { Strategy } from '../auth/strategy.ts'
import type { Connect, MessageSocket, Transport } from '../http/message.ts'

export interface Platform {
  /** Returns the default transport, created on first use. */
  defaultTransport(): Promise<Transport>
  /** True where pages may read headers of another origin only if the server exposes them. */
  readonly hidesHeaders: boolean
  /** Opens connections as that transport does; undefined where the platform does not support it. */
  readonly connect: Connect | undefined
  /**
   * Opens WebSocket connections (RFC 6455), to public addresses only unless `allowPrivateNetwork`, where the platform can check that.
   *
   * Errors: `UNSUPPORTED_IN_BROWSER` without WebSocket.
   */
  socket(allowPrivateNetwork: boolean): Promise<(url: string) => MessageSocket>
  /** Returns the hex SHA-256 of a text in UTF-8; synchronously where the platform supports it. */
  sha256Hex(text: string): string | Promise<string>
  /** Returns the hash of bytes; synchronously where the platform supports it. */
  digest(algorithm: HashName, bytes: Uint8Array): Uint8Array | Promise<Uint8Array>
  /** Imports an HMAC-SHA-256 key; synchronously where the platform supports it. */
  hmacKey(bytes: Uint8Array): HmacKey | Promise<HmacKey>
  /** Returns the reader of a secret. Errors of it: `CREDENTIAL_SOURCE`, `UNSUPPORTED_IN_BROWSER`. */
  secretSource(source: SecretSource, options?: { readonly field: string }): SecretReader
  /** Returns the object store keys of the user's environment, for an `s3` credential without keys. */
  s3Keys(credential: S3KeyWish): S3KeySource
  /** Returns a diagnostics channel; undefined where the platform has none. */
  channel(name: string): Channel | undefined
  /** Allows any number of listeners on one signal without a leak warning. */
  shareSignal(signal: AbortSignal): void
  /** The files of the user. Errors: `UNSUPPORTED_IN_BROWSER`. */
  files(): Promise<Files>
  /** Starts Kerberos authentication with the tickets of the system. Errors: `SCHEME_UNSUPPORTED`, `UNSUPPORTED_IN_BROWSER`. */
  securityContext(wanted: SecurityRequest): Promise<SecurityContext>
  /** Checks the options of an engine, for programs without types. Absent in pages, where it would have to be loaded. Errors: `CONFIG_INVALID`. */
  checkOptions?(options: EngineOptions): void
  /** Checks strategies as `checkOptions` checks options. */
  checkStrategies?(strategies: readonly Strategy[]): void
  /** Checks the options of a client, by the name of its class, as `checkOptions` does. */
  checkClient?(name: string, options: object): void
  /** Absent where programs are bundled: a bundler warns of each package that it does not find. Such programs pass the package. */
  readonly optionalPackages?: OptionalPackages
}

/** Packages that users install only when they need them. Each call fails when the package is not installed. */
export interface OptionalPackages {
  privacyPass(): Promise<PrivacyPass>
  messagePack(): Promise<MessagePack>
  zip(): Promise<Zip>
}

/** The functions of `@cloudflare/privacypass-ts` that are used: VOPRF and Blind RSA. */
export interface PrivacyPass {
  readonly privateVerif: { readonly Client: new () => BlindingClient }
  readonly publicVerif: { readonly Client: new (mode: number) => BlindingClient; readonly BlindRSAMode: { readonly PSS: number } }
}

/** Blinds one token request and unblinds its response. */
export interface BlindingClient {
  createTokenRequest(challenge: BlindedChallenge, key: Uint8Array): Promise<{ serialize(): Uint8Array }>
  deserializeTokenResponse(bytes: Uint8Array): unknown
  finalize(response: never): Promise<{ serialize(): Uint8Array }>
}

/** The fields of a challenge (RFC 9577 §2.1.1), and its bytes. */
export interface BlindedChallenge {
  readonly tokenType: number
  readonly issuerName: string
  readonly redemptionContext: Uint8Array
  readonly originInfo: string[]
  serialize(): Uint8Array
}

/** The functions of `fflate` that are used. */
export interface Zip {
  /** `filter` gets each entry before it is expanded. */
  unzipSync(
    archive: Uint8Array,
    options: { filter(entry: { name: string; size: number; originalSize: number; compression: number }): boolean },
  ): Record<string, Uint8Array>
  /** Returns an archive of the files by their names, in this order; level 0 stores a file as it is. */
  zipSync(files: Record<string, [content: Uint8Array, options: { readonly level: 0 | 6 }]>): Uint8Array
}

/** The functions of `@msgpack/msgpack` that are used. */
export interface MessagePack {
  encode(value: unknown): Uint8Array<ArrayBuffer>
  decode(bytes: ArrayBuffer): unknown
}

/** The hash functions of HTTP Digest, strongest first (RFC 7616 §6.1). */
export type HashName = 'SHA-512-256' | 'SHA-256' | 'MD5'

/** An imported HMAC key. */
export interface HmacKey {
  /** Returns the HMAC-SHA-256 of a text in UTF-8 as bytes. */
  sign(text: string): Uint8Array | Promise<Uint8Array>
  /** Returns the HMAC-SHA-256 of a text in UTF-8 as hex. */
  signHex(text: string): string | Promise<string>
}

/** Access keys; `expiration` in epoch milliseconds, absent for long-term keys. */
export interface S3Keys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
  readonly expiration?: number
  /** The region that the source of the keys states. */
  readonly region?: string
}

/** The fields of a credential that say where its keys are. */
export interface S3KeyWish {
  /** A profile in the user's AWS files; takes precedence over other sources. */
  readonly profile?: string
  /** Whether the instance metadata service may be queried, as the last source. */
  readonly instanceMetadata?: boolean
}

/**
 * Returns the keys at each call and reports skipped sources; region and endpoint of the environment are known at once.
 *
 * Errors: `CREDENTIAL_SOURCE`, `LOGIN_REQUIRED`, `UNSUPPORTED_IN_BROWSER`.
 */
export interface S3KeySource {
  (warn?: (message: string) => void): Promise<S3Keys>
  readonly endpoint?: string
  readonly region?: string
}

/** Parameters of a security context. */
export interface SecurityRequest {
  /** Id of the credential, for errors. */
  readonly id: string
  /** Host-based name of the service (RFC 2743 §4.1): `HTTP@data.example`. */
  readonly service: string
  /** Principal of the tickets; default: that of the system's ticket cache. */
  readonly principal?: string
  /** True delegates the user's credentials to the service. */
  readonly delegate?: boolean
  /** Aborts waiting for tickets. */
  readonly signal?: AbortSignal
}

/** The initiator of a GSS-API security context (RFC 2743 §2.2) with the mechanism SPNEGO (RFC 4178) and mutual authentication. */
export interface SecurityContext {
  /** True once the server has authenticated itself. */
  readonly isComplete: boolean
  /**
   * Returns the next token in base64: the first, or the reply to a token of the server; undefined when the exchange is complete.
   *
   * Errors: `LOGIN_REQUIRED`, `CREDENTIAL_SOURCE`, `CLOCK_SKEW`; `AUTH_SERVER_UNPROVEN` for an invalid token.
   */
  step(token?: string): Promise<string | undefined>
}

/** Access to files by path. Errors: `FILE_ACCESS`, `FILE_CHANGED`, `PATH_EXISTS`, `PATH_UNSAFE`, `PATH_BUSY`, `DISK_FULL`. */
export interface Files {
  /** Opens a regular file that can be read several times from its beginning. */
  open(path: string): Promise<{ readonly name: string; readonly size: number; chunks(): AsyncIterable<Uint8Array> }>
  /** Throws for a path that `write` would refuse. */
  check(path: string, overwrite: boolean): Promise<void>
  /** Writes a new file atomically; `source` is called once the file can be written. */
  write(path: string, source: () => Promise<AsyncIterable<Uint8Array>>, overwrite: boolean): Promise<void>
}

/** A channel for diagnostics (`node:diagnostics_channel`). */
export interface Channel {
  readonly hasSubscribers: boolean
  publish(message: unknown): void
}
