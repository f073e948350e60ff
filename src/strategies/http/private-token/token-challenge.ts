import { fromBase64url } from '../../../crypto/encoding.ts'
import { canParseUrl } from '../../../text/can-parse-url.ts'

/** A challenge for a token (RFC 9577 §2.1.1). */
export interface TokenChallenge {
  /** In the registry of RFC 9578 §8.2: 1 is VOPRF(P-384, SHA-384), 2 is Blind RSA (2048-bit). */
  readonly tokenType: number
  /** A host, with its port unless it is the default. */
  readonly issuerName: string
  /** 32 bytes, or none. */
  readonly redemptionContext: Uint8Array
  /** The origins where the token may be redeemed, in the form of `issuerName`; empty means any. */
  readonly originInfo: readonly string[]
  /** The structure as the server sent it, and its SHA-256, which a token is bound to. */
  readonly bytes: Uint8Array
  /** SHA-256 of `bytes`. */
  readonly digest: Uint8Array
  /** The issuer's public key, when the server sends it, and its SHA-256. */
  readonly tokenKey?: Uint8Array
  /** SHA-256 of `tokenKey`. */
  readonly tokenKeyId?: Uint8Array
}

/** Token types of RFC 9578 §8.2.1 and §8.2.2, with the length of their authenticators in bytes. */
export const AUTHENTICATOR_BYTES: ReadonlyMap<number, number> = new Map([
  [0x0001, 48],
  [0x0002, 256],
])

/** Parses a challenge in base64url or base64, padded or not; a returned text says what is wrong, never quoting it. */
export async function tokenChallenge(challenge = '', tokenKey?: string): Promise<TokenChallenge | string> {
  const bytes = bytesOf(challenge)
  if (!bytes || bytes.length < 2) return 'its "challenge" is missing or malformed'
  const type = uint16(bytes, 0)
  if (!AUTHENTICATOR_BYTES.has(type)) return `unsupported token type ${typeName(type)}`
  const fields = fieldsOf(bytes)
  if (!fields) return 'its "challenge" is malformed'
  const read = { tokenType: type, ...fields, bytes, digest: await sha256(bytes) }
  if (tokenKey === undefined) return read
  const key = bytesOf(tokenKey)
  return key && key.length > 0 ? { ...read, tokenKey: key, tokenKeyId: await sha256(key) } : 'its "token-key" is malformed'
}

/** Formats a number as in the registry. */
export function typeName(type: number): string {
  return `0x${type.toString(16).toUpperCase().padStart(4, '0')}`
}

/** True when the token may be redeemed at that URL; a name without a port means the default port (RFC 9577 §2.1.3). */
export function isForOrigin({ originInfo }: TokenChallenge, url: string): boolean {
  const { protocol, host } = new URL(url)
  return originInfo.length === 0 || originInfo.some((name) => hostOf(protocol, name) === host)
}

/** Decodes base64url or base64; undefined for anything else. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> | undefined {
  return /^[\w+/-]+={0,2}$/.test(text) ? fromBase64url(text) : undefined
}

/** Returns the canonical host and port. */
function hostOf(protocol: string, name: string): string | undefined {
  return /[/?#@\\]/.test(name) || !canParseUrl(`${protocol}//${name}`) ? undefined : new URL(`${protocol}//${name}`).host
}

/** Parses the length-prefixed fields; every byte must belong to one. */
function fieldsOf(bytes: Uint8Array): Pick<TokenChallenge, 'issuerName' | 'redemptionContext' | 'originInfo'> | undefined {
  const issuer = field(bytes, 2, 2)
  const context = issuer && field(bytes, issuer.end, 1)
  const origins = context && field(bytes, context.end, 2)
  if (!origins || origins.end !== bytes.length) return undefined
  const [issuerName, originInfo] = [issuer.value, origins.value].map((value) => String.fromCharCode(...value))
  if (!issuerName || originInfo === undefined || /[^\x21-\x7e]/.test(issuerName + originInfo)) return undefined
  if (context.value.length !== 0 && context.value.length !== 32) return undefined
  return { issuerName, redemptionContext: context.value, originInfo: originInfo === '' ? [] : originInfo.split(',') }
}

/** Returns a field after its length; undefined when there are fewer bytes than it says. */
function field(bytes: Uint8Array, at: number, width: 1 | 2): { readonly value: Uint8Array; readonly end: number } | undefined {
  const start = at + width
  if (start > bytes.length) return undefined
  const end = start + (width === 1 ? (bytes[at] ?? 0) : uint16(bytes, at))
  return end > bytes.length ? undefined : { value: bytes.slice(start, end), end }
}

/** Encodes two bytes, big-endian. */
export function uint16(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0)
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}
