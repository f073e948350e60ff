import type { Credential, Field } from '../../auth/credential.ts'
import { type AuthFlow, authorized } from '../../auth/strategy.ts'
import type { AuthError } from '../../errors.ts'
import { type HttpRequest, withHeader } from '../../http/message.ts'
import { accessToken, atHand, invalidField, isPlaceInAnswer, whenThere } from '../credential-values.ts'
import type { HttpAuthScheme, HttpContext } from './http-strategy.ts'

/** The fields of a credential whose token is requested from an endpoint. */
const requestFields: { readonly [name: string]: Field } = {
  tokenUrl: { kind: 'url', label: 'Endpoint that returns the access token', required: true },
  method: { kind: 'text', label: 'HTTP method of the token request; default: POST', values: ['POST', 'GET'] },
  with: { kind: 'id', label: 'Credential that authorizes the token request' },
  tokenParameters: { kind: 'parameters', label: 'Parameters of the token request, such as a user name and a password' },
  tokenRequest: { kind: 'text', label: 'Format of these parameters; default: form', values: ['form', 'json'] },
  tokenField: { kind: 'text', label: 'Member of the token response that is the access token, or a JSON Pointer; default: access_token' },
  expiresField: {
    kind: 'text',
    label: 'Member that says when the token expires, as seconds from now or a date (ISO 8601, MM/DD/YYYY); default: expires_in',
  },
  revocationUrl: { kind: 'url', label: 'Endpoint that revokes tokens' },
  revocationRequest: { kind: 'text', label: 'Place of the token in the revocation request; default: form', values: ['form', 'query'] },
}

/** `Bearer` and the token (RFC 6750 §2.1), sent preemptively. */
export const bearer: HttpAuthScheme = {
  name: 'bearer',
  fields: { token: { kind: 'secret', label: 'Access token', required: true } },
  alternative: { by: ['tokenUrl'], fields: requestFields },
  about: { standard: 'RFC 6750', browsers: 'yes', steps: 'a', testedAgainst: 'in-process server' },
  check: (credential) => (requestsToken(credential) ? requestProblem(credential) : undefined),
  endpoints: ({ tokenUrl, revocationUrl }) => [tokenUrl, revocationUrl].filter((url) => typeof url === 'string'),
  peek(request, { credential, session }) {
    if (requestsToken(credential)) {
      const known = session.get<RequestedToken>(tokenKey(credential))?.value
      return known && authorized(withHeader(request, 'authorization', `Bearer ${known.value}`), known.expiresAt)
    }
    const value = atHand(credential) ? header(credential) : undefined
    return typeof value === 'string' ? authorized(withHeader(request, 'authorization', value)) : undefined
  },
  authorize,
}

/** True for a credential whose token is requested from an endpoint, not given. */
export function requestsToken({ tokenUrl }: Credential): boolean {
  return tokenUrl !== undefined
}

async function* authorize(request: HttpRequest, context: HttpContext): AuthFlow {
  if (!requestsToken(context.credential)) yield authorized(withHeader(request, 'authorization', await header(context.credential)))
  else yield* (await import('./token-request.ts')).requestedSteps(request, context)
}

function requestProblem(credential: Credential): AuthError | undefined {
  const { with: by, tokenParameters, method } = credential
  if (by === undefined && tokenParameters === undefined)
    return invalidField('tokenUrl', 'needs "with", a credential that authorizes the token request, or "tokenParameters"')
  if (method === 'GET' && tokenParameters !== undefined)
    return invalidField('method', 'must be POST or absent: a GET request has no body for "tokenParameters"')
  const place = ['tokenField', 'expiresField'].find((name) => typeof credential[name] === 'string' && !isPlaceInAnswer(credential[name]))
  return place === undefined ? undefined : invalidField(place, 'must be the name of a member or a JSON Pointer (RFC 6901)')
}

function header(credential: Credential): string | Promise<string> {
  return whenThere(accessToken(credential), (token) => `Bearer ${token}`)
}

/** A token as it is stored. */
export interface RequestedToken {
  readonly value: string
  /** Epoch milliseconds of the request. */
  readonly askedAt: number
  /** Epoch milliseconds; absent when unknown. */
  readonly expiresAt?: number
  /** SHA-256, in hex, of what identifies the user. */
  readonly user: string
}

/** Returns the session key with everything that a token depends on; the session adds the credential's id. */
export function tokenKey({ tokenUrl, with: by, tokenField }: Credential): string {
  return JSON.stringify(['requested token', tokenUrl, by, tokenField])
}
