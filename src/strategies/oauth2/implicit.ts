/** The implicit grant (RFC 6749 §4.2), which RFC 9700 §2.1.2 advises against: credentials must enable it, and it works in browsers only. */
import type { Interaction } from '../../auth/auth.ts'
import { ProtocolError, TrustError } from '../../errors.ts'
import { isAccessToken } from '../../http/headers.ts'
import { expiresIn } from '../credential-values.ts'
import { decodeLogin, encodeLogin, hasState, isOfIssuer, newLogin } from './authorization-code.ts'
import type { OAuth2Context } from './credential.ts'
import { type Endpoint, fragmentsUnseen, interactionMissing, invalidAnswer, loginDenied, oauthError } from './endpoint.ts'
import { requested } from './grants.ts'
import { serverOf } from './server.ts'
import type { TokenSet } from './token.ts'

const KNOWN = ['error', 'state', 'access_token', 'token_type', 'expires_in', 'scope', 'iss']

/** Logs the user in. Errors: `SCHEME_UNSUPPORTED` where fragments are not seen, `LOGIN_REQUIRED`, `LOGIN_DENIED`, `OAUTH_*`. */
export async function implicit(context: OAuth2Context, interaction: Interaction): Promise<TokenSet> {
  const redirection = await interaction.redirect?.(context.signal)
  if (!redirection) throw interactionMissing(context.credential)
  try {
    if (!redirection.seesFragments) throw fragmentsUnseen(context.credential.id)
    const server = await serverOf(context)
    const { uri, resumed } = redirection
    const login = resumed ? decodeLogin(resumed.record, context, uri) : newLogin(context)
    const { state } = login
    const url = new URL(server.authorization_endpoint ?? '')
    const parameters = { response_type: 'token', client_id: context.credential.clientId, redirect_uri: uri, state }
    for (const [name, value] of Object.entries({ ...parameters, ...requested(context.credential) })) url.searchParams.set(name, value)
    const askedAt = context.clock.now()
    const ongoing = { state, record: encodeLogin(login, context, uri) }
    const callback = resumed?.callback ?? (await redirection.answer(url.href, ({ hash }) => hasState(membersOf(hash), login), ongoing))
    const isIssuer = (iss: string) => isOfIssuer(iss, server, context.credential)
    return readImplicitAnswer(callback.hash, { state, isIssuer, askedAt, credential: context.credential.id })
  } finally {
    await redirection.close()
  }
}

interface LoginChecks {
  readonly state: string
  /** True for an `iss` of the server; default: always false. */
  readonly isIssuer?: (iss: string) => boolean
  readonly askedAt: number
  readonly credential: string
}

/**
 * Returns the token in a fragment (RFC 6749 §4.2.2), checked in this order: duplicates, `error`, `state`, `iss`, token, type. Errors:
 * `OAUTH_RESPONSE_INVALID`, `LOGIN_DENIED`, `OAUTH_ERROR`, `OAUTH_ISSUER_MISMATCH`, `OAUTH_TOKEN_TYPE`; they never quote the fragment.
 */
export function readImplicitAnswer(hash: string, { state, isIssuer, askedAt, credential }: LoginChecks): TokenSet {
  const endpoint: Endpoint = { credential, url: '', name: 'authorization endpoint' }
  const members = membersOf(hash)
  if (KNOWN.some((name) => members.getAll(name).length > 1)) throw invalidAnswer(endpoint, 'contains a parameter twice')
  const error = members.get('error')
  const description = members.get('error_description') ?? ''
  if (error === 'access_denied') throw loginDenied(credential, description)
  if (error !== null) throw oauthError(endpoint, 400, error, description)
  if (!hasState(members, { state })) throw invalidAnswer(endpoint, 'belongs to another login')
  const iss = members.get('iss')
  if (iss !== null && !isIssuer?.(iss)) {
    throw new TrustError('OAUTH_ISSUER_MISMATCH', `the login response for "${credential}" has another issuer`, { credential })
  }
  const token = members.get('access_token') ?? ''
  if (!isAccessToken(token)) throw invalidAnswer(endpoint, 'has no usable access_token')
  if ((members.get('token_type') || 'bearer').toLowerCase() !== 'bearer') {
    throw new ProtocolError('OAUTH_TOKEN_TYPE', `the ${endpoint.name} of "${credential}" issued a token of a type other than Bearer`, {
      credential,
    })
  }
  const life = expiresIn(members.get('expires_in') ?? undefined)
  const scope = members.get('scope')
  return {
    accessToken: token,
    tokenType: 'Bearer',
    askedAt,
    ...(life !== undefined && { expiresAt: askedAt + life * 1000 }),
    ...(scope !== null && { scopes: scope.split(' ') }),
  }
}

function membersOf(hash: string): URLSearchParams {
  return new URLSearchParams(hash.replace(/^#/, ''))
}
