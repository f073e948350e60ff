import { platform } from '#platform'
import type { Credential, Secret } from '../../auth/credential.ts'
import { CHECK_VALUE } from '../../auth/strategy.ts'
import { importPrivateKey, type PrivateKey, type SignatureAlgorithm } from '../../crypto/private-key.ts'
import { ChallengeError, CredentialError, ProtocolError, UnsupportedError } from '../../errors.ts'
import { type Challenge, type Challenges, parseChallenges } from '../../http/challenge.ts'
import type { HttpResponse } from '../../http/message.ts'
import { originOf } from '../../http/url.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { reveal, revealText, unfit } from '../credential-values.ts'
import type { HttpContext } from './http-strategy.ts'

/** Shared by HTTP authentication schemes that answer challenges. */

/**
 * Returns the challenges of that scheme in a response, in the server's order; none for any status but 401.
 * Errors: `AUTH_CHALLENGE_UNSUPPORTED` naming the schemes offered instead, `UNSUPPORTED_IN_BROWSER` when a page cannot read it.
 */
export function challengesFor(
  response: HttpResponse,
  scheme: string,
  { credential }: Pick<HttpContext, 'credential'>,
): readonly Challenge[] {
  if (response.status !== 401) return []
  const header = response.headers.get('www-authenticate')
  if (header === null && platform.hidesHeaders) throw hidden(response, scheme)
  const offered = parseChallenges(header ?? '')
  const wanted = offered.challenges.filter((challenge) => challenge.scheme.toLowerCase() === scheme.toLowerCase())
  if (wanted.length > 0) return wanted
  throw new ChallengeError(
    'AUTH_CHALLENGE_UNSUPPORTED',
    `${originOf(response.url)} does not offer ${scheme}, which credential "${credential.id}" is for: ${summary(offered)}`,
    { url: response.url, credential: credential.id, status: response.status, expected: scheme },
  )
}

/** How many schemes an error names, and the maximum length of each name and realm. */
const SHOWN = { schemes: 8, characters: 64 }

function summary({ challenges, problems }: Challenges): string {
  const names = challenges.slice(0, SHOWN.schemes).map(({ scheme, params }) => {
    const realm = params.get('realm')
    return realm === undefined ? short(scheme) : `${short(scheme)} (realm "${short(realm)}")`
  })
  const read = names.length > 0 ? `it offers ${names.join(', ')}` : 'it offers no readable challenge'
  return problems.length > 0 ? `${read}; ${problems[0]}` : read
}

function short(text: string): string {
  return text.length > SHOWN.characters ? `${text.slice(0, SHOWN.characters)}…` : text
}

function hidden({ url, status }: HttpResponse, scheme: string): UnsupportedError {
  return new UnsupportedError('UNSUPPORTED_IN_BROWSER', `the challenge of ${originOf(url)} cannot be read by this page`, {
    url,
    status,
    hint: `for ${scheme} the server must list WWW-Authenticate and Authentication-Info in Access-Control-Expose-Headers`,
  })
}

/** Returns `AUTH_REJECTED` with the scheme's own error code: other text of a server may repeat secrets. */
export function refused(
  { url, status }: HttpResponse,
  { credential: { id } }: HttpContext,
  word?: string,
  hint = CHECK_VALUE,
): CredentialError {
  const reason = word === undefined ? '' : ` (${word})`
  const message = `${originOf(url)} refused "${id}" with ${status}${reason}`
  return new CredentialError('AUTH_REJECTED', message, { credential: id, url, status, hint })
}

/** Returns `AUTH_CHALLENGE_UNSUPPORTED` for a challenge; `why` names a parameter and never its value. */
export function unanswerable(
  { url, status }: { readonly url: string; readonly status?: number },
  { credential: { id } }: Pick<HttpContext, 'credential'>,
  why: string,
): ChallengeError {
  const message = `the challenge of ${originOf(url)} cannot be answered with credential "${id}": ${why}`
  return new ChallengeError('AUTH_CHALLENGE_UNSUPPORTED', message, { url, status, credential: id })
}

/** Returns `AUTH_SERVER_UNPROVEN`: the server had to prove its identity; `what` continues the sentence after the server's name. */
export function unproven({ url, status }: HttpResponse, { credential }: HttpContext, what: string): ProtocolError {
  const hint = platform.hidesHeaders
    ? 'for web pages the server must list Authentication-Info in Access-Control-Expose-Headers'
    : 'it may not be the server you expect: its response was discarded'
  return new ProtocolError('AUTH_SERVER_UNPROVEN', `${originOf(url)} ${what}`, { url, status, credential: credential.id, hint })
}

/** What is known of a realm; its names are unique at the origin. */
interface Realm {
  readonly name: string
  /** Requests below these URLs are answered preemptively. */
  readonly roots: readonly string[]
}

/** Above the number of realms of any origin. */
const MAX_REALMS = 32

/** The realms of an origin for one user, the latest first. */
export class Realms<R extends Realm> {
  #realms: readonly R[] = []

  /** Returns the realm that a URL probably belongs to: the most specific one, or the latest. */
  covering(url: string): R | undefined {
    const [best] = this.#realms.map((realm) => ({ realm, length: closeness(realm.roots, url) })).sort((a, b) => b.length - a.length)
    return best && best.length >= 0 ? best.realm : undefined
  }

  of(name: string): R | undefined {
    return this.#realms.find((realm) => realm.name === name)
  }

  /** Replaces what was known of the realm. */
  keep(realm: R): R {
    this.#realms = [realm, ...this.#realms.filter(({ name }) => name !== realm.name)].slice(0, MAX_REALMS)
    return realm
  }

  forget(realm: R): void {
    this.#realms = this.#realms.filter((other) => other !== realm)
  }
}

/** Returns the length of the longest root that contains a URL; -1 when none does. */
function closeness(roots: readonly string[], url: string): number {
  const { origin, pathname } = new URL(url)
  const place = origin + pathname
  const covering = roots.filter((root) => place === root || place.startsWith(root.endsWith('/') ? root : `${root}/`))
  return Math.max(-1, ...covering.map((root) => root.length))
}

/**
 * Returns the roots in a list separated by blanks (`domain` of RFC 7616 §3.3, `path` of RFC 8120 §4.3); the whole origin when there is no
 * list. A challenge may narrow where its answer is sent preemptively; it never adds an origin.
 *
 * @param url where the challenge came from
 */
export function rootsOf(list: string | undefined, url: string): readonly string[] {
  const { origin } = new URL(url)
  const addresses = (list ?? '').split(/[\t ]+/).filter((address) => address !== '')
  if (addresses.length === 0) return [`${origin}/`]
  return addresses
    .flatMap((address) => (canParseUrl(address, url) ? [new URL(address, url)] : []))
    .flatMap((root) => (root.origin === origin ? [root.origin + root.pathname] : []))
}

/** Returns the origin, always with its port (RFC 7486 §2, RFC 8120 §7). */
export function originWithPort(url: string): string {
  const { protocol, hostname, port } = new URL(url)
  return `${protocol}//${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}

/**
 * Returns the prepared user name and password of a credential, before anything is sent. Errors: `CREDENTIAL_VALUE_INVALID` (also when
 * `prepare` returns undefined), `CREDENTIAL_SOURCE`.
 */
export async function accountOf(credential: Credential, prepare: (text: string) => string | undefined) {
  const read = async (field: string) => {
    const prepared = prepare(await reveal(credential[field] as Secret, field, credential))
    if (prepared === undefined) throw unfit(field, credential.id, 'contains characters that cannot be prepared for comparison')
    return prepared
  }
  const [user, password] = await Promise.all([read('username'), read('password')])
  return { user, password }
}

/**
 * Returns the key in the field `privateKey`, imported once for all requests. Errors: `CREDENTIAL_VALUE_INVALID` for an
 * unsupported key, `CREDENTIAL_SOURCE`. Errors never contain any part of the key.
 */
export async function signingKey({ credential, session }: HttpContext, algorithms: readonly SignatureAlgorithm[]): Promise<PrivateKey> {
  const text = await revealText(credential.privateKey as Secret, 'privateKey', credential)
  const { value } = await session.resolve(`private key ${await platform.sha256Hex(text)}`, async () => {
    const key = await importPrivateKey(text, algorithms)
    if ('problem' in key) throw unfit('privateKey', credential.id, key.problem)
    return { value: key }
  })
  return value
}
