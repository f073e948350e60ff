import type { Credential } from '../../../auth/credential.ts'
import { type AuthFlow, authorized, handshake, type Leg } from '../../../auth/flow.ts'
import type { Secret } from '../../../auth/secret.ts'
import { octets } from '../../../crypto/octets.ts'
import { ProtocolError } from '../../../errors.ts'
import { parseAuthenticationInfo, parseChallenges } from '../../../http/challenge.ts'
import { type HttpRequest, type HttpResponse, withHeader } from '../../../http/message.ts'
import { originOf } from '../../../http/network-error.ts'
import { reveal, unfit } from '../../reveal.ts'
import { challengesFor } from '../offered.ts'
import { unanswerable } from '../unanswerable.ts'
import type { HttpContext } from '../word.ts'
import { type Account, type Answer, answer } from './answer.ts'
import { strongest } from './digest-challenge.ts'
import { type ProtectionSpace, ProtectionSpaces } from './protection-space.ts'

/** Answers challenges, and the next requests of a protection space without one (RFC 7616 §3). */
export async function* digestFlow(request: HttpRequest, context: HttpContext): AuthFlow {
  const account = await accountOf(context.credential)
  const spaces = await spacesOf(request, account, context)
  let space = spaces.covering(request.url)
  let response = space ? yield* attempt(request, space, account, context) : yield handshake(request)
  for (let answers = 0; isAskedAgain(response, answers); answers++) {
    const challenge = strongest(challengesFor(response, 'Digest', context), response, context.credential)
    if (spaces.isWeaker(challenge)) throw unanswerable(response, context.credential, `it asked for more than ${challenge.hash} before`)
    space = spaces.keep(challenge, request.url)
    response = yield* attempt(request, space, account, context)
  }
  if (space && response.status === 401) spaces.forget(space)
}

/** The answer to the space's nonce; what comes back is checked before anybody sees it. */
async function* attempt(
  request: HttpRequest,
  space: ProtectionSpace,
  account: Account,
  context: HttpContext,
): AsyncGenerator<Leg, HttpResponse, HttpResponse> {
  const sent = await answer(request, space.challenge, account, space.take(context.random))
  const response = yield authorized(withHeader(request, 'authorization', sent.header))
  if (response.status === 401) return response
  const info = parseAuthenticationInfo(response.headers.get('authentication-info') ?? '')
  await checkProof(info.get('rspauth'), sent, response, context)
  const nonce = info.get('nextnonce')
  if (nonce) space.renew(nonce)
  return response
}

/** A new challenge is answered once; a second time only when the nonce was just too old (RFC 7616 §3.3, `stale`). */
function isAskedAgain(response: HttpResponse, answers: number): boolean {
  if (response.status !== 401 || answers > 1) return false
  return answers === 0 || isStale(response)
}

function isStale({ headers }: HttpResponse): boolean {
  const { challenges } = parseChallenges(headers.get('www-authenticate') ?? '')
  return challenges.some(({ scheme, params }) => scheme.toLowerCase() === 'digest' && params.get('stale')?.toLowerCase() === 'true')
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

async function accountOf(credential: Credential): Promise<Account> {
  const name = (await reveal(credential.username as Secret, 'username', credential)).normalize('NFC')
  const password = (await reveal(credential.password as Secret, 'password', credential)).normalize('NFC')
  if (name.includes(':')) throw unfit('username', credential.id, 'has a colon in it, which Digest cannot send')
  if (/[\u0000-\u001f\u007f]/.test(name + password)) throw unfit('username or password', credential.id, 'has a control character in it')
  return { name, username: octets(name), password: octets(password) }
}

async function spacesOf({ url }: HttpRequest, { name }: Account, { session }: HttpContext): Promise<ProtectionSpaces> {
  const entry = await session.resolve(`digest ${new URL(url).origin} ${name}`, async () => ({ value: new ProtectionSpaces() }))
  return entry.value
}
