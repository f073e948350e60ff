import { type AuthFlow, authorized } from '../../auth/strategy.ts'
import { base64, base64url } from '../../crypto/encoding.ts'
import { challengesOf } from '../../http/challenge.ts'
import { type HttpRequest, type HttpResponse, withHeader } from '../../http/message.ts'
import { accessToken } from '../credential-values.ts'
import { refused, signingKey } from './challenge-response.ts'
import type { HttpContext } from './http-strategy.ts'

/** The auth flow of GNAP and the texts of HTTP message signatures (RFC 9421). */

/** One step, signed when the token is bound to a key (RFC 9635 §7.2, §7.3). */
export async function* gnapFlow(request: HttpRequest, context: HttpContext): AuthFlow {
  const token = await accessToken(context.credential)
  const isBound = context.credential.privateKey !== undefined
  const proven = isBound ? await signed(request, context, token) : withHeader(request, 'authorization', `Bearer ${token}`)
  const response = yield authorized(proven)
  if (response.status === 401) refuse(response, context, token)
}

/** Returns the request with token, body digest and signature. The key determines the algorithm, so no `alg` is written. */
async function signed(request: HttpRequest, context: HttpContext, token: string): Promise<HttpRequest> {
  const key = await signingKey(context, ['ES256', 'EdDSA', 'RS256'])
  const authorization = `GNAP ${token}`
  const digest = await contentDigest(request)
  const components: readonly Component[] = [
    ['@method', request.method],
    ['@target-uri', request.url],
    ['authorization', authorization],
    ...(digest === undefined ? [] : [['content-digest', digest] as const]),
  ]
  const created = Math.floor(context.clock.now() / 1000)
  const parameters = { created, keyid: String(context.credential.keyId), nonce: base64url(context.random(16)), tag: 'gnap' }
  const signature = base64(await key.sign(signatureBase(components, parameters)))
  const headers = {
    ...request.headers,
    authorization,
    ...(digest !== undefined && { 'content-digest': digest }),
    'signature-input': `sig1=${signatureInput(components, parameters)}`,
    signature: `sig1=:${signature}:`,
  }
  return { ...request, headers }
}

/** Returns the value of `Content-Digest` (RFC 9530 §2) with SHA-256; undefined without a body. */
async function contentDigest({ body }: HttpRequest): Promise<string | undefined> {
  if (body === undefined || body.length === 0) return undefined
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body)
  return `sha-256=:${base64(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))}:`
}

/** Throws the refusal with a hint if the server names where tokens are granted (RFC 9767 §4); otherwise returns. */
function refuse(response: HttpResponse, context: HttpContext, token: string): void {
  const params = challengesOf(response, 'gnap')[0]?.params
  const told = ['as_uri', 'access', 'referrer'].flatMap((name) => {
    const value = params?.get(name)
    return value === undefined || !isHarmless(value, token) ? [] : [`${name} ${value}`]
  })
  if (told.length === 0) return
  throw refused(response, context, undefined, `get a new token and put it into the credential; the server names: ${told.join(', ')}`)
}

/** True for short, printable text that does not repeat the token in plain, URL-encoded or base64 form. */
function isHarmless(value: string, token: string): boolean {
  if (!/^[\x21-\x7e]{1,200}$/.test(value)) return false
  const bytes = new TextEncoder().encode(token)
  const echoes = [token, base64(bytes).replace(/=+$/, ''), base64url(bytes)].map((echo) => echo.toLowerCase())
  const plain = value.replace(/%([0-9A-Fa-f]{2})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
  return ![value, plain].some((text) => echoes.some((echo) => text.toLowerCase().includes(echo)))
}

/** A covered component: its identifier without parameters, and its value (§2). */
type Component = readonly [name: string, value: string]

/** Parameters of a signature in the order in which they are written (§2.3): integers and texts in printable ASCII. */
type SignatureParameters = Readonly<Record<string, string | number>>

/** Returns the member of `Signature-Input` without its label (§4.1). */
export function signatureInput(components: readonly Component[], parameters: SignatureParameters): string {
  const covered = components.map(([name]) => quoted(name)).join(' ')
  const written = Object.entries(parameters).map(([name, value]) => `;${name}=${typeof value === 'number' ? value : quoted(value)}`)
  return `(${covered})${written.join('')}`
}

/** Returns the text to sign (§2.5). */
export function signatureBase(components: readonly Component[], parameters: SignatureParameters): string {
  const lines = components.map(([name, value]) => `${quoted(name)}: ${value}`)
  return [...lines, `"@signature-params": ${signatureInput(components, parameters)}`].join('\n')
}

/** Serializes a string of structured fields (RFC 8941 §4.1.6). */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
