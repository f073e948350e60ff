/** Requests tokens from an issuer (RFC 9578); an optional package does the blinding. */
import { refusedCall } from '../../../auth/strategy.ts'
import { base64url } from '../../../crypto/encoding.ts'
import { ChallengeError, ProtocolError, UnsupportedError } from '../../../errors.ts'
import type { HttpRequest } from '../../../http/message.ts'
import { originOf } from '../../../http/network-error.ts'
import type { BlindingClient, PrivacyPass } from '../../../platform/platform.ts'
import type { HttpContext } from '../scheme.ts'
import type { TokenChallenge } from './token-challenge.ts'

/**
 * Returns one token for that challenge, or several separated by blanks, in base64url: the field `issuer` of a credential
 * in code. Surplus tokens are kept for later requests.
 */
export type TokenIssuer = (challenge: TokenChallenge) => Promise<string>

const PACKAGE = '@cloudflare/privacypass-ts'

/** Imports the package that does the blinding. */
export type LoadPrivacyPass = () => Promise<PrivacyPass>

/** Maximum lengths of public keys: a compressed point of P-384, and RSA with 2048 bits as RSASSA-PSS. */
const MAX_KEY_BYTES = new Map([
  [0x0001, 49],
  [0x0002, 400],
])

/** An evaluated element with its proof is 145 bytes, a blind signature 256. */
const MAX_ANSWER = 1024

/**
 * Returns one token from the credential's `issuerRequestUri`, in base64url (RFC 9578 §5, §6); the server cannot choose where the
 * request goes. Errors: `SCHEME_UNSUPPORTED` without the package, `AUTH_CHALLENGE_UNSUPPORTED` for a key that cannot be used,
 * `AUTH_REJECTED`, `HTTP_<status>`, `RESPONSE_TOO_LARGE`, `AUTH_SERVER_UNPROVEN` for a response not made with the key.
 */
export async function issuedToken(load: LoadPrivacyPass, challenge: TokenChallenge, context: HttpContext): Promise<string> {
  const { credential } = context
  const client = await blindingClient(load, challenge.tokenType)
  const body = await blinded(client, challenge, context)
  const url = String(credential.issuerRequestUri)
  const request: HttpRequest = {
    method: 'POST',
    url,
    headers: { accept: 'application/private-token-response', 'content-type': 'application/private-token-request' },
    body,
  }
  const response = await (context.input?.send ?? context.send)(request)
  const { status } = response
  if (status !== 200) {
    await response.discard()
    throw refusedCall('token issuer', 'token requests', response, credential.id)
  }
  const answer = await response.bytes(MAX_ANSWER)
  try {
    return base64url((await client.finalize(client.deserializeTokenResponse(answer) as never)).serialize())
  } catch {
    const message = `the token issuer ${originOf(url)} sent "${credential.id}" a response that was not made with its key`
    throw new ProtocolError('AUTH_SERVER_UNPROVEN', message, { url, status, credential: credential.id })
  }
}

async function blinded(client: BlindingClient, challenge: TokenChallenge, { credential, resource }: HttpContext): Promise<Uint8Array> {
  const key = challenge.tokenKey ?? new Uint8Array()
  try {
    if (key.length > (MAX_KEY_BYTES.get(challenge.tokenType) ?? 0)) throw new Error('too long')
    const originInfo = [...challenge.originInfo]
    return (await client.createTokenRequest({ ...challenge, originInfo, serialize: () => challenge.bytes }, key)).serialize()
  } catch {
    const message = `the PrivateToken challenge of ${originOf(resource.url)} cannot be answered: its "token-key" is missing or not a key of its token type`
    throw new ChallengeError('AUTH_CHALLENGE_UNSUPPORTED', message, { url: resource.url, credential: credential.id })
  }
}

/** Returns a client for one token: it keeps the blinding state. */
async function blindingClient(load: LoadPrivacyPass, tokenType: number): Promise<BlindingClient> {
  const { privateVerif, publicVerif } = await installed(load)
  return tokenType === 1 ? new privateVerif.Client() : new publicVerif.Client(publicVerif.BlindRSAMode.PSS)
}

async function installed(load: LoadPrivacyPass): Promise<PrivacyPass> {
  try {
    return await load()
  } catch {
    throw new UnsupportedError('SCHEME_UNSUPPORTED', `requesting tokens from an issuer needs the optional package ${PACKAGE}`, {
      hint: `npm install ${PACKAGE}`,
    })
  }
}
