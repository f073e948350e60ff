/** Converts unsuccessful responses to errors, with what the server says but without the secrets of the request. */
import { patternFor } from '../../auth/requirement.ts'
import { type AuthError, CredentialError, NetworkError } from '../../errors.ts'
import { parseChallenges } from '../../http/challenge.ts'
import { type HttpRequest, type HttpResponse, isRetryableStatus } from '../../http/message.ts'
import { messageInText, type ServerMessage } from '../../http/server-message.ts'
import { bareAddress } from '../../http/url.ts'
import { retryHint } from '../../net/retry.ts'
import { isProtected, type Target } from '../../stac/target.ts'
import { Redactor } from '../../text/redactor.ts'
import { forLine } from '../../text/sanitize.ts'
import { commandWord } from '../../text/shell-word.ts'

/** A response whose body was not read. */
type UnreadAnswer = Pick<HttpResponse, 'status' | 'headers' | 'url' | 'serverMessage'>

/** What Azure says with 404 or 409 about a file that may not be read without a signature. */
const HIDDEN: readonly string[] = ['PublicAccessNotPermitted', 'ResourceNotFound']

/**
 * Returns the error of an unsuccessful response: `AUTH_REJECTED` for 401 and 403 to a request without credentials, else `HTTP_<status>`.
 * It repeats what the server says in the body, and names the address where the user can do something about it.
 *
 * @param target the target of the request, unless the user typed the URL
 */
export async function answerFailure(answer: UnreadAnswer, target?: Target): Promise<AuthError> {
  const { status, url, headers } = answer
  const said = (await answer.serverMessage?.()) ?? {}
  if (status === 401 || status === 403) return uncovered(answer, said, target)
  const { message: words, code = '', address } = said
  const what = PECULIAR[status] ?? `the server answered ${[status, code].join(' ').trim()}`
  const message = `${bareAddress(url)}: ${what}${words ? `: ${words}` : ''}`
  const retryable = isRetryableStatus(status) || status === 202
  const wait = retryable ? retryHint(headers, Date.now()) : undefined
  const hint = wait
    ? `the server asks to wait ${Math.ceil(wait / 1000)} s before the next request (Retry-After)`
    : isUnasked(target) && HIDDEN.includes(code) && `if it requires a credential: ${byAddress(url)}`
  const hints = [address && seeAddress(address), hint].filter(Boolean).join('; ')
  return new NetworkError(`HTTP_${status}`, message, { status, url, retryable, ...(hints && { hint: hints }) })
}

/** Successes without a file (RFC 9110 §15.3). */
const PECULIAR: Readonly<Record<number, string>> = {
  202: 'the server is still preparing the file (202)',
  204: 'the server answered without a file (204)',
  205: 'the server answered without a file (205)',
}

/** Returns the hint for an address in the body of an error. */
function seeAddress(address: string): string {
  return `the server names ${address}`
}

/** Returns the error of a request without a credential. A refused credential has its own error. */
function uncovered(
  { status, headers, url }: UnreadAnswer,
  { message: words, address }: ServerMessage,
  target: Target | undefined,
): CredentialError {
  const { origin } = new URL(url)
  const schemes = offeredSchemes(headers.get('www-authenticate') ?? '')
  const asks = status === 403 ? 'refuses access (403)' : `requires authentication (${schemes.join(', ') || '401'})`
  const unasked = isUnasked(target)
  const why = unasked ? 'the document does not name a scheme for it (auth:refs)' : 'none of your credentials matches it'
  const advice =
    adviceWithout(new URL(url), headers) ??
    (unasked
      ? byAddress(url)
      : `if you trust ${origin}, add a credential to the credential file, such as ${exampleCredential(url, schemes)}`)
  const message = `${origin} ${asks} and ${why}: ${bareAddress(url)}${words ? `. The server says: ${words}` : ''}`
  return new CredentialError('AUTH_REJECTED', message, {
    status,
    url,
    ...(schemes.length > 0 && { expected: schemes.join(' ') }),
    hint: address ? `${seeAddress(address)}; ${advice}` : advice,
  })
}

/** Returns true for a target of a document that names no scheme for it. */
const isUnasked = (target: Target | undefined) => target !== undefined && !isProtected(target)

const byAddress = (url: string) =>
  `--by-address sends the credential whose sendTo matches the URL: stac-auth fetch ${commandWord(bareAddress(url))}`

/** Returns the advice for a response that no credential changes; undefined for others. */
function adviceWithout(url: URL, headers: UnreadAnswer['headers']): string | undefined {
  if (headers.get('x-squid-error')) return 'this is the response of a Squid proxy: ask its administrator whether it allows the URL'
  if (url.protocol !== 'http:' || patternFor(url) !== undefined) return undefined
  return 'this URL is not encrypted (http:), so that no credential is sent to it: use its https: URL'
}

/** Returns the scheme names of challenges (RFC 9110 §11.6.1); their parameters are untrusted text and are omitted. */
function offeredSchemes(field: string): string[] {
  const names = parseChallenges(field).challenges.map(({ scheme }) => scheme)
  return [...new Set(names)].filter((name) => name.length <= 32).slice(0, 5)
}

/** Returns a credential for the origin of a URL as JSON to complete: Basic if that is the first scheme, else a bearer token. */
export function exampleCredential(address: string, schemes: readonly string[] = []): string {
  const url = new URL(address)
  const id = url.hostname.replace(/[^A-Za-z0-9._-]+/g, '-')
  const isBasic = schemes[0]?.toLowerCase() === 'basic'
  const secret = isBasic ? { scheme: 'basic', username: '…', password: { env: 'PASSWORD' } } : { scheme: 'bearer', token: { env: 'TOKEN' } }
  return JSON.stringify({ id, type: 'http', ...secret, sendTo: [patternFor(url) ?? `${url.origin}/`] })
}

/** Longest message and longest address that are shown, in characters. */
const SHOWN = 300

/** Maximum bytes to read of an error body. */
const READ = 65_536

/**
 * Returns what an error response says, without the secrets of its request, escaped and at most 300 characters each. Reads the body;
 * throws nothing, also for an interrupted or compressed body that cannot be read.
 */
export async function messageOfResponse(response: Pick<HttpResponse, 'chunks'>, request: HttpRequest): Promise<ServerMessage> {
  const decoder = new TextDecoder()
  let text = ''
  let length = 0
  try {
    for await (const chunk of response.chunks?.() ?? []) {
      text += decoder.decode(chunk, { stream: true })
      length += chunk.length
      if (length >= READ) break
    }
  } catch {
    // What has arrived may be enough.
  }
  return shownMessage(messageInText(text), request)
}

/** Returns a message without the secrets of the request, which servers may repeat, escaped and shortened. */
export function shownMessage(said: ServerMessage, request?: HttpRequest): ServerMessage {
  const scrub = request ? redactorFor(request).scrub : (text: string) => text
  const shown = (text: string | undefined) => {
    const line = text && forLine(scrub(text.slice(0, READ)))
    return line && (line.length > SHOWN ? `${line.slice(0, SHOWN - 1)}…` : line)
  }
  const [message, address] = [shown(said.message), shown(said.address)]
  const code = said.code !== undefined && /^[\w.-]{1,64}$/.test(said.code) ? shown(said.code) : undefined
  // A shortened address leads elsewhere.
  const isWhole = address !== undefined && !/…$|\[secret\]/.test(address)
  return { ...(message && { message }), ...(code && { code }), ...(isWhole && { address }) }
}

/** Request headers without secrets. */
const HARMLESS = /^(?:accept(?:-.*)?|content-(?:type|length)|range|if-.*|user-agent|host)$/

/** Parameters of `Authorization` without secrets. */
const HARMLESS_PARAMETER =
  /^(?:realm|algorithm|qop|nc|uri|charset|userhash|signedheaders|oauth_(?:version|signature_method|timestamp)|version)$/i

function redactorFor({ headers, url }: HttpRequest): Redactor {
  const redactor = new Redactor()
  for (const [name, value] of Object.entries(headers)) {
    if (HARMLESS.test(name)) continue
    const parameters = [...value.matchAll(/([\w!#$%&'*+.^`|~-]+)=(?:"([^"]*)"|([^\s,;"]+))/g)]
    const isList = parameters.length > 0 && !/^\S+ [\w.~+/-]+=*$/.test(value)
    if (!isList) redactor.addHeader(value)
    for (const [, parameter = '', quoted, token = ''] of isList ? parameters : [])
      if (!HARMLESS_PARAMETER.test(parameter)) redactor.add(quoted ?? token)
  }
  for (const value of new URL(url).searchParams.values()) redactor.add(value)
  return redactor
}
