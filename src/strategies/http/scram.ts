import { type AuthFlow, authorized, handshake } from '../../auth/strategy.ts'
import { base64, fromBase64url, hmac, octets, sameBytes } from '../../crypto/encoding.ts'
import { saslprep } from '../../crypto/saslprep.ts'
import { type AuthParam, authParams, type Challenge, challengesOf, parseAuthenticationInfo } from '../../http/challenge.ts'
import { type HttpRequest, type HttpResponse, withHeader } from '../../http/message.ts'
import { originOf } from '../../http/url.ts'
import { accountOf, challengesFor, refused, unanswerable, unproven } from './challenge-response.ts'
import type { HttpContext } from './http-strategy.ts'

/**
 * Salted challenge response (RFC 7804 over RFC 5802 and RFC 7677): the password is never sent, and the server has to prove
 * that it knows it.
 */

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
  const first = `n=${user.replaceAll('=', '=3D').replaceAll(',', '=2C')},r=${nonce}`
  const named: readonly AuthParam[] = realm === undefined ? [] : [['realm', realm, 'quoted']]
  const opened = yield handshake(answering(request, mechanism, [...named, ['data', base64(utf8.encode(GS2_HEADER + first)), 'token']]))
  const opening = openingOf(opened, mechanism, context, nonce)
  if (!opening) return

  const { sid, server } = opening
  const key = `scram ${JSON.stringify([originOf(request.url), realm, user, hash, base64(server.salt), server.iterations])}`
  const salted = async () => ({ value: await scramKeys(hash, password, server.salt, server.iterations) })
  const { value: keys } = await context.session.resolve(key, salted)
  const last = `c=${base64(utf8.encode(GS2_HEADER))},r=${server.nonce}`
  const messages = `${first},${server.text},${last}`
  const data = base64(utf8.encode(`${last},p=${base64(await clientProof(hash, keys, messages))}`))
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
  checkServer(response, context, sid, await hmac(hash, keys.server, messages))
}

/** Returns the realm as written in the header, to be sent back. */
function realmOf({ params }: Challenge): string | undefined {
  const realm = params.get('realm')
  return realm !== undefined && params.has('charset') ? octets(realm) : realm
}

function answering(request: HttpRequest, mechanism: string, params: readonly AuthParam[]): HttpRequest {
  return withHeader(request, 'authorization', `${mechanism} ${authParams(params)}`)
}

/** Returns the server's first message; undefined when it fails for another reason. Errors: `AUTH_REJECTED`. */
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
  if (sid === undefined || typeof server === 'string') throw unanswerable(response, context, String(server))
  return { sid, server }
}

/** Returns the challenge that carries a message, if there is one. */
function messageOf(response: HttpResponse, mechanism: string): Challenge['params'] | undefined {
  return challengesOf(response, mechanism.toLowerCase()).find(({ params }) => params.has('data'))?.params
}

/** Returns the server's error code. */
function errorOf(params: Challenge['params'] | undefined): string | undefined {
  const final = serverFinal(params?.get('data') ?? '')
  return final && 'error' in final ? final.error : undefined
}

/** Checks the proof, which may be missing only in responses without content. Errors: `AUTH_SERVER_UNPROVEN`. */
function checkServer(response: HttpResponse, context: HttpContext, sid: string, expected: Uint8Array): void {
  const line = response.headers.get('authentication-info')
  if (line === null && response.status >= 400) return
  if (line === null) throw unproven(response, context, 'does not prove that it knows the password')
  const info = parseAuthenticationInfo(line)
  const final = serverFinal(info.get('data') ?? '')
  if (info.get('sid') === sid && final && 'signature' in final && sameBytes(final.signature, expected)) return
  throw unproven(response, context, 'sends a wrong proof that it knows the password')
}

/** The server's first message. */
interface ServerFirst {
  readonly text: string
  /** The client's nonce, continued by the server. */
  readonly nonce: string
  readonly salt: Uint8Array
  readonly iterations: number
}

/** The server's last message: its proof, or an error code. */
type ServerFinal = { readonly signature: Uint8Array } | { readonly error: string }

/** No channel binding, which HTTP does not have, and no authorization identity. */
const GS2_HEADER = 'n,,'

/** Fewer are too cheap to guess (RFC 7677 §4), more are a denial of service against the client. */
const ITERATIONS = { least: 4096, most: 1_000_000 }

/** Error codes of RFC 5802 §7; unknown ones are treated as the last. */
const ERRORS = [
  'invalid-encoding',
  'extensions-not-supported',
  'invalid-proof',
  'channel-bindings-dont-match',
  'server-does-support-channel-binding',
  'channel-binding-not-supported',
  'unsupported-channel-binding-type',
  'unknown-user',
  'invalid-username-encoding',
  'no-resources',
  'other-error',
]

/** Parses `server-first-message`; a returned text says what is wrong, never quoting it. */
function serverFirst(data: string, clientNonce: string): ServerFirst | string {
  const text = textOf(data)
  if (text === undefined) return 'its "data" is malformed'
  if (/(?:^|,)m=/.test(text)) return 'it requires an unsupported extension ("m")'
  const [, nonce = '', salt = '', count] = SERVER_FIRST.exec(text) ?? []
  if (count === undefined) return 'its "data" lacks a nonce, a salt or a count'
  if (!nonce.startsWith(clientNonce) || nonce === clientNonce) return 'its nonce ("r") does not continue that of the client'
  const iterations = Number(count)
  if (iterations < ITERATIONS.least || iterations > ITERATIONS.most) {
    return `its count ("i") is not between ${ITERATIONS.least} and ${ITERATIONS.most}`
  }
  const bytes = fromBase64url(salt)
  return bytes ? { text, nonce, salt: bytes, iterations } : 'its salt ("s") is malformed'
}

/** Parses `server-final-message`; undefined when it is malformed. */
function serverFinal(data: string): ServerFinal | undefined {
  const [, name, value = ''] = SERVER_FINAL.exec(textOf(data) ?? '') ?? []
  if (name === 'e') return { error: ERRORS.includes(value) ? value : 'other-error' }
  const signature = name === 'v' ? fromBase64url(value) : undefined
  return signature && { signature }
}

const SERVER_FIRST = /^r=([\x21-\x2b\x2d-\x7e]+),s=([A-Za-z0-9+/]+={0,2}),i=([1-9]\d{0,9})(?:,[A-Za-z]=[^,]+)*$/

const SERVER_FINAL = /^([ev])=([^,]+)(?:,[A-Za-z]=[^,]+)*$/

const utf8 = new TextEncoder()

function textOf(data: string): string | undefined {
  const bytes = fromBase64url(data)
  try {
    return bytes && new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

export type ScramHash = 'SHA-1' | 'SHA-256'

/** Keys kept instead of the password: valid for this account on this server only. */
interface ScramKeys {
  readonly client: Uint8Array
  readonly stored: Uint8Array
  readonly server: Uint8Array
}

const BITS = { 'SHA-1': 160, 'SHA-256': 256 } as const

/** Derives the keys from a prepared password and the salt; `iterations` dominates the run time. */
export async function scramKeys(hash: ScramHash, password: string, salt: Uint8Array, iterations: number): Promise<ScramKeys> {
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(password), 'PBKDF2', false, ['deriveBits'])
  const salting = { name: 'PBKDF2', hash, salt: new Uint8Array(salt), iterations }
  const salted = new Uint8Array(await crypto.subtle.deriveBits(salting, key, BITS[hash]))
  const client = await hmac(hash, salted, 'Client Key')
  const stored = new Uint8Array(await crypto.subtle.digest(hash, new Uint8Array(client)))
  return { client, stored, server: await hmac(hash, salted, 'Server Key') }
}

/** Returns the proof that the client knows the password. */
async function clientProof(hash: ScramHash, { client, stored }: ScramKeys, message: string): Promise<Uint8Array> {
  const signature = await hmac(hash, stored, message)
  return client.map((byte, index) => byte ^ (signature[index] ?? 0))
}
