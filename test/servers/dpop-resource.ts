/** A resource that opens to one DPoP-bound token and a fresh proof of its key (RFC 9449 §4.3, §7.1, §9). */
import { type Answer, type AnsweringServer, type Inquiry, startAnswering } from './answering-server.ts'
import { sameText } from './guards.ts'
import { isSignedBy, publicKeyOf, readJws, sha256, thumbprintOf } from './jws.ts'

export interface DpopResource {
  readonly token: string
  /** Thumbprint of the key that the token is bound to. */
  readonly jkt: string
  /** The nonce that the next proof must have; absent when none is asked for. It is told with every answer. */
  readonly nonce?: () => string
}

const MAX_AGE = 60

/** Starts the resource on a server of its own. */
export function startDpopResource(resource: DpopResource): Promise<AnsweringServer> {
  return startAnswering(dpopResource(resource))
}

/** The resource; every proof is accepted once. */
export function dpopResource(resource: DpopResource): (request: Inquiry) => Answer {
  const seen = new Set<string>()
  return (request) => {
    const wanted = resource.nonce?.()
    const error = proofError(request, resource, wanted, seen)
    const fresh = resource.nonce?.()
    const headers = fresh === undefined ? undefined : { 'dpop-nonce': fresh }
    return error === undefined ? { status: 200, headers, body: 'opened' } : refusal(error, headers)
  }
}

function refusal(error: string, headers: Readonly<Record<string, string>> = {}): Answer {
  const named = error === '' ? '' : ` error="${error}",`
  return { status: 401, headers: { ...headers, 'www-authenticate': `DPoP${named} algs="ES256 EdDSA RS256"` } }
}

/** The error of §7.1 and §9, empty when there was no token at all. */
function proofError(
  { method, path, headers }: Inquiry,
  { token, jkt }: DpopResource,
  nonce: string | undefined,
  seen: Set<string>,
): string | undefined {
  const { authorization, dpop: proof } = headers
  if (!authorization) return ''
  if (!sameText(authorization, `DPoP ${token}`)) return 'invalid_token'
  if (typeof proof !== 'string') return 'invalid_dpop_proof'
  const claims = provenClaims(proof, jkt)
  if (!claims) return 'invalid_dpop_proof'
  const { jti, htm, htu, iat, ath } = claims
  if (htm !== method || htu !== `http://${headers.host}${path}` || ath !== sha256(token)) return 'invalid_dpop_proof'
  if (typeof iat !== 'number' || Math.abs(iat - Date.now() / 1000) > MAX_AGE) return 'invalid_dpop_proof'
  if (typeof jti !== 'string' || jti.length < 12 || seen.has(jti)) return 'invalid_dpop_proof'
  seen.add(jti)
  return nonce === undefined || claims.nonce === nonce ? undefined : 'use_dpop_nonce'
}

/** The claims of a proof that is signed by the key in its header, which must be the one of that thumbprint. */
export function provenClaims(proof: string, jkt: string): Readonly<Record<string, unknown>> | undefined {
  const jws = readJws(proof)
  const key = publicKeyOf(jws?.header.jwk)
  if (!jws || !key || jws.header.typ !== 'dpop+jwt') return undefined
  return thumbprintOf(key) === jkt && isSignedBy(proof, key) ? jws.claims : undefined
}
