import { type AuthFlow, authorized } from '../../auth/strategy.ts'
import { base64url, fromBase64url } from '../../crypto/encoding.ts'
import { ecdsaDer, type PrivateKey, rsaPublicKey, type SignatureAlgorithm, uncompressedPoint } from '../../crypto/private-key.ts'
import { UnsupportedError } from '../../errors.ts'
import { authParams } from '../../http/challenge.ts'
import { type Connection, type HttpRequest, withHeader } from '../../http/message.ts'
import { originOf } from '../../http/url.ts'
import { signingKey } from './challenge-response.ts'
import type { HttpContext } from './http-strategy.ts'

/** Exported keying material (RFC 9729 §3): both ends of the connection compute it; the first part is signed, the second compared. */
const EXPORTER = { label: 'EXPORTER-HTTP-Concealed-Authentication', signed: 32, compared: 16 }

const utf8 = new TextEncoder()

/** Prefix of the signed part (§3.2). */
const PREFIX = utf8.encode(`${' '.repeat(64)}HTTP Concealed Authentication\0`)

/** Sends a signature over exported keying material of the connection (RFC 9729 §3, §4) over that connection. */
export async function* concealedFlow(request: HttpRequest, context: HttpContext): AuthFlow {
  const key = await signingKey(context, ['EdDSA', 'ES256', 'PS256'])
  const connection = await context.connect(request.url)
  try {
    const proof = await proofOf(request, context, key, connection)
    yield { ...authorized(withHeader(request, 'authorization', `Concealed ${proof}`)), connection }
  } finally {
    connection.close()
  }
}

/** Returns the parameters of §4, bound to the connection by the context value of the key exporter (§3.1). */
async function proofOf({ url }: HttpRequest, { credential }: HttpContext, key: PrivateKey, connection: Connection): Promise<string> {
  const { protocol, hostname, port } = new URL(url)
  const signatureScheme = SIGNATURE_SCHEMES[key.algorithm] ?? 0
  const keyId = utf8.encode(String(credential.keyId))
  const publicKey = encoded(key)
  const realm = String(credential.realm ?? '')
  const scope = Uint8Array.of(
    ...uint16(signatureScheme),
    ...withLength(keyId),
    ...withLength(publicKey),
    ...withLength(utf8.encode(protocol.slice(0, -1))),
    ...withLength(utf8.encode(hostname)),
    ...uint16(port === '' ? 443 : Number(port)),
    ...withLength(utf8.encode(realm)),
  )
  const material = connection.keyingMaterial(EXPORTER.signed + EXPORTER.compared, EXPORTER.label, scope)
  if (!material) {
    const message = `Concealed requires TLS 1.3, which ${originOf(url)} does not support. Nothing was sent`
    throw new UnsupportedError('SCHEME_UNSUPPORTED', message, { credential: credential.id, url })
  }
  const signature = await key.sign(Uint8Array.of(...PREFIX, ...material.subarray(0, EXPORTER.signed)))
  return authParams([
    ['k', base64url(keyId), 'token'],
    ['a', base64url(publicKey), 'token'],
    ['s', String(signatureScheme), 'token'],
    ['v', base64url(material.subarray(EXPORTER.signed)), 'token'],
    ['p', base64url(key.algorithm === 'ES256' ? ecdsaDer(signature) : signature), 'token'],
    ...(realm === '' ? [] : ([['realm', realm, 'quoted']] as const)),
  ])
}

/**
 * Signature schemes `ed25519`, `ecdsa_secp256r1_sha256` and `rsa_pss_rsae_sha256` (RFC 8446 §4.2.3). RSA with PKCS #1 has a number there
 * too, but no public key in RFC 9729.
 */
const SIGNATURE_SCHEMES: Readonly<Partial<Record<SignatureAlgorithm, number>>> = { EdDSA: 0x0807, ES256: 0x0403, PS256: 0x0804 }

/** Encodes a public key for the signature scheme (RFC 9729 §3.1.1). */
function encoded({ algorithm, publicJwk: jwk }: PrivateKey): Uint8Array {
  if (algorithm === 'EdDSA') return fromBase64url(jwk.x ?? '') ?? new Uint8Array()
  return algorithm === 'ES256' ? uncompressedPoint(jwk) : rsaPublicKey(jwk)
}

function uint16(value: number): readonly number[] {
  return [value >> 8, value & 0xff]
}

/** Prefixes the length as a QUIC variable-length integer (RFC 9000 §16); all values here are shorter than 16384 bytes. */
function withLength(bytes: Uint8Array): readonly number[] {
  const { length } = bytes
  return [...(length < 64 ? [length] : uint16(length | 0x4000)), ...bytes]
}
