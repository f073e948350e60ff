import type { Credential, Secret } from '../../auth/credential.ts'
import { type AuthFlow, authorized } from '../../auth/strategy.ts'
import { base64, hmac } from '../../crypto/encoding.ts'
import { TrustError } from '../../errors.ts'
import { authParams, parseChallenges } from '../../http/challenge.ts'
import { type HttpRequest, type HttpResponse, percentEncoded, withHeader } from '../../http/message.ts'
import { originOf } from '../../http/url.ts'
import { reveal } from '../credential-values.ts'
import { refused, signingKey } from './challenge-response.ts'
import type { HttpContext } from './http-strategy.ts'

/** The auth flow of OAuth 1.0 for protected resources (RFC 5849 §3). */

/** 130 bits in letters and digits, within the 30 characters that servers accept. */
const NONCE_CHARACTERS = 26

/** One step, signed (RFC 5849 §3). */
export async function* oauthFlow(request: HttpRequest, context: HttpContext): AuthFlow {
  const response = yield authorized(await signed(request, context))
  const problem = problemOf(response)
  if (problem) throw refused(response, context, problem, problem === 'timestamp_refused' ? 'set the clock of this machine' : undefined)
}

async function signed(request: HttpRequest, context: HttpContext): Promise<HttpRequest> {
  const { credential, clock, random } = context
  const method = String(credential.signatureMethod ?? 'HMAC-SHA1')
  if (method === 'PLAINTEXT' && !request.url.startsWith('https:')) throw unencrypted(request)
  const token = await optional('token', credential)
  const parameters: Parameters = [
    ['oauth_consumer_key', await reveal(credential.consumerKey as Secret, 'consumerKey', credential)],
    ...(token === '' ? [] : [['oauth_token', token] as const]),
    ['oauth_signature_method', method],
    ['oauth_timestamp', String(Math.floor(clock.now() / 1000))],
    ['oauth_nonce', Array.from(random(NONCE_CHARACTERS), (byte) => (byte & 31).toString(32)).join('')],
  ]
  const signature = await signatureOf(method, () => baseString(request, parameters), context)
  const params = [...parameters, ['oauth_signature', signature] as const]
  const header = authParams(params.map(([name, value]) => [name, percentEncoded(value), 'quoted']))
  return withHeader(request, 'authorization', `OAuth ${header}`)
}

/** Returns the signature (RFC 5849 §3.4.2 to §3.4.4); HMAC-SHA256 is HMAC-SHA1 with the other hash. */
async function signatureOf(method: string, text: () => string, context: HttpContext): Promise<string> {
  if (method === 'RSA-SHA1') return base64(await (await signingKey(context, ['RS1'])).sign(text()))
  const secrets = [await optional('consumerSecret', context.credential), await optional('tokenSecret', context.credential)]
  const key = secrets.map(percentEncoded).join('&')
  if (method === 'PLAINTEXT') return key
  return base64(await hmac(method === 'HMAC-SHA1' ? 'SHA-1' : 'SHA-256', new TextEncoder().encode(key), text()))
}

/** Returns the value of a field, or an empty text when it is absent. */
async function optional(field: string, credential: Credential): Promise<string> {
  return credential[field] === undefined ? '' : reveal(credential[field] as Secret, field, credential)
}

function unencrypted({ url }: HttpRequest): TrustError {
  return new TrustError('URL_INSECURE', `${originOf(url)} is not encrypted (http:), and PLAINTEXT would send the secrets in clear text`, {
    url,
    hint: 'use signatureMethod HMAC-SHA1 or HMAC-SHA256, or https',
  })
}

/** Error codes of the OAuth problem reporting extension; other text of a server may repeat secrets. */
const PROBLEMS = [
  'version_rejected',
  'parameter_absent',
  'parameter_rejected',
  'timestamp_refused',
  'nonce_used',
  'signature_method_rejected',
  'signature_invalid',
  'consumer_key_unknown',
  'consumer_key_rejected',
  'consumer_key_refused',
  'token_used',
  'token_expired',
  'token_revoked',
  'token_rejected',
  'permission_unknown',
  'permission_denied',
]

/** Returns why the server refused, when it says so. */
function problemOf({ status, headers }: HttpResponse): string | undefined {
  if (status !== 401) return undefined
  const { challenges } = parseChallenges(headers.get('www-authenticate') ?? '')
  const said = challenges.map(({ params }) => params.get('oauth_problem'))
  return PROBLEMS.find((problem) => said.includes(problem))
}

/** Names and values, not encoded. */
type Parameters = readonly (readonly [name: string, value: string])[]

type Pair = readonly [name: string, value: string]

/** Returns the signature base string from method, URL, and all parameters: of the header, the query, and a form body. */
export function baseString(request: HttpRequest, header: Parameters): string {
  const { origin, pathname, search } = new URL(request.url)
  const ours = header.map(([name, value]): Pair => [percentEncoded(name), percentEncoded(value)])
  const pairs = [...ours, ...formPairs(search.slice(1)), ...formPairs(formOf(request))]
  const sorted = pairs.sort(([name, value], other) => order(name, other[0]) || order(value, other[1]))
  const parameters = sorted.map((pair) => pair.join('=')).join('&')
  return [request.method.toUpperCase(), origin + pathname, parameters].map(percentEncoded).join('&')
}

/** Returns the body if it is a form (§3.4.1.3.1); other bodies are not signed. */
function formOf({ headers, body = '' }: HttpRequest): string {
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(headers['content-type'] ?? '')) return ''
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}

function formPairs(form: string): Pair[] {
  return form.split('&').flatMap((text) => {
    const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(text) ?? []
    return text === '' ? [] : [[recoded(name), recoded(value)] as const]
  })
}

/** Converts the encoding byte by byte, so that text that is not UTF-8 stays unchanged. */
function recoded(text: string): string {
  return text.replace(/%([0-9A-Fa-f]{2})|\+|[^A-Za-z0-9\-._~]/gu, (part, hex?: string) => {
    if (hex === undefined) return percentEncoded(part === '+' ? ' ' : part)
    const byte = Number.parseInt(hex, 16)
    return byte < 0x80 ? percentEncoded(String.fromCharCode(byte)) : `%${hex.toUpperCase()}`
  })
}

/** Compares encoded texts, which are US-ASCII: bytes compare as characters do. */
function order(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}
