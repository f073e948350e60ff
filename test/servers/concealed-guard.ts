/** Asks for a proof by a registered key, bound to the connection; who has none sees nothing (RFC 9729). */
import { constants, type KeyObject, verify } from 'node:crypto'
import type { Answer, Inquiry } from './answering-server.ts'
import { type Guard, sameText } from './guards.ts'

const PROOF = /^Concealed k=([\w-]+), a=([\w-]+), s=(\d+), v=([\w-]{22}), p=([\w-]+)(?:, realm="([^"\\]*)")?$/
/** RFC 8446 §4.2.3: `ed25519`, `ecdsa_secp256r1_sha256`, `rsa_pss_rsae_sha256`. */
const SCHEMES: Readonly<Record<string, string>> = { ed25519: '2055', ec: '1027', rsa: '2052' }
const NOT_FOUND: Answer = { status: 404 }

/** Lets a request pass that proves one of these keys, by their identifiers, for this connection, host, port and realm. */
export function concealedGuard(keys: ReadonlyMap<string, KeyObject>, realm = ''): Guard {
  return (request) => (isProven(request, keys, realm) ? undefined : NOT_FOUND)
}

function isProven({ headers, keyingMaterial }: Inquiry, keys: ReadonlyMap<string, KeyObject>, realm: string): boolean {
  const [, id = '', a = '', s = '', v = '', p = '', named = ''] = PROOF.exec(headers.authorization ?? '') ?? []
  const key = keys.get(Buffer.from(id, 'base64url').toString())
  if (!key || !keyingMaterial || named !== realm) return false
  const publicKey = bytesOf(key)
  if (a !== publicKey.toString('base64url') || s !== SCHEMES[key.asymmetricKeyType ?? '']) return false
  const { hostname, port } = new URL(`https://${headers.host}`)
  const texts = [Buffer.from(id, 'base64url'), publicKey, Buffer.from('https'), Buffer.from(hostname)].map(prefixed)
  const context = Buffer.concat([number16(Number(s)), ...texts, number16(Number(port || 443)), prefixed(Buffer.from(realm))])
  const material = keyingMaterial(48, 'EXPORTER-HTTP-Concealed-Authentication', context)
  const signed = Buffer.concat([Buffer.alloc(64, 0x20), Buffer.from('HTTP Concealed Authentication\0'), material.subarray(0, 32)])
  const hash = key.asymmetricKeyType === 'ed25519' ? null : 'sha256'
  const verifier = key.asymmetricKeyType === 'rsa' ? { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 } : key
  return sameText(v, material.subarray(32).toString('base64url')) && verify(hash, signed, verifier, Buffer.from(p, 'base64url'))
}

/** RFC 9729 §3.1.1: 32 bytes of Ed25519, the uncompressed point of P-256, which end their SubjectPublicKeyInfo; RSAPublicKey. */
function bytesOf(key: KeyObject): Buffer {
  if (key.asymmetricKeyType === 'rsa') return key.export({ type: 'pkcs1', format: 'der' })
  return key.export({ type: 'spki', format: 'der' }).subarray(key.asymmetricKeyType === 'ed25519' ? -32 : -65)
}

function number16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

/** With a variable-length integer of QUIC before it (RFC 9000 §16). */
function prefixed(bytes: Buffer): Buffer {
  return Buffer.concat([bytes.length < 64 ? Buffer.of(bytes.length) : number16(bytes.length + 0x4000), bytes])
}
