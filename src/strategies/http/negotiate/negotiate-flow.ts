/**
 * Kerberos tickets over HTTP (RFC 4559, with SPNEGO of RFC 4178): tokens go back and forth over one connection, and the
 * server has to prove itself as well.
 */
import { platform } from '#platform'
import { type AuthFlow, authorized } from '../../../auth/flow.ts'
import { ChallengeError, CredentialError, isAuthError, ProtocolError } from '../../../errors.ts'
import { parseChallenges } from '../../../http/challenge.ts'
import { type HttpRequest, type HttpResponse, withHeader } from '../../../http/message.ts'
import { originOf } from '../../../http/network-error.ts'
import type { SecurityContext, SecurityRequest } from '../../../platform/platform.ts'
import { challengesFor, refused } from '../challenge-response.ts'
import type { HttpContext } from '../scheme.ts'

/** Kerberos needs one, SPNEGO a few more when the two sides do not agree at once. */
const MAX_TOKENS = 7

/** Tokens over one connection until both sides are content (RFC 4178 §3.2). */
export async function* negotiateFlow(request: HttpRequest, context: HttpContext): AuthFlow {
  const connection = await context.connect(request.url)
  try {
    const security = await platform.securityContext(wanted(request, context))
    let token = await security.step()
    for (let sent = 1; token !== undefined; sent++) {
      if (sent > MAX_TOKENS) throw endless(request, context)
      const response = yield { ...authorized(carrying(request, token, context)), connection }
      token = response.status === 401 ? await nextToken(response, security, context, sent) : undefined
      if (response.status !== 401) await checkServer(response, security, context, sent)
    }
  } finally {
    connection.close()
  }
}

/** The host is that of the address: asking a name server for another one would let it choose the service. */
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

/** NTLM, which systems put into Negotiate when they have no ticket, proves no server and can be guessed offline: it is never sent. */
function carrying(request: HttpRequest, token: string, { credential: { id } }: HttpContext): HttpRequest {
  if (!isNtlm(atob(token))) return withHeader(request, 'authorization', `Negotiate ${token}`)
  const message = `there is no Kerberos ticket for ${originOf(request.url)}, and NTLM is not used instead`
  throw new CredentialError('LOGIN_REQUIRED', message, { credential: id, url: request.url, hint: 'kinit' })
}

/** What a 401 is answered with. Errors: `AUTH_REJECTED`, `AUTH_CHALLENGE_UNSUPPORTED`, those of the steps. */
async function nextToken(response: HttpResponse, security: SecurityContext, context: HttpContext, sent: number): Promise<string> {
  const isAsked = response.headers.get('www-authenticate') !== null
  // A server that refuses at once may have wanted something else altogether.
  if (sent === 1 && isAsked) challengesFor(response, 'Negotiate', context)
  const theirs = tokenOf(response)
  if (theirs === undefined) throw refused(response, context, undefined, HINT)
  const bytes = decoded(theirs)
  if (bytes === undefined) throw unanswerable(response, context, 'its token is no base64')
  if (isNtlm(bytes)) throw unanswerable(response, context, 'it wants NTLM, which is not used')
  // Some say no in a token of their own, which ends the exchange.
  const ours = await replyTo(btoa(bytes), security)
  if (!ours?.token) throw refused(response, context, undefined, HINT)
  return ours.token
}

/** What our side says to a token; undefined when it is none of this exchange's. Errors: those of the steps. */
async function replyTo(token: string, security: SecurityContext): Promise<{ readonly token: string | undefined } | undefined> {
  try {
    return { token: await security.step(token) }
  } catch (error) {
    if (isAuthError(error) && error.code === 'AUTH_SERVER_UNPROVEN') return undefined
    throw error
  }
}

const HINT = 'the account may have no rights there, or the service another key than the ticket is for: kinit again'

/**
 * RFC 4559 §5: the last token comes with the answer. It may be missing when an earlier one was the proof, and in an answer that
 * gives nothing. Errors: `AUTH_SERVER_UNPROVEN`.
 */
async function checkServer(response: HttpResponse, security: SecurityContext, context: HttpContext, sent: number): Promise<void> {
  const theirs = tokenOf(response)
  if (theirs === undefined && (response.status >= 400 || (sent > 1 && security.isComplete))) return
  if (theirs === undefined) throw unproven(response, context, 'does not prove that it is the service of that name')
  const bytes = decoded(theirs) ?? ''
  const last = bytes === '' || isNtlm(bytes) ? undefined : await replyTo(btoa(bytes), security)
  if (last && last.token === undefined && security.isComplete) return
  throw unproven(response, context, 'gives a wrong proof that it is the service of that name')
}

/** The server's token, as it is written. */
function tokenOf({ headers }: HttpResponse): string | undefined {
  const { challenges } = parseChallenges(headers.get('www-authenticate') ?? '')
  return challenges.find(({ scheme, token68 }) => scheme.toLowerCase() === 'negotiate' && token68 !== undefined)?.token68
}

function unanswerable({ url, status }: HttpResponse, { credential: { id } }: HttpContext, problem: string): ChallengeError {
  const message = `the Negotiate challenge of ${originOf(url)} cannot be answered: ${problem}`
  return new ChallengeError('AUTH_CHALLENGE_UNSUPPORTED', message, { url, status, credential: id })
}

function unproven({ url, status }: HttpResponse, { credential: { id } }: HttpContext, what: string): ProtocolError {
  const hint = 'it may be another server than you think, or ask for no Negotiate at that address: its answer was thrown away'
  return new ProtocolError('AUTH_SERVER_UNPROVEN', `${originOf(url)} ${what}`, { url, status, credential: id, hint })
}

function endless({ url }: HttpRequest, { credential: { id } }: HttpContext): CredentialError {
  const message = `${originOf(url)} got ${MAX_TOKENS} tokens of "${id}" and wanted another one`
  return new CredentialError('AUTH_REJECTED', message, { url, credential: id })
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
