/** Imports private keys in PEM or JWK, and what is signed with them: JSON Web Signatures (RFC 7515), and public keys in the forms of protocols. */
import { base64url, fromBase64url } from './encoding.ts'

/** JSON Web Signature algorithms (RFC 7518 §3.1, RFC 8037 §3.1) and RSA with SHA-1 (RFC 8812 §2); the key type determines the algorithm. */
export type SignatureAlgorithm = 'ES256' | 'EdDSA' | 'RS256' | 'PS256' | 'RS1'

/** The public key, with only the members that RFC 7638 §3.2 requires. */
export type PublicJwk = Readonly<Record<string, string>>

/** A `CryptoKeyPair`, which the types of Node do not name globally. */
interface KeyPair {
  readonly publicKey: Key
  readonly privateKey: Key
}

type Key = Parameters<typeof crypto.subtle.sign>[1]

/** A signing key whose private part cannot be exported. */
export interface PrivateKey {
  readonly algorithm: SignatureAlgorithm
  readonly publicJwk: PublicJwk
  /** SHA-256 thumbprint of the public key in base64url (RFC 7638). */
  readonly thumbprint: string
  /** The key pair for SubtleCrypto; its private part is not extractable. */
  readonly pair: KeyPair
  /** Returns the signature of bytes, or of a text in UTF-8, in the format of RFC 7518 §3. */
  sign(data: string | Uint8Array<ArrayBuffer>): Promise<Uint8Array>
}

/** Why a text cannot be used as a key; never contains a part of it. */
export interface KeyProblem {
  readonly problem: string
}

interface Kind {
  readonly name: string
  readonly parameters: { readonly name: string; readonly namedCurve?: string; readonly hash?: string; readonly saltLength?: number }
  /** Members of the public key, in the order of JWK examples. */
  readonly members: readonly string[]
}

const KINDS: Readonly<Record<SignatureAlgorithm, Kind>> = {
  ES256: { name: 'P-256', parameters: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }, members: ['kty', 'x', 'y', 'crv'] },
  EdDSA: { name: 'Ed25519', parameters: { name: 'Ed25519' }, members: ['kty', 'x', 'crv'] },
  RS256: { name: 'RSA', parameters: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, members: ['kty', 'n', 'e'] },
  PS256: { name: 'RSA', parameters: { name: 'RSA-PSS', hash: 'SHA-256', saltLength: 32 }, members: ['kty', 'n', 'e'] },
  RS1: { name: 'RSA', parameters: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-1' }, members: ['kty', 'n', 'e'] },
}

const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi']
const MIN_RSA_BYTES = 256
const PEM = /^-----BEGIN ([A-Z ]+)-----\s([A-Za-z0-9+/=\s]+)-----END \1-----$/
const utf8 = /* @__PURE__ */ new TextEncoder()

/** Reads a key for one of these algorithms from PEM (PKCS #8, RFC 5958) or JWK text (RFC 7517). */
export async function importPrivateKey(text: string, algorithms: readonly SignatureAlgorithm[]): Promise<PrivateKey | KeyProblem> {
  const material = text.trimStart().startsWith('{') ? jwkOf(text) : pkcs8Of(text.trim())
  if ('problem' in material) return material
  for (const algorithm of algorithms) {
    const key = await imported(material, algorithm)
    if (key) return key
  }
  return { problem: `is not a private key of type ${algorithms.map((algorithm) => KINDS[algorithm].name).join(' or ')}` }
}

/** Generates a P-256 key whose private part cannot be exported. */
export async function generatePrivateKey(): Promise<PrivateKey> {
  const pair = await crypto.subtle.generateKey(KINDS.ES256.parameters, false, ['sign', 'verify'])
  return privateKey('ES256', pair as CryptoKeyPair, await crypto.subtle.exportKey('jwk', (pair as CryptoKeyPair).publicKey))
}

/** Reads a P-256 key pair of SubtleCrypto, from this page or another page of the origin; its private part must not be extractable. */
export async function adoptKeyPair(pair: unknown): Promise<PrivateKey | KeyProblem> {
  const { publicKey, privateKey: secret } = (pair ?? {}) as Partial<CryptoKeyPair>
  const isP256 = (key?: CryptoKey) => (key?.algorithm as EcKeyAlgorithm | undefined)?.namedCurve === 'P-256'
  if (!publicKey || !secret || !isP256(publicKey) || !isP256(secret)) return { problem: 'is not a CryptoKeyPair for ECDSA with P-256' }
  if (secret.extractable) return { problem: 'can be exported: generate it with extractable: false' }
  try {
    return await privateKey('ES256', { publicKey, privateKey: secret }, await crypto.subtle.exportKey('jwk', publicKey))
  } catch {
    return { problem: 'is a CryptoKeyPair whose public key cannot be exported' }
  }
}

/** Returns the SHA-256 thumbprint of a public key in base64url (RFC 7638 §3). */
export async function jwkThumbprint(jwk: PublicJwk): Promise<string> {
  const ordered = Object.fromEntries(Object.entries(jwk).sort(([one], [other]) => (one < other ? -1 : 1)))
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', utf8.encode(JSON.stringify(ordered)))))
}

type Material = { readonly jwk: JsonWebKey } | { readonly pkcs8: Uint8Array<ArrayBuffer> }

/** Members about use (`alg`, `key_ops`, `ext`, `kid`) are dropped, because the credential determines the use of the key. */
function jwkOf(text: string): Material | KeyProblem {
  let value: Record<string, unknown>
  try {
    value = JSON.parse(text)
  } catch {
    return { problem: 'is not PEM or a JWK' }
  }
  const names = [...new Set([...Object.values(KINDS).flatMap(({ members: ofKind }) => ofKind), ...PRIVATE_MEMBERS])]
  const members = names.flatMap((name) => (Object.hasOwn(value, name) && typeof value[name] === 'string' ? [[name, value[name]]] : []))
  const jwk = Object.fromEntries(members)
  return jwk.d === undefined ? { problem: 'is a JWK without its private part' } : { jwk }
}

function pkcs8Of(text: string): Material | KeyProblem {
  const [, label, body = ''] = PEM.exec(text) ?? []
  if (label === undefined) return { problem: 'is not PEM or a JWK' }
  if (label !== 'PRIVATE KEY') {
    return { problem: 'is PEM, but not an unencrypted PKCS #8 key. Convert it with: openssl pkcs8 -topk8 -nocrypt' }
  }
  const bytes = fromBase64url(body.replace(/\s/g, ''))
  return bytes ? { pkcs8: bytes } : { problem: 'is malformed PEM' }
}

/** Returns the imported key; undefined for a key of another type. The extractable form does not leave this function. */
async function imported(material: Material, algorithm: SignatureAlgorithm): Promise<PrivateKey | KeyProblem | undefined> {
  const { parameters } = KINDS[algorithm]
  let jwk: JsonWebKey
  let pair: CryptoKeyPair
  try {
    const open = await ('jwk' in material
      ? crypto.subtle.importKey('jwk', material.jwk, parameters, true, ['sign'])
      : crypto.subtle.importKey('pkcs8', material.pkcs8, parameters, true, ['sign']))
    jwk = await crypto.subtle.exportKey('jwk', open)
    pair = {
      privateKey: await crypto.subtle.importKey('jwk', jwk, parameters, false, ['sign']),
      publicKey: await crypto.subtle.importKey('jwk', publicHalf(algorithm, jwk), parameters, true, ['verify']),
    }
  } catch {
    return undefined
  }
  if (KINDS[algorithm].name === 'RSA' && (fromBase64url(jwk.n ?? '')?.length ?? 0) < MIN_RSA_BYTES) {
    return { problem: `is an RSA key with less than ${MIN_RSA_BYTES * 8} bits` }
  }
  return privateKey(algorithm, pair, jwk)
}

async function privateKey(algorithm: SignatureAlgorithm, pair: KeyPair, jwk: JsonWebKey): Promise<PrivateKey> {
  const publicJwk = publicHalf(algorithm, jwk)
  const sign: PrivateKey['sign'] = async (data) => {
    const bytes = typeof data === 'string' ? utf8.encode(data) : data
    return new Uint8Array(await crypto.subtle.sign(KINDS[algorithm].parameters, pair.privateKey, bytes))
  }
  return { algorithm, pair, publicJwk, thumbprint: await jwkThumbprint(publicJwk), sign }
}

function publicHalf(algorithm: SignatureAlgorithm, jwk: JsonWebKey): PublicJwk {
  return Object.fromEntries(KINDS[algorithm].members.map((name) => [name, String(jwk[name as keyof JsonWebKey])]))
}

/** Returns a JWS in compact serialization (RFC 7515 §7.1); members keep their order. `header` contains the algorithm of the key. */
export async function compactJws(key: PrivateKey, header: object, claims: object): Promise<string> {
  const input = `${encoded(header)}.${encoded(claims)}`
  return `${input}.${base64url(await key.sign(input))}`
}

function encoded(value: object): string {
  return base64url(utf8.encode(JSON.stringify(value)))
}

/** Converts an ECDSA signature of RFC 7518 §3.4, r and s of equal length, to the `ECDSA-Sig-Value` of RFC 3279 §2.2.3 that TLS uses. */
export function ecdsaDer(signature: Uint8Array): Uint8Array {
  const half = signature.length / 2
  return sequence([signature.subarray(0, half), signature.subarray(half)])
}

/** Encodes an RSA public key as `RSAPublicKey` (RFC 8017 §A.1.1). */
export function rsaPublicKey({ n = '', e = '' }: PublicJwk): Uint8Array {
  return sequence([fromBase64url(n) ?? new Uint8Array(), fromBase64url(e) ?? new Uint8Array()])
}

function sequence(numbers: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(tagged(0x30, numbers.flatMap(integer)))
}

/** Encodes an integer without leading zeros, but with one where the first bit would be read as a sign. */
function integer(bytes: Uint8Array): readonly number[] {
  const start = bytes.findIndex((byte) => byte !== 0)
  const digits = start < 0 ? [0] : [...bytes.subarray(start)]
  return tagged(0x02, (digits[0] ?? 0) > 0x7f ? [0, ...digits] : digits)
}

/** Encodes a length; from 128 on, in the long form. */
function tagged(tag: number, content: readonly number[]): readonly number[] {
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return [tag, ...size, ...content]
}

/** Returns the uncompressed point of an elliptic curve key (SEC 1 §2.3.3): 04, x, y. */
export function uncompressedPoint({ x = '', y = '' }: PublicJwk): Uint8Array {
  return Uint8Array.of(4, ...(fromBase64url(x) ?? []), ...(fromBase64url(y) ?? []))
}
