/** The token endpoint: what goes there is openid-client's, what comes back is read by us before anyone believes it. */
import type { Token } from '../../auth/strategy.ts'
import { type AuthError, CredentialError, isAuthError, NetworkError, ProtocolError, TrustError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { isRedirect } from '../../http/redirect.ts'
import { isObject, type JsonObject, ownString } from '../../stac/json.ts'
import { expiresIn } from './expires-in.ts'
import type { OAuth2Context } from './token.ts'

/** Bytes of a token answer. */
const MAX_ANSWER = 1_048_576
const MAX_TOKEN = 16_384
const B64TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/

type LibraryFetch = (url: string, options: { method: string; headers: Record<string, string>; body?: unknown }) => Promise<Response>

/**
 * Runs a grant of openid-client with a `fetch` that sends through the context and gives back the token.
 *
 * Errors: `OAUTH_ERROR` (the server's `error`, its description cut and cleaned), `OAUTH_RESPONSE_INVALID` (nothing of the
 * answer is quoted), `OAUTH_TOKEN_TYPE`, `OAUTH_REDIRECT`, `HTTP_<status>`, those of the transport.
 */
export async function requestToken(
  context: OAuth2Context,
  secret: string | undefined,
  grant: (fetch: LibraryFetch) => Promise<unknown>,
): Promise<Token> {
  const { credential, clock } = context
  const asked = clock.now()
  let answer: JsonObject | undefined
  let failure: AuthError | undefined
  const fetch: LibraryFetch = async (url, { method, headers, body }) => {
    try {
      const response = await context.send({ method, url, headers, body: String(body ?? '') }, { signal: context.signal })
      answer = await readAnswer(response, credential.id, secret)
      return Response.json({ access_token: answer.access_token, token_type: answer.token_type })
    } catch (error) {
      if (isAuthError(error)) failure = error
      throw error
    }
  }
  try {
    await grant(fetch)
  } catch {
    throw failure ?? invalidAnswer(credential.id, credential.tokenUrl, 'has not the form of a token answer')
  }
  const token = tokenOf(answer ?? {}, asked)
  tellReduction(context, token)
  return token
}

/** A server may grant less than was asked for; it says so (RFC 6749 §5.1). */
function tellReduction({ credential: { id, scopes = [] }, warn }: OAuth2Context, { scopes: granted }: Token): void {
  const missing = granted ? scopes.filter((scope) => !granted.includes(scope)) : []
  if (missing.length) warn({ code: 'SCOPE_REDUCED', message: `the token of "${id}" was issued without the scope ${missing.join(', ')}` })
}

/** The answer, checked (RFC 6749 §5.1, §5.2). */
async function readAnswer(response: HttpResponse, id: string, secret: string | undefined): Promise<JsonObject> {
  const { status, url } = response
  if (isRedirect(status)) {
    await response.discard()
    throw new TrustError('OAUTH_REDIRECT', `the token endpoint of "${id}" answered with a redirect; nothing was sent on`, {
      credential: id,
      url,
      status,
    })
  }
  const answer = parsed(await response.text(MAX_ANSWER))
  const error = ownString(answer, 'error')
  if (error !== undefined) {
    throw oauthError(id, url, status, error, plainWords(ownString(answer, 'error_description') ?? '', secret))
  }
  if (status !== 200) throw unexpectedStatus(id, url, status)
  if (!isObject(answer)) throw invalidAnswer(id, url, 'is not a JSON object')
  const token = answer.access_token
  if (typeof token !== 'string' || token.length > MAX_TOKEN || !B64TOKEN.test(token))
    throw invalidAnswer(id, url, 'has no usable access_token')
  if (typeof answer.token_type !== 'string' || answer.token_type.toLowerCase() !== 'bearer') {
    throw new ProtocolError('OAUTH_TOKEN_TYPE', `the token endpoint of "${id}" issued a token of a type other than Bearer`, {
      credential: id,
      url,
    })
  }
  return answer
}

function tokenOf(answer: JsonObject, asked: number): Token {
  const life = expiresIn(answer.expires_in)
  const scope = ownString(answer, 'scope')
  return {
    value: String(answer.access_token),
    tokenType: 'Bearer',
    ...(life !== undefined && { expiresAt: asked + life * 1000 }),
    ...(scope !== undefined && { scopes: scope.split(' ') }),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What to do about the codes of RFC 6749 §5.2 that a user can mend; a code that is not registered is not shown. */
const REMEDIES: { readonly [code: string]: string } = {
  invalid_client: 'check clientId and clientSecret; a server that wants them in the body needs "clientAuthentication": "post"',
  invalid_scope: 'check "scopes" of the entry',
  unauthorized_client: 'this client may not use this flow: ask the provider',
  unsupported_grant_type: 'the server does not offer this flow: check "flow" and "tokenUrl"',
  invalid_request: 'check the fields of the entry against the documentation of the provider',
  invalid_grant: 'the grant is not valid any more',
}

function oauthError(id: string, url: string, status: number, error: string, description: string): CredentialError {
  const hint = Object.hasOwn(REMEDIES, error) ? REMEDIES[error] : undefined
  const code = hint === undefined ? 'an unregistered error code' : error
  return new CredentialError('OAUTH_ERROR', `the token endpoint refused "${id}" with ${code}${description && `: ${description}`}`, {
    credential: id,
    url,
    status,
    ...(hint && { hint }),
  })
}

/**
 * A server's description as far as it is plain words: servers repeat what they were sent, and a secret has many
 * encodings. What has digits, capitals or signs inside is left out, and everything when the secret itself is in it.
 */
function plainWords(description: string, secret: string | undefined): string {
  if (secret !== undefined && description.includes(secret)) return ''
  const words = description.slice(0, 2000).split(/\s+/)
  const plain = words.map((word) => (/^["'(]?[A-Za-z]?[a-z]{0,19}["'),.;:!?]{0,3}$/.test(word) ? word : '...'))
  return plain
    .join(' ')
    .replace(/…(?: …)+/g, '…')
    .slice(0, 200)
}

function unexpectedStatus(id: string, url: string, status: number): AuthError {
  if (status < 400) return invalidAnswer(id, url, `came with status ${status}`)
  return new NetworkError(`HTTP_${status}`, `the token endpoint of "${id}" answered with status ${status}`, {
    credential: id,
    url,
    status,
    retryable: status >= 500 || status === 429,
  })
}

function invalidAnswer(id: string, url: string | undefined, why: string): ProtocolError {
  return new ProtocolError('OAUTH_RESPONSE_INVALID', `the answer of the token endpoint of "${id}" ${why}`, { credential: id, url })
}
