/**
 * Sends a request and follows redirects. Every hop starts without credentials and selects them by its own URL; alternatives are
 * tried in order when a server refuses one.
 */

import { AbortedError, type AuthError, CredentialError, TrustError, UnsupportedError } from '../errors.ts'
import { harmlessHeaders } from '../http/headers.ts'
import { type HttpRequest, type HttpResponse, isRedirect, withHeader } from '../http/message.ts'
import { locationOf, redirected } from '../http/redirect.ts'
import type { ServerMessage } from '../http/server-message.ts'
import { endedAt, urlSignature } from '../http/url-signature.ts'
import { unlessAborted } from '../net/cancellation.ts'
import type { Target } from '../stac/target.ts'
import type { Anonymous } from './auth.ts'
import { contextOf, type EngineContext, openFlow, sendOptionsFor, sendStep, withRereadSecrets } from './authorize.ts'
import { type CookieChain, LoginCookies } from './login-cookies.ts'
import type { CredentialMatch, Selection, Selector, UsableReference } from './select.ts'
import { type AuthStep, CHECK_VALUE, runFlow } from './strategy.ts'
import { matchesAny } from './url-pattern.ts'

const MAX_HOPS = 10

/** Error codes after which the next reference is tried. */
const NEXT = new Set(['AUTH_REJECTED', 'LOGIN_REQUIRED'])

/** True for a secret that cannot be read. */
export function isUnreadable({ code }: AuthError): boolean {
  return code === 'CREDENTIAL_SOURCE' || code === 'CREDENTIAL_VALUE_INVALID'
}

/** Members that are `undefined` are ignored, as in the standard `fetch`. */
export interface RequestOptions {
  readonly signal?: AbortSignal | null | undefined
  readonly redirect?: RequestInit['redirect'] | undefined
  /** Called with the id of each credential that a server accepted. */
  readonly onUse?: ((credential: string) => void) | undefined
  readonly anonymous?: Anonymous['anonymous'] | undefined
}

/** One redirect hop. */
interface Hop {
  readonly target: Target | undefined
  readonly hop: number
  readonly signal: AbortSignal | undefined
  readonly followHidden: boolean
  readonly cookies: CookieChain
  readonly options: RequestOptions
}

interface HopResponse {
  readonly response: HttpResponse
  /** The URL was replaced by a signed URL: no credentials are added from here on. */
  readonly replaced: boolean
}

export class Sender {
  readonly #engine: EngineContext
  readonly #selector: Selector
  readonly #redirects: 'follow' | 'error'
  readonly #cookies: LoginCookies
  /** Credentials whose secrets could not be read, after the warning. */
  readonly #unused = new Set<string>()

  constructor(engine: EngineContext, selector: Selector, redirects: 'follow' | 'error') {
    this.#engine = engine
    this.#selector = selector
    this.#redirects = redirects
    this.#cookies = new LoginCookies(engine.clock)
  }

  /** Deletes the cookies that hosts set for the credential. */
  forget(credential: string): void {
    this.#cookies.forget(credential)
  }

  /** Returns the last response after all redirects, or the first one when `redirect` is `manual`. */
  async send(first: HttpRequest, selection: Selection, options: RequestOptions): Promise<HttpResponse> {
    const { target } = selection
    const signal = options.signal ?? undefined
    const followHidden = options.redirect !== 'manual' && options.redirect !== 'error' && this.#redirects === 'follow'
    if (signal?.aborted) throw new AbortedError(signal.reason)
    const cookies = this.#cookies.chain()
    /** Differs between requests of a chain unless a redirect has led back: one with a new cookie is a different request. */
    const stateOf = ({ method, url }: HttpRequest) => `${method} ${url} ${cookies.state}`
    const seen = new Set<string>()
    let request = first
    let { usable } = selection
    let isReplaced = false
    for (let hop = 0; ; hop++) {
      seen.add(stateOf(request))
      const { response, replaced } = await this.#attempt(request, usable, { target, hop, signal, followHidden, cookies, options })
      if (!isRedirect(response.status) || options.redirect === 'manual') {
        if (response.status < 400) cookies.settle()
        return response
      }
      await response.discard()
      const next = locationOf(response.headers.get('location'), response.url, this.#engine.named, hop)
      this.#checkHop(response.url, next, hop, options.redirect)
      request = redirected(asked(request, response.url), response.status, next, hop)
      if (seen.has(stateOf(request))) throw circle(response.url, next, hop)
      isReplaced ||= replaced
      usable = isReplaced ? [] : this.#forHop(target, next)
    }
  }

  #checkHop(from: string, next: URL, hop: number, redirect: RequestInit['redirect']): void {
    const { origin } = new URL(from)
    if (hop >= MAX_HOPS)
      throw new TrustError('REDIRECT_TOO_MANY', `too many redirects: the limit is ${MAX_HOPS}, the last one came from ${origin}`, {
        url: from,
        hop,
      })
    const refused = redirect === 'error' || (this.#redirects === 'error' && next.origin !== origin)
    if (refused)
      throw new TrustError(
        'REDIRECT_CROSS_ORIGIN',
        `redirect from ${origin} to ${next.origin} refused: ${redirect === 'error' ? 'this request follows no redirects' : 'redirects to other origins are not allowed'}`,
        { url: from, hop },
      )
  }

  /** Selects credentials for a hop only if its own URL is allowed; otherwise it is sent without. */
  #forHop(target: Target | undefined, url: URL): readonly UsableReference[] {
    if (url.protocol === 'http:' && !this.#engine.named.has(url.origin)) return []
    if (!target) return this.#selector.selectUrl(url).usable
    return this.#selector.select(target, url).usable
  }

  /** Sends one hop with each reference in order until a server accepts one. */
  async #attempt(request: HttpRequest, usable: readonly UsableReference[], hop: Hop): Promise<HopResponse> {
    const isAnonymous = hop.options.anonymous === 'allow'
    let refusal: AuthError | undefined
    for (const { match, warnings } of usable) {
      if (!match) return this.#bare(request, hop)
      for (const warning of warnings) this.#engine.warn(warning)
      try {
        const answer = await this.#authorized(request, match, hop)
        if (answer) return answer
      } catch (error) {
        if (!(error instanceof CredentialError) || !(NEXT.has(error.code) || (isAnonymous && isUnreadable(error)))) throw error
        refusal ??= error
      }
    }
    return refusal ? this.#withoutCredential(request, hop, refusal) : this.#bare(request, hop)
  }

  /** Sends a request without the credential that cannot be used, if the caller allows it. Errors: that of the credential. */
  async #withoutCredential(request: HttpRequest, hop: Hop, refusal: AuthError): Promise<HopResponse> {
    if (hop.options.anonymous !== 'allow' || !(isUnreadable(refusal) || refusal.code === 'LOGIN_REQUIRED')) throw refusal
    const answer = await this.#bare(request, hop)
    const { status } = answer.response
    if (status === 401 || status === 403) {
      await answer.response.discard()
      throw refusal
    }
    const id = refusal.credential ?? ''
    if (isUnreadable(refusal) && !this.#unused.has(id)) {
      this.#unused.add(id)
      this.#engine.warn({ code: refusal.code, message: `${refusal.message}. Public documents are read without this credential` })
    }
    return answer
  }

  /** Sends one hop with a credential; undefined when its flow sent nothing. Errors: `AUTH_REJECTED` for 401 and 403. */
  async #authorized(request: HttpRequest, match: CredentialMatch, hop: Hop): Promise<HopResponse | undefined> {
    const { target, signal, followHidden, cookies, options } = hop
    const { id } = match.credential
    const context = contextOf(this.#engine, match, { url: request.url, target }, { signal })
    const began = context.clock.now()
    const sendWithCookies = async (next: AuthStep) => {
      if (!maySeeCookies(match, next)) return sendStep(this.#engine, match, next, { signal, followHidden })
      const sent = await sendStep(this.#engine, match, withCookies(cookies, id, next), { signal, followHidden })
      keepCookies(cookies, id, sent)
      return sent
    }
    const running = withRereadSecrets(this.#engine, match, () => runFlow(match.strategy.authorize(request, context), sendWithCookies))
    // A secret that is never read, such as one that nobody types, does not keep the call waiting.
    const result = await unlessAborted(running, signal)
    if (!result) return undefined
    const { response, step } = result
    if (response.status === 401 || response.status === 403) {
      const ended = step.expiresAt !== undefined && step.expiresAt > began && step.expiresAt <= context.clock.now()
      const said = (await response.serverMessage?.()) ?? {}
      await response.discard()
      throw rejected(response, id, hop.hop, ended, said)
    }
    this.#engine.used(id, request.url)
    options.onUse?.(id)
    return { response, replaced: step.replaces === true }
  }

  /** Sends one hop without a credential. */
  async #bare(request: HttpRequest, { target, signal, followHidden, hop }: Hop): Promise<HopResponse> {
    const send = ({ request: pageRequest }: { readonly request: HttpRequest }) =>
      this.#engine.transport(pageRequest, sendOptionsFor(this.#engine, pageRequest, { signal, followHidden }))
    if (/^https?:/.test(request.url)) {
      const response = await send({ request })
      await this.#checkSignature(request.url, response, hop)
      return { response, replaced: false }
    }
    const flow = await openFlow(this.#engine, request, target)
    const result = flow && (await runFlow(flow, send))
    if (result) return { response: result.response, replaced: false }
    throw new UnsupportedError('SCHEME_UNSUPPORTED', 'an s3: URL can be fetched only with the s3 strategy', { url: request.url })
  }

  /** Errors: `AUTH_REJECTED` for a refused URL whose own signature has expired; Google answers 400, others 403. */
  async #checkSignature(url: string, response: HttpResponse, hop: number): Promise<void> {
    const { status } = response
    if (status !== 400 && status !== 401 && status !== 403) return
    const signature = urlSignature(url)
    if (!signature) return
    const end = endedAt(signature, this.#engine.clock.now())
    if (end === undefined) return
    await response.discard()
    const message = `${new URL(url).origin} refused a signed URL (${signature.kind}) with ${status}: it expired at ${new Date(end).toISOString()}`
    const hint = 'obtain a new URL: read the document again, or ask its publisher for URLs without a signature'
    throw new CredentialError('AUTH_REJECTED', message, { url, hop, status, hint })
  }
}

/** True unless the URL is signed or not in `sendTo`: cookies are sent to hosts in `sendTo` only. */
function maySeeCookies({ credential }: CredentialMatch, { request, replaces }: AuthStep): boolean {
  return replaces !== true && matchesAny(credential.sendTo, new URL(request.url))
}

function withCookies(cookies: CookieChain, id: string, step: AuthStep): AuthStep {
  const header = cookies.header(id, step.request.url, step.request.headers.cookie)
  return header === undefined ? step : { ...step, request: withHeader(step.request, 'cookie', header) }
}

/** Stores the cookies that a redirect sets; a refused request deletes those of that origin. */
function keepCookies(cookies: CookieChain, id: string, { status, headers, url }: HttpResponse): void {
  if (status === 401) cookies.refused(id, url)
  const fields = isRedirect(status) ? (headers.getSetCookie?.() ?? []) : []
  if (fields.length > 0) cookies.keep(id, url, fields)
}

function circle(from: string, next: URL, hop: number): TrustError {
  const { origin } = new URL(from)
  const isLogin = origin !== next.origin
  return new TrustError('REDIRECT_LOOP', `redirect loop: from ${origin} back to ${next.origin}`, {
    url: next.href,
    hop,
    ...(isLogin && { hint: 'for a login that sets cookies, list each of its hosts in "sendTo" of one credential' }),
  })
}

/** Returns the caller's request for the URL that answered; at another origin it has safelisted headers only. */
function asked({ method, url, headers, body }: HttpRequest, answered: string): HttpRequest {
  if (new URL(url).origin !== new URL(answered).origin) return { method, url: answered, headers: harmlessHeaders(headers) }
  return body === undefined ? { method, url: answered, headers } : { method, url: answered, headers, body }
}

/** Error codes of RFC 6750 §3.1, RFC 9449 §7.1 and RFC 9470 §3; other text of a server may repeat secrets from the request. */
const ERROR =
  /\berror="?(invalid_request|invalid_token|insufficient_scope|invalid_dpop_proof|use_dpop_nonce|insufficient_user_authentication)\b/

/**
 * Returns `AUTH_REJECTED`. It is retryable when the credential was valid at the start of the call and has expired since (`ended`),
 * as happens with tokens that live for seconds.
 */
function rejected(
  { status, url, headers }: HttpResponse,
  credential: string,
  hop: number,
  ended: boolean,
  { message: words, address }: ServerMessage,
): CredentialError {
  const { origin } = new URL(url)
  const error = ERROR.exec(headers.get('www-authenticate') ?? '')?.[1]
  const says = words ? `. The server says: ${words}` : ''
  const advice = status === 403 ? 'check its value, and that the account has access and accepted the terms' : CHECK_VALUE
  return new CredentialError('AUTH_REJECTED', `${origin} refused "${credential}" with ${status}${error ? ` (${error})` : ''}${says}`, {
    credential,
    url,
    hop,
    status,
    retryable: ended,
    hint: address ? `the server names ${address}; ${advice}` : advice,
  })
}
