import { platform } from '#platform'
import { type AuthFlow, authorized } from '../../auth/strategy.ts'
import { CredentialError, isAuthError } from '../../errors.ts'
import { challengesOf } from '../../http/challenge.ts'
import { type HttpRequest, type HttpResponse, withHeader } from '../../http/message.ts'
import { originOf } from '../../http/url.ts'
import type { SecurityContext, SecurityRequest } from '../../platform/platform.ts'
import { challengesFor, refused, unanswerable, unproven } from './challenge-response.ts'
import type { HttpContext } from './http-strategy.ts'

/**
 * Kerberos tickets over HTTP (RFC 4559, with SPNEGO of RFC 4178): tokens are exchanged over one connection, and the
 * server has to prove its identity.
 */

/** Kerberos needs one, SPNEGO a few more when the two sides do not agree at first. */
const MAX_TOKENS = 7

/** Exchanges tokens over one connection until both sides accept (RFC 4178 §3.2). */
export async function* negotiateFlow(request: HttpRequest, context: HttpContext): AuthFlow {
  const connection = await context.connect(request.url)
  try {
    const security = await platform.securityContext(wanted(request, context))
    let token = await security.step()
    for (let sent = 1; token !== undefined; sent++) {
      if (sent > MAX_TOKENS) {
        const { id } = context.credential
        const message = `${originOf(request.url)} did not finish Negotiate with "${id}": the limit is ${MAX_TOKENS} tokens`
        throw new CredentialError('AUTH_REJECTED', message, { url: request.url, credential: id })
      }
      const response = yield { ...authorized(carrying(request, token, context)), connection }
      token = response.status === 401 ? await nextToken(response, security, context, sent) : undefined
      if (response.status !== 401) await checkServer(response, security, context, sent)
    }
  } finally {
    connection.close()
  }
}

/** Uses the host of the URL: resolving another name would let the name server choose the service. */
function wanted({ url }: HttpRequest, { credential: { id, principal, delegate }, signal }: HttpContext): SecurityRequest {
  const service = `HTTP@${new URL(url).hostname.replace(/^\[|\]$/g, '')}`
  return {
    id,
    service,
    ...(signal && { signal }),
    ...(typeof principal === 'string' && { principal }),
    ...(delegate === true && { delegate }),
  }
}

/** Refuses NTLM, which systems put into Negotiate without a ticket: it does not authenticate the server and can be guessed offline. */
function carrying(request: HttpRequest, token: string, { credential: { id } }: HttpContext): HttpRequest {
  if (!isNtlm(atob(token))) return withHeader(request, 'authorization', `Negotiate ${token}`)
  const message = `there is no Kerberos ticket for ${originOf(request.url)}, and NTLM is not used instead`
  throw new CredentialError('LOGIN_REQUIRED', message, { credential: id, url: request.url, hint: 'kinit' })
}

/** Returns the answer to a 401. Errors: `AUTH_REJECTED`, `AUTH_CHALLENGE_UNSUPPORTED`, those of the steps. */
async function nextToken(response: HttpResponse, security: SecurityContext, context: HttpContext, sent: number): Promise<string> {
  const isAsked = response.headers.get('www-authenticate') !== null
  // A server that refuses immediately may require another scheme.
  if (sent === 1 && isAsked) challengesFor(response, 'Negotiate', context)
  const theirs = tokenOf(response)
  if (theirs === undefined) throw refused(response, context, undefined, HINT)
  const bytes = decoded(theirs)
  if (bytes === undefined) throw unanswerable(response, context, 'its token is not base64')
  if (isNtlm(bytes)) throw unanswerable(response, context, 'it requires NTLM, which is unsupported')
  // Some refuse with a token of their own, which ends the exchange.
  const ours = await replyTo(btoa(bytes), security)
  if (!ours?.token) throw refused(response, context, undefined, HINT)
  return ours.token
}

/** Returns the reply to a token; undefined when the token does not belong to this exchange. Errors: those of the steps. */
async function replyTo(token: string, security: SecurityContext): Promise<{ readonly token: string | undefined } | undefined> {
  try {
    return { token: await security.step(token) }
  } catch (error) {
    if (isAuthError(error) && error.code === 'AUTH_SERVER_UNPROVEN') return undefined
    throw error
  }
}

const HINT = 'check that the account has access and that the service key matches the ticket: run kinit again'

/**
 * Checks the server's last token, which comes with the response (RFC 4559 §5). It may be missing when an earlier one was the proof, and
 * in responses without content. Errors: `AUTH_SERVER_UNPROVEN`.
 */
async function checkServer(response: HttpResponse, security: SecurityContext, context: HttpContext, sent: number): Promise<void> {
  const theirs = tokenOf(response)
  if (theirs === undefined && (response.status >= 400 || (sent > 1 && security.isComplete))) return
  if (theirs === undefined) throw unproven(response, context, 'does not prove that it is the service of that name')
  const bytes = decoded(theirs) ?? ''
  const last = bytes === '' || isNtlm(bytes) ? undefined : await replyTo(btoa(bytes), security)
  if (last && last.token === undefined && security.isComplete) return
  throw unproven(response, context, 'sends a wrong proof that it is the service of that name')
}

/** Returns the server's token as written. */
function tokenOf(response: HttpResponse): string | undefined {
  return challengesOf(response, 'negotiate').find(({ token68 }) => token68 !== undefined)?.token68
}

function isNtlm(bytes: string): boolean {
  return bytes.includes('NTLMSSP\0')
}

function decoded(token: string): string | undefined {
  try {
    return atob(token)
  } catch {
    return undefined
  }
}
