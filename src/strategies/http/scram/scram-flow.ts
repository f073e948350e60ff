/**
 * Salted challenge response (RFC 7804 over RFC 5802 and RFC 7677): the password never travels, and the server has to prove
 * that it knows it as well.
 */
import { type AuthFlow, authorized, handshake } from '../../../auth/flow.ts'
import { base64 } from '../../../crypto/base64.ts'
import { octets } from '../../../crypto/octets.ts'
import { sameBytes } from '../../../crypto/same-bytes.ts'
import { saslprep } from '../../../crypto/saslprep.ts'
import { type AuthParam, authParams } from '../../../http/auth-params.ts'
import { type Challenge, parseAuthenticationInfo, parseChallenges } from '../../../http/challenge.ts'
import { type HttpRequest, type HttpResponse, withHeader } from '../../../http/message.ts'
import { originOf } from '../../../http/network-error.ts'
import { accountOf } from '../account.ts'
import { challengesFor } from '../offered.ts'
import { refused } from '../refused.ts'
import { unanswerable } from '../unanswerable.ts'
import { unproven } from '../unproven.ts'
import type { HttpContext } from '../word.ts'
import { clientProof, type ScramHash, scramKeys, serverSignature } from './keys.ts'
import { clientFinal, clientFirst, finalData, firstData, type ServerFirst, serverFinal, serverFirst } from './messages.ts'

/** 144 bits: 24 characters, none of them a comma. */
const NONCE_BYTES = 18

/** The exchange of RFC 5802 §3, over HTTP. */
export async function* scramFlow(request: HttpRequest, context: HttpContext, hash: ScramHash): AuthFlow {
  const mechanism = `SCRAM-${hash}`
  const { user, password } = await accountOf(context.credential, saslprep)
  const [challenge] = challengesFor(yield handshake(request), mechanism, context)
  if (!challenge) return
  const realm = realmOf(challenge)
  const nonce = base64(context.random(NONCE_BYTES))
  const first = clientFirst(user, nonce)
  const named: readonly AuthParam[] = realm === undefined ? [] : [['realm', realm, 'quoted']]
  const opened = yield handshake(answering(request, mechanism, [...named, ['data', firstData(first), 'token']]))
  const opening = openingOf(opened, mechanism, context, nonce)
  if (!opening) return

  const { sid, server } = opening
  const key = `scram ${JSON.stringify([originOf(request.url), realm, user, hash, base64(server.salt), server.iterations])}`
  const salted = async () => ({ value: await scramKeys(hash, password, server.salt, server.iterations) })
  const { value: keys } = await context.session.resolve(key, salted)
  const last = clientFinal(server.nonce)
  const messages = `${first},${server.text},${last}`
  const data = finalData(last, await clientProof(hash, keys, messages))
  const response = yield authorized(
    answering(request, mechanism, [
      ['sid', sid, 'token'],
      ['data', data, 'token'],
    ]),
  )
  if (response.status === 401) {
    context.session.invalidate(key, keys)
    throw refused(response, context, errorOf(messageOf(response, mechanism)))
  }
  checkServer(response, context, sid, await serverSignature(hash, keys, messages))
}

/** As header fields carry it, to be given back. */
function realmOf({ params }: Challenge): string | undefined {
  const realm = params.get('realm')
  return realm !== undefined && params.has('charset') ? octets(realm) : realm
}

function answering(request: HttpRequest, mechanism: string, params: readonly AuthParam[]): HttpRequest {
  return withHeader(request, 'authorization', `${mechanism} ${authParams(params)}`)
}

/** The server's half of the beginning; undefined when it has other troubles than the name. Errors: `AUTH_REJECTED`. */
function openingOf(
  response: HttpResponse,
  mechanism: string,
  context: HttpContext,
  nonce: string,
): { readonly sid: string; readonly server: ServerFirst } | undefined {
  if (response.status < 400) throw unproven(response, context, 'skips the proof')
  if (response.status !== 401) return undefined
  const params = messageOf(response, mechanism)
  if (!params || errorOf(params)) throw refused(response, context, errorOf(params))
  const sid = params.get('sid')
  const server = sid === undefined ? 'it has no "sid"' : serverFirst(params.get('data') ?? '', nonce)
  if (sid === undefined || typeof server === 'string') throw unanswerable(response, context.credential, String(server))
  return { sid, server }
}

type Params = ReadonlyMap<string, string>

/** The challenge that carries a message, if one does. */
function messageOf({ headers }: HttpResponse, mechanism: string): Params | undefined {
  const { challenges } = parseChallenges(headers.get('www-authenticate') ?? '')
  return challenges.find(({ scheme, params }) => scheme.toUpperCase() === mechanism && params.has('data'))?.params
}

/** The server's word for why not. */
function errorOf(params: Params | undefined): string | undefined {
  const final = serverFinal(params?.get('data') ?? '')
  return final && 'error' in final ? final.error : undefined
}

/** The proof may be missing only in an answer that gives nothing. Errors: `AUTH_SERVER_UNPROVEN`. */
function checkServer(response: HttpResponse, context: HttpContext, sid: string, expected: Uint8Array): void {
  const line = response.headers.get('authentication-info')
  if (line === null && response.status >= 400) return
  if (line === null) throw unproven(response, context, 'does not prove that it knows the password')
  const info = parseAuthenticationInfo(line)
  const final = serverFinal(info.get('data') ?? '')
  if (info.get('sid') === sid && final && 'signature' in final && sameBytes(final.signature, expected)) return
  throw unproven(response, context, 'gives a wrong proof that it knows the password')
}
