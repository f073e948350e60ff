import type { Credential } from '../../auth/credential.ts'
import { type AuthFlow, authorized } from '../../auth/flow.ts'
import { base64url, fromBase64url } from '../../crypto/base64url.ts'
import { ecdsaDer } from '../../crypto/ecdsa-der.ts'
import type { PrivateKey } from '../../crypto/private-key.ts'
import { uncompressedPoint } from '../../crypto/uncompressed-point.ts'
import { ConfigurationError, UnsupportedError } from '../../errors.ts'
import { authParams } from '../../http/auth-params.ts'
import { type Connection, type HttpRequest, withHeader } from '../../http/message.ts'
import { originOf } from '../../http/network-error.ts'
import { exporterContext, type ProofScope } from './concealed/exporter-context.ts'
import { withoutConnections } from './own-connection.ts'
import { privateKeyField, signingKey } from './signing-key.ts'
import type { HttpContext, HttpWord } from './word.ts'

/** RFC 9729 §3: what both ends of the connection compute, the first part to be signed, the second to be compared. */
const EXPORTER = { label: 'EXPORTER-HTTP-Concealed-Authentication', signed: 32, compared: 16 }
/** What stands before the signed part (§3.2). */
const PREFIX = new TextEncoder().encode(`${' '.repeat(64)}HTTP Concealed Authentication\0`)
const MAX_TEXT = 1024

/**
 * A signature over secrets of the TLS connection (RFC 9729): it counts on that connection only. Nobody asks for it, and a
 * server that does not know the key answers as if there was nothing, often with 404.
 */
export const concealed: HttpWord = {
  word: 'concealed',
  fields: {
    privateKey: { ...privateKeyField, required: true },
    keyId: { kind: 'text', label: 'Key identifier that the server knows the key by', required: true },
    realm: { kind: 'text', label: 'Realm that the server expects' },
  },
  about: { standard: 'RFC 9729', browsers: 'never', legs: 'a', testedAgainst: 'in-process server' },
  check,
  unsupported: () => withoutConnections('Concealed', 'use a program outside the browser'),
  async *authorize(request, context): AuthFlow {
    const key = await signingKey(context, ['EdDSA', 'ES256'])
    const connection = await context.connect(request.url)
    try {
      const proof = await proofOf(request, context, key, connection)
      yield { ...authorized(withHeader(request, 'authorization', `Concealed ${proof}`)), connection }
    } finally {
      connection.close()
    }
  },
}

function check({ keyId, realm = '' }: Credential): ConfigurationError | undefined {
  if (String(keyId).length > MAX_TEXT) return new ConfigurationError('CONFIG_INVALID', 'keyId is too long', { pointer: '/keyId' })
  if (/^[\x20-\x7e]*$/.test(String(realm)) && String(realm).length <= MAX_TEXT) return undefined
  return new ConfigurationError('CONFIG_INVALID', 'realm is printable ASCII', { pointer: '/realm' })
}

/** The parameters of §4. */
async function proofOf({ url }: HttpRequest, context: HttpContext, key: PrivateKey, connection: Connection): Promise<string> {
  const scope = scopeOf(url, context.credential, key)
  const material = connection.keyingMaterial(EXPORTER.signed + EXPORTER.compared, EXPORTER.label, exporterContext(scope))
  if (!material) throw unbindable(url, context)
  const signature = await key.sign(Uint8Array.of(...PREFIX, ...material.subarray(0, EXPORTER.signed)))
  return authParams([
    ['k', base64url(scope.keyId), 'token'],
    ['a', base64url(scope.publicKey), 'token'],
    ['s', String(scope.signatureScheme), 'token'],
    ['v', base64url(material.subarray(EXPORTER.signed)), 'token'],
    ['p', base64url(key.algorithm === 'ES256' ? ecdsaDer(signature) : signature), 'token'],
    ...(scope.realm === '' ? [] : ([['realm', scope.realm, 'quoted']] as const)),
  ])
}

/** Signature schemes `ed25519` and `ecdsa_secp256r1_sha256` (RFC 8446 §4.2.3), public keys as §3.1.1 wants them. */
function scopeOf(url: string, { keyId, realm = '' }: Credential, { algorithm, publicJwk }: PrivateKey): ProofScope {
  const isEdwards = algorithm === 'EdDSA'
  return {
    signatureScheme: isEdwards ? 0x0807 : 0x0403,
    keyId: new TextEncoder().encode(String(keyId)),
    publicKey: isEdwards ? (fromBase64url(publicJwk.x ?? '') ?? new Uint8Array()) : uncompressedPoint(publicJwk),
    url,
    realm: String(realm),
  }
}

function unbindable(url: string, { credential: { id } }: HttpContext): UnsupportedError {
  return new UnsupportedError('SCHEME_UNSUPPORTED', `Concealed needs TLS 1.3, which ${originOf(url)} does not speak; nothing was sent`, {
    credential: id,
    url,
  })
}
