import { platform } from '#platform'
import { hex } from '../../../crypto/hex.ts'
import { bytesOf } from '../../../crypto/octets.ts'
import { type AuthParam, authParams } from '../../../http/auth-params.ts'
import { type HttpRequest, percentEncoded } from '../../../http/message.ts'
import type { HashName } from '../../../platform/platform.ts'
import type { DigestChallenge } from './digest-challenge.ts'
import type { Turn } from './protection-space.ts'

/** Name and password as byte strings of one charset, and the name as text. */
export interface Account {
  readonly name: string
  readonly username: string
  readonly password: string
}

/** The value of `Authorization`, and what the server proves itself with. */
export interface Answer {
  readonly header: string
  /** `rspauth`; undefined when it cannot be told without the body of the answer (`auth-int`) or is not defined (RFC 2069). */
  readonly proof: (() => Promise<string>) | undefined
}

/** Computes the answer to a challenge (RFC 7616 §3.4; without `qop` as RFC 2069 §2.1.2). Errors: `AUTH_CHALLENGE_UNSUPPORTED`. */
export async function answer(request: HttpRequest, challenge: DigestChallenge, account: Account, turn: Turn): Promise<Answer> {
  const { hash: name, qop } = challenge
  const { pathname, search } = new URL(request.url)
  const uri = pathname + search
  const secret = await secretOf(challenge, account, turn)
  const response = async (action: string) => {
    const uses = qop ? [turn.nonce, turn.nc, turn.cnonce, qop] : [turn.nonce]
    return hash(name, [secret, ...uses, await hash(name, action)].join(':'))
  }
  const body = qop === 'auth-int' ? `:${await bodyHash(name, request)}` : ''
  const header = authParams([
    ...(await userParams(challenge, account)),
    ['realm', challenge.realm, 'quoted'],
    ['uri', uri, 'quoted'],
    ...given('algorithm', challenge.algorithm, 'token'),
    ['nonce', turn.nonce, 'quoted'],
    ...(qop ? useParams(qop, turn) : []),
    ['response', await response(`${request.method}:${uri}${body}`), 'quoted'],
    ...given('opaque', challenge.opaque, 'quoted'),
  ])
  return { header: `Digest ${header}`, proof: qop === 'auth' ? () => response(`:${uri}`) : undefined }
}

/** H(A1) of §3.4.2. */
async function secretOf(
  { hash: name, realm, isSession }: DigestChallenge,
  { username, password }: Account,
  { session }: Turn,
): Promise<string> {
  const secret = await hash(name, `${username}:${realm}:${password}`)
  return isSession ? hash(name, `${secret}:${session.nonce}:${session.cnonce}`) : secret
}

/**
 * §3.4, §3.4.4: hidden where the server wants it so; else text outside US-ASCII as RFC 8187 encodes it. Servers of RFC 2617 read the
 * octets as they are and know no `username*`: they have MD5 only, and name no charset.
 */
async function userParams({ userhash, hash: name, realm, isUtf8 }: DigestChallenge, account: Account): Promise<readonly AuthParam[]> {
  if (userhash) {
    return [
      ['username', await hash(name, `${account.username}:${realm}`), 'quoted'],
      ['userhash', 'true', 'token'],
    ]
  }
  const isPlain = /^[\x20-\x7e]*$/.test(account.name) || account.username === account.name || (name === 'MD5' && !isUtf8)
  if (isPlain) return [['username', account.username, 'quoted']]
  return [['username*', `UTF-8''${percentEncoded(account.name)}`, 'token']]
}

function useParams(qop: string, { nc, cnonce }: Turn): readonly AuthParam[] {
  return [
    ['qop', qop, 'token'],
    ['nc', nc, 'token'],
    ['cnonce', cnonce, 'quoted'],
  ]
}

function given(name: string, value: string | undefined, form: AuthParam[2]): readonly AuthParam[] {
  return value === undefined ? [] : [[name, value, form]]
}

async function hash(name: HashName, octets: string): Promise<string> {
  return hex(await platform.digest(name, bytesOf(octets)))
}

async function bodyHash(name: HashName, { body = '' }: HttpRequest): Promise<string> {
  return hex(await platform.digest(name, typeof body === 'string' ? new TextEncoder().encode(body) : body))
}
