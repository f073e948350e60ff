import type { Credential } from '../../../auth/credential.ts'
import { type AuthFlow, authorized, handshake, type Leg } from '../../../auth/flow.ts'
import type { Secret } from '../../../auth/secret.ts'
import { octets } from '../../../crypto/octets.ts'
import { ProtocolError } from '../../../errors.ts'
import { parseAuthenticationInfo, parseChallenges } from '../../../http/challenge.ts'
import { type HttpRequest, type HttpResponse, withHeader } from '../../../http/message.ts'
import { originOf } from '../../../http/network-error.ts'
import { reveal, unfit } from '../../reveal.ts'
import { hasLatin1Form } from '../account.ts'
import { challengesFor } from '../offered.ts'
import { unanswerable } from '../unanswerable.ts'
import type { HttpContext } from '../word.ts'
import { type Account, type Answer, answer } from './answer.ts'
import { strongest } from './digest-challenge.ts'
import { type ProtectionSpace, ProtectionSpaces, type Stay, type Turn } from './protection-space.ts'

/** An account in each encoding that a server may mean. */
type Accounts = { readonly 'UTF-8': Account; readonly 'ISO-8859-1'?: Account }

/** Why a refusal is answered; each reason counts once for a request. */
type Reason = 'challenge' | 'stale' | 'alone' | 'charset'

interface Attempt {
  readonly space: ProtectionSpace
  readonly turn: Turn
  readonly response: HttpResponse
}

/** What the answers to one request have in common. */
interface Login {
  readonly request: HttpRequest
  readonly context: HttpContext
  readonly accounts: Accounts
  readonly spaces: ProtectionSpaces
  readonly tried: Set<Reason>
}

/** Answers challenges, and the next requests of a protection space without one (RFC 7616 §3). */
export async function* digestFlow(request: HttpRequest, context: HttpContext): AuthFlow {
  const accounts = await accountsOf(context.credential)
  const spaces = await spacesOf(request, accounts['UTF-8'], context)
  const login: Login = { request, context, accounts, spaces, tried: new Set() }
  let stay = await spaces.lock.enter(spaces.isOrdered, context.signal)
  try {
    const known = spaces.covering(request.url)
    let last = known && (yield* attempt(login, known))
    let response = last?.response ?? (yield handshake(request))
    for (let why = reasonToAnswer(login, stay, response, last); why; why = reasonToAnswer(login, stay, response, last)) {
      login.tried.add(why)
      if (why === 'alone') {
        const { refusals } = spaces
        if (!stay.isAlone) {
          stay.leave()
          stay = await spaces.lock.enter(true, context.signal)
        }
        if (spaces.refusals !== refusals) return
        response = yield handshake(request)
        if (response.status !== 401) return
      }
      last = yield* attempt(login, spaceOf(login, response))
      response = last.response
    }
    if (last && response.status === 401) refuse(login, stay, last)
    else if (login.tried.has('alone')) spaces.isOrdered = true
  } finally {
    stay.leave()
  }
}

function spaceOf({ request, context, spaces }: Login, response: HttpResponse): ProtectionSpace {
  const challenge = strongest(challengesFor(response, 'Digest', context), response, context.credential)
  if (spaces.isWeaker(challenge)) throw unanswerable(response, context.credential, `it asked for more than ${challenge.hash} before`)
  return spaces.keep(challenge, request.url)
}

function refuse({ spaces }: Login, stay: Stay, { space }: Attempt): void {
  if (stay.isAlone) spaces.refusals++
  spaces.forget(space)
}

/** The answer to the space's nonce; what comes back is checked before anybody sees it. */
async function* attempt(
  { request, context, accounts, spaces, tried }: Login,
  space: ProtectionSpace,
): AsyncGenerator<Leg, Attempt, HttpResponse> {
  const { isUtf8 } = space.challenge
  const charset = isUtf8 ? 'UTF-8' : (spaces.charset ?? (tried.has('charset') ? 'ISO-8859-1' : 'UTF-8'))
  const turn = space.take(context.random)
  const sent = await answer(request, space.challenge, accounts[charset] ?? accounts['UTF-8'], turn)
  const response = yield authorized(withHeader(request, 'authorization', sent.header))
  if (response.status !== 401) {
    const info = parseAuthenticationInfo(response.headers.get('authentication-info') ?? '')
    await checkProof(info.get('rspauth'), sent, response, context)
    if (!isUtf8 && response.status < 400) spaces.charset = charset
    const nonce = info.get('nextnonce')
    if (nonce) space.renew(nonce)
  }
  return { space, turn, response }
}

/**
 * A challenge is answered once, and once more
 * - where the nonce was too old (RFC 7616 §3.3, `stale`);
 * - alone, where other requests may be why it was refused: servers see a count for a second time or in another order, or have
 *   given the place of the nonce to the next one, and not all of them say `stale`;
 * - where the server may mean the other encoding of the account (§4).
 *
 * Anything else is a refusal of the account, which is not tried again: servers lock accounts.
 */
function reasonToAnswer(
  { accounts, spaces, tried }: Login,
  stay: Stay,
  response: HttpResponse,
  last: Attempt | undefined,
): Reason | undefined {
  if (response.status !== 401) return undefined
  if (!last || !tried.has('challenge')) return 'challenge'
  const stale = paramsOf(response, 'stale').some((value) => value.toLowerCase() === 'true')
  if (stale && !tried.has('stale')) return 'stale'
  const { space, turn } = last
  const isDisturbed = !stay.isAlone && (stay.wasCrowded || spaces.isShared(space, turn))
  if (!tried.has('alone') && (isDisturbed || paramsOf(response, 'nonce').includes(turn.nonce))) return 'alone'
  const isSettled = stale || space.challenge.isUtf8 || spaces.charset !== undefined || !accounts['ISO-8859-1']
  return isSettled || tried.has('charset') ? undefined : 'charset'
}

/** The values of a parameter in the challenges of this scheme. */
function paramsOf({ headers }: HttpResponse, name: string): readonly string[] {
  const { challenges } = parseChallenges(headers.get('www-authenticate') ?? '')
  return challenges.filter(({ scheme }) => scheme.toLowerCase() === 'digest').flatMap(({ params }) => params.get(name) ?? [])
}

/** RFC 7616 §3.5: a server that proves itself must do it right; one that does not may be refused. */
async function checkProof(proof: string | undefined, sent: Answer, response: HttpResponse, { credential }: HttpContext): Promise<void> {
  const isRight = proof === undefined || !sent.proof ? undefined : proof.toLowerCase() === (await sent.proof())
  if (isRight === false) throw unproven(response, credential, 'could not prove')
  if (isRight === undefined && credential.requireServerProof && response.status < 400) throw unproven(response, credential, 'did not prove')
}

function unproven({ url, status }: HttpResponse, { id }: Credential, what: string): ProtocolError {
  const message = `${originOf(url)} ${what} that it knows the password of "${id}"; its answer is dropped`
  return new ProtocolError('AUTH_SERVER_UNPROVEN', message, { url, status, credential: id })
}

async function accountsOf(credential: Credential): Promise<Accounts> {
  const name = (await reveal(credential.username as Secret, 'username', credential)).normalize('NFC')
  const password = (await reveal(credential.password as Secret, 'password', credential)).normalize('NFC')
  if (name.includes(':')) throw unfit('username', credential.id, 'has a colon in it, which Digest cannot send')
  if (/[\u0000-\u001f\u007f]/.test(name + password)) throw unfit('username or password', credential.id, 'has a control character in it')
  return {
    'UTF-8': { name, username: octets(name), password: octets(password) },
    // A byte string of ISO-8859-1 is the text itself.
    ...(hasLatin1Form(name + password) && { 'ISO-8859-1': { name, username: name, password } }),
  }
}

async function spacesOf({ url }: HttpRequest, { name }: Account, { session }: HttpContext): Promise<ProtectionSpaces> {
  const entry = await session.resolve(`digest ${new URL(url).origin} ${name}`, async () => ({ value: new ProtectionSpaces() }))
  return entry.value
}
