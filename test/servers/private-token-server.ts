/** Asks for tokens of Blind RSA (RFC 9577, RFC 9578 §6) and issues them, with nothing but RSA from `node:crypto`. */

import type { KeyObject } from 'node:crypto'
import { constants, createHash, generateKeyPairSync, privateDecrypt, randomBytes, sign, verify } from 'node:crypto'
import { type Answer, type AnsweringServer, startAnswering } from './answering-server.ts'
import { bearerGuard, type Guard } from './guards.ts'

/** A key of an issuer: 2048 bits. */
export interface IssuerKey {
  readonly privateKey: KeyObject
  /** RSASSA-PSS with SHA-384 and a salt of 48 bytes, as RFC 9578 §6.5 wants it. */
  readonly spki: Uint8Array
}

export const ISSUER = 'issuer.example'

export function issuerKey(): IssuerKey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { privateKey, spki: Buffer.concat([PSS_HEAD, publicKey.export({ type: 'pkcs1', format: 'der' })]) }
}

/** DER of everything before a key of 270 bytes: two sequences, the algorithm with its parameters, a bit string without unused bits. */
const PSS_HEAD = Buffer.from(
  '30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d010108300b0609608648016503040202a20302' +
    '01300382010f00',
  'hex',
)

export interface ChallengeFields {
  readonly tokenType?: number
  readonly issuerName?: string
  readonly context?: Uint8Array
  readonly origins?: string
}

/** The structure of RFC 9577 §2.1.1. */
export function challengeBytes({ tokenType = 2, issuerName = ISSUER, context = new Uint8Array(), origins = '' }: ChallengeFields): Buffer {
  const uint16 = (value: number) => Buffer.from([value >> 8, value & 255])
  return Buffer.concat([
    uint16(tokenType),
    uint16(issuerName.length),
    Buffer.from(issuerName),
    Buffer.from([context.length]),
    context,
    uint16(origins.length),
    Buffer.from(origins),
  ])
}

/** A token for that challenge as its holder keeps it: unblinded, it is a plain signature. */
export function readyToken(challenge: Uint8Array, { privateKey, spki }: IssuerKey): string {
  const input = Buffer.concat([Buffer.from([0, 2]), randomBytes(32), sha256(challenge), sha256(spki)])
  return padded(
    Buffer.concat([input, sign('sha384', input, { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 48 })]),
  )
}

export interface PrivateTokenOptions {
  readonly key: IssuerKey
  /** A new redemption context for each challenge; without one a token can be had beforehand. */
  readonly fresh?: boolean
  /** Tells the key; true unless said otherwise. */
  readonly tellsKey?: boolean
}

/** 401 with a challenge for everything but a token that was issued for a living one, is signed by the key and was not seen before. */
export function privateTokenGuard({ key, fresh = true, tellsKey = true }: PrivateTokenOptions): Guard {
  /** Digests of challenges, and the host that each is for. */
  const living = new Map<string, string | undefined>()
  const seen = new Set<string>()
  return ({ headers }) => {
    const [, text = ''] = /^PrivateToken token="([\w-]+={0,2})"$/.exec(headers.authorization ?? '') ?? []
    const token = Buffer.from(text, 'base64url')
    const input = token.subarray(0, 98)
    const [nonce, digest, keyId] = [token.subarray(2, 34), token.subarray(34, 66), token.subarray(66, 98)].map((part) =>
      part.toString('hex'),
    )
    const isWhole = token.length === 354 && token.readUInt16BE() === 2 && keyId === sha256(key.spki).toString('hex')
    if (
      isWhole &&
      isSigned(input, token.subarray(98), key) &&
      living.has(digest ?? '') &&
      living.get(digest ?? '') === headers.host &&
      !seen.has(nonce ?? '')
    ) {
      seen.add(nonce ?? '')
      if (fresh) living.delete(digest ?? '')
      return undefined
    }
    const challenge = challengeBytes({ origins: headers.host, ...(fresh && { context: randomBytes(32) }) })
    living.set(sha256(challenge).toString('hex'), headers.host)
    return asksFor(challenge, tellsKey ? key.spki : undefined)
  }
}

/** The refusal that asks for a token. */
export function asksFor(challenge: Uint8Array, spki?: Uint8Array, more = ''): Answer {
  return { status: 401, headers: { 'www-authenticate': privateTokenChallenge(challenge, spki, more) } }
}

export function privateTokenChallenge(challenge: Uint8Array, spki?: Uint8Array, more = ''): string {
  return `PrivateToken challenge="${padded(challenge)}"${spki ? `, token-key="${padded(spki)}"` : ''}${more}`
}

export const REQUEST_PATH = '/token-request'

/** Signs what it cannot read (RFC 9578 §6.2), for those who have the bearer token, or for everybody. */
export function startTokenIssuer(key: IssuerKey, bearerToken?: string): Promise<AnsweringServer> {
  const guard = bearerGuard((token) => token === bearerToken)
  return startAnswering((request) => {
    const refusal = bearerToken === undefined ? undefined : guard(request)
    if (refusal) return refusal
    const { method, path, bytes = new Uint8Array(), headers } = request
    if (path !== REQUEST_PATH || method !== 'POST') return { status: 404 }
    if (headers['content-type'] !== 'application/private-token-request') return { status: 415 }
    const isOurs = bytes.length === 259 && bytes[0] === 0 && bytes[1] === 2 && bytes[2] === sha256(key.spki).at(-1)
    if (!isOurs) return { status: 422 }
    const body = signed(bytes.subarray(3), key)
    return body ? { status: 200, headers: { 'content-type': 'application/private-token-response' }, body } : { status: 422 }
  })
}

/** Undefined for a number that is larger than the modulus: it was blinded for another key. */
function signed(blinded: Uint8Array, { privateKey }: IssuerKey): Uint8Array | undefined {
  try {
    return privateDecrypt({ key: privateKey, padding: constants.RSA_NO_PADDING }, blinded)
  } catch {
    return undefined
  }
}

/** True when the key made that authenticator for that input (RFC 9578 §6.4). */
export function isSigned(input: Uint8Array, authenticator: Uint8Array, { spki }: Pick<IssuerKey, 'spki'>): boolean {
  const key = { key: Buffer.from(spki), format: 'der', type: 'spki' } as const
  return verify('sha384', input, { ...key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 48 }, authenticator)
}

export function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}

/** Base64url with padding. */
export function padded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('+', '-').replaceAll('/', '_')
}
