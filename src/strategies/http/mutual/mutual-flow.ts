/**
 * Mutual authentication (RFC 8120 with the algorithm of RFC 8121): a key is agreed on that only those who know the password can
 * have, so nothing that travels lets it be guessed, and the server has to prove that it knows it as well.
 */
import { type AuthFlow, authorized, handshake, type Leg } from '../../../auth/flow.ts'
import { base64 } from '../../../crypto/base64.ts'
import { bytesOf } from '../../../crypto/octets.ts'
import { sameBytes } from '../../../crypto/same-bytes.ts'
import { saslprep } from '../../../crypto/saslprep.ts'
import { type AuthParam, authParams } from '../../../http/auth-params.ts'
import { parseAuthenticationInfo } from '../../../http/challenge.ts'
import { type HttpRequest, type HttpResponse, percentEncoded, withHeader } from '../../../http/message.ts'
import { type Account, accountOf } from '../account.ts'
import { challengesFor } from '../offered.ts'
import { refused } from '../refused.ts'
import { unproven } from '../unproven.ts'
import type { HttpContext } from '../word.ts'
import { defaultScope } from './auth-scope.ts'
import { ALGORITHM, clientProof, groupBytes, passwordNumber, serverProof, sharedSecret, startExchange } from './kam3.ts'
import { exchangeOf, fixedNumber, type MutualRealm, realmOf, reasonOf } from './mutual-challenge.ts'
import { MutualSession, MutualSessions } from './mutual-session.ts'

type Attempt = AsyncGenerator<Leg, HttpResponse, HttpResponse>

/** RFC 8120 §10: a session is used if there is one; when it is refused, or there is none, keys are exchanged once. */
export async function* mutualFlow(request: HttpRequest, context: HttpContext): AuthFlow {
  const { clock } = context
  const account = await accountOf(context.credential, prepared)
  const sessions = await sessionsOf(request, account, context)
  const known = sessions.covering(request.url, clock.now())
  let response = known ? yield* verify(request, known, sessions, context) : yield handshake(request)
  if (response.status !== 401) return
  let realm = realmOf(challengesFor(response, 'Mutual', context), response, context.credential)
  const begun = sessions.of(realm, clock.now())
  if (begun) {
    response = yield* verify(request, begun, sessions, context)
    if (response.status !== 401) return
    realm = realmOf(challengesFor(response, 'Mutual', context), response, context.credential)
  }
  const session = yield* exchange(request, realm, account, context)
  if (!session) return
  sessions.keep(session)
  response = yield* verify(request, session, sessions, context)
  if (response.status === 401) throw refused(response, context, reasonOf(response))
}

/** Agrees on a key (req-KEX-C1, 401-KEX-S1); undefined when the server has other troubles. Errors: `AUTH_REJECTED`. */
async function* exchange(
  request: HttpRequest,
  realm: MutualRealm,
  { user, password }: Account,
  context: HttpContext,
): AsyncGenerator<Leg, MutualSession | undefined, HttpResponse> {
  const { credential, clock, random } = context
  const client = startExchange(random)
  const params: readonly AuthParam[] = [userParam(user), ['kc1', base64(groupBytes(client.value)), 'quoted']]
  const response = yield handshake(answering(request, realm, params))
  if (response.status >= 500) return undefined
  if (response.status !== 401) throw refusedOrUnproven(response, context, 'skips the proof')
  const server = exchangeOf(response, realm, credential)
  if (!server) throw refused(response, context, reasonOf(response))
  const place = { scope: realm.scope ?? defaultScope(request.url), realm: bytesOf(realm.realm), user }
  const shared = await sharedSecret(client, server.value, await passwordNumber(password, place))
  return new MutualSession(realm, server, shared, { url: request.url, now: clock.now() })
}

/** Proves that we know the key (req-VFY-C) and has the server do the same (200-VFY-S); what is refused is forgotten. */
async function* verify(request: HttpRequest, session: MutualSession, sessions: MutualSessions, context: HttpContext): Attempt {
  const nc = session.take()
  const host = hostOf(request.url)
  const vkc = base64(await clientProof(session.shared, nc, host))
  const params: readonly AuthParam[] = [
    ['sid', session.sid, 'token'],
    ['nc', String(nc), 'token'],
    ['vkc', vkc, 'quoted'],
  ]
  const response = yield authorized(answering(request, session.realm, params), session.expiresAt)
  if (response.status === 401) sessions.forget(session)
  else checkServer(response, context, session, await serverProof(session.shared, nc, host))
  return response
}

/** Only a server in trouble may leave out the proof (RFC 8120 §10.1). Errors: `AUTH_SERVER_UNPROVEN`, `AUTH_REJECTED`. */
function checkServer(response: HttpResponse, context: HttpContext, { sid }: MutualSession, expected: Uint8Array): void {
  const line = response.headers.get('authentication-info')
  if (line === null && response.status >= 500) return
  if (line === null) throw refusedOrUnproven(response, context, 'does not prove that it knows the password')
  const info = parseAuthenticationInfo(line)
  const proof = fixedNumber(info.get('vks'), expected.length)
  const isOurs = info.get('version') === '1' && info.get('sid')?.toLowerCase() === sid.toLowerCase()
  if (isOurs && proof && sameBytes(proof, expected)) return
  throw unproven(response, context, 'gives a wrong proof that it knows the password')
}

/** Another refusal than 401 can have a challenge as well, which says why (§4.1). */
function refusedOrUnproven(response: HttpResponse, context: HttpContext, what: string) {
  const reason = response.status >= 400 ? reasonOf(response) : undefined
  return reason === undefined ? unproven(response, context, what) : refused(response, context, reason)
}

/** The request with what every message has besides. */
function answering(request: HttpRequest, { scope, realm }: MutualRealm, params: readonly AuthParam[]): HttpRequest {
  const common: readonly AuthParam[] = [
    ['version', '1', 'token'],
    ['algorithm', ALGORITHM, 'token'],
    ['validation', 'host', 'token'],
    ...(scope === undefined ? [] : [['auth-scope', scope, 'quoted'] as const]),
    ['realm', realm, 'quoted'],
  ]
  return withHeader(request, 'authorization', `Mutual ${authParams([...common, ...params])}`)
}

/** §3.1: text outside US-ASCII as RFC 8187 encodes it. */
function userParam(user: string): AuthParam {
  return /^[\x20-\x7e]*$/.test(user) ? ['user', user, 'quoted'] : ['user*', `UTF-8''${percentEncoded(user)}`, 'token']
}

/** `vh` of the validation by host (§7): the port is always there. */
function hostOf(url: string): string {
  const { protocol, hostname, port } = new URL(url)
  return `${protocol}//${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}

/**
 * §9 names the profiles of RFC 7613, servers may know SASLprep: text is taken only if both leave the same of it, as they do
 * with all but exotic characters.
 */
function prepared(text: string): string | undefined {
  const opaque = text.replace(/\p{Zs}/gu, ' ').normalize('NFC')
  return saslprep(text) === opaque ? opaque : undefined
}

async function sessionsOf({ url }: HttpRequest, { user }: Account, { session }: HttpContext): Promise<MutualSessions> {
  const entry = await session.resolve(`mutual ${new URL(url).origin} ${user}`, async () => ({ value: new MutualSessions() }))
  return entry.value
}
