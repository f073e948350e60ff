/** Issuers and origins of `@cloudflare/privacypass-ts`, which we did not write, behind HTTP: one pair for each token type. */
import { randomBytes } from 'node:crypto'
import { AuthorizationHeader, MediaType, privateVerif, publicVerif, WWWAuthenticateHeader } from '@cloudflare/privacypass-ts'
import { type AnsweringServer, startAnswering } from './answering-server.ts'

/** What differs between the token types. */
export interface TokenKind {
  readonly tokenKey: Uint8Array
  /** The answer to a token request. */
  issue(request: Uint8Array): Promise<Uint8Array>
  challenge(origin: string, context: Uint8Array): ReturnType<publicVerif.Origin['createTokenChallenge']>
  /** The nonce of a token that verifies. */
  verified(header: string): Promise<string | undefined>
}

const NAME = 'issuer.example'
const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** Type 2: anybody can verify it. */
export async function blindRsa(): Promise<TokenKind> {
  const { BLIND_RSA, BlindRSAMode, getPublicKeyBytes, Issuer, Origin, TokenRequest } = publicVerif
  const algorithm = { modulusLength: 2048, publicExponent: Uint8Array.from([1, 0, 1]) }
  const { privateKey, publicKey } = await Issuer.generateKey(BlindRSAMode.PSS, algorithm)
  const issuer = new Issuer(BlindRSAMode.PSS, NAME, privateKey, publicKey)
  return {
    tokenKey: await getPublicKeyBytes(publicKey),
    issue: async (request) => (await issuer.issue(TokenRequest.deserialize(BLIND_RSA, request))).serialize(),
    challenge: (origin, context) => new Origin(BlindRSAMode.PSS, [origin]).createTokenChallenge(NAME, context),
    verified: async (header) => {
      const [{ token } = {}] = AuthorizationHeader.parse(BLIND_RSA, header)
      if (!token || !(await new Origin(BlindRSAMode.PSS).verify(token, publicKey))) return undefined
      return hexOf(token.authInput.nonce)
    },
  }
}

/** Type 1: only the issuer can verify it. */
export async function voprf(): Promise<TokenKind> {
  const { Issuer, keyGen, Origin, TokenRequest, VOPRF } = privateVerif
  const { privateKey, publicKey } = await keyGen()
  const issuer = new Issuer(NAME, privateKey, publicKey)
  return {
    tokenKey: publicKey,
    issue: async (request) => (await issuer.issue(TokenRequest.deserialize(request))).serialize(),
    challenge: (origin, context) => new Origin([origin]).createTokenChallenge(NAME, context),
    verified: async (header) => {
      const [{ token } = {}] = AuthorizationHeader.parse(VOPRF, header)
      return token && (await issuer.verify(token)) ? hexOf(token.authInput.nonce) : undefined
    },
  }
}

/** Takes token requests everywhere; 422 for those that its key cannot be used for. */
export function startIssuer({ issue }: TokenKind): Promise<AnsweringServer> {
  const headers = { 'content-type': MediaType.PRIVATE_TOKEN_RESPONSE }
  return startAnswering(({ bytes = [] }) =>
    issue(new Uint8Array(bytes)).then(
      (body) => ({ status: 200, headers, body }),
      () => ({ status: 422 }),
    ),
  )
}

/** Gives `data` for each token once; every challenge is a new one. */
export function startOrigin({ tokenKey, challenge, verified }: TokenKind): Promise<AnsweringServer> {
  const spent = new Set<string>()
  return startAnswering(async ({ headers: { authorization = '', host = '' } }) => {
    const nonce = authorization ? await verified(authorization) : undefined
    if (nonce !== undefined && !spent.has(nonce)) {
      spent.add(nonce)
      return { status: 200, body: 'data' }
    }
    const asked = new WWWAuthenticateHeader(challenge(host, new Uint8Array(randomBytes(32))), tokenKey, 60)
    return { status: 401, headers: { 'www-authenticate': asked.toString() } }
  })
}
