/**
 * Sends a request and follows redirects. Every hop starts empty-handed and chooses by its own address; alternatives are
 * tried in turn when a server refuses one.
 */
import { AbortedError, type AuthError, CredentialError, SelectionError, TrustError, UnsupportedError } from '../errors.ts'
import type { CookieJar } from '../http/cookies.ts'
import { type HttpRequest, type HttpResponse, withHeader } from '../http/message.ts'
import { isLoopbackHost } from '../http/public-address.ts'
import { harmlessHeaders, isRedirect, locationOf, redirected } from '../http/redirect.ts'
import { addressOf, isAddressProblem } from '../http/url.ts'
import type { Clock } from '../net/clock.ts'
import { isProtected, type Target } from '../stac/target.ts'
import { contextOf, granted, sendStep, type World } from './context.ts'
import { type CredentialSelector, type Selection, Unusable } from './credential-selection.ts'
import { type AuthFlow, type AuthStep, runFlow } from './flow.ts'
import { bestOf, type CredentialMatch, coversTarget } from './scheme-matching.ts'
import { matchesAny } from './url-pattern.ts'

const MAX_HOPS = 10

/** What lets the next reference have its turn. */
const NEXT = new Set(['AUTH_REJECTED', 'LOGIN_REQUIRED'])

/** What a request is for, and which references may serve it. */
interface Purpose {
  readonly target?: Target
  readonly selections: readonly Selection[]
}

/** One hop, and what its transport is told. */
interface Hop {
  readonly target?: Target
  readonly hop: number
  readonly signal?: AbortSignal
  readonly followHidden: boolean
  readonly cookies: CookieChain
}

interface Answer {
  readonly response: HttpResponse
  /** The address was replaced by a signed one: nothing is ever added to what comes after it. */
  readonly replaced: boolean
}

export class Exchange {
  readonly #world: World
  readonly #selector: CredentialSelector
  readonly #redirects: 'follow' | 'error'
  readonly #cookies: LoginCookies

  constructor(world: World, selector: CredentialSelector, redirects: 'follow' | 'error') {
    this.#world = world
    this.#selector = selector
    this.#redirects = redirects
    this.#cookies = new LoginCookies(world.clock)
  }

  /** Forgets the sessions that hosts gave the credential. */
  forget(credential: string): void {
    this.#cookies.forget(credential)
  }

  /** For an address without references: the entry whose grant covers it most narrowly, or nothing. */
  byAddress(url: URL): readonly Selection[] {
    const best = bestOf(this.#selector.own, url)
    return best ? [{ type: best.credential.type, match: best, warnings: [] }] : []
  }

  /** The answer at the end of all redirects, or the first one where `redirect` is `manual`. */
  async send(first: HttpRequest, purpose: Purpose, init: Pick<RequestInit, 'signal' | 'redirect'>): Promise<HttpResponse> {
    const signal = init.signal ?? undefined
    const followHidden = init.redirect !== 'manual' && init.redirect !== 'error' && this.#redirects === 'follow'
    if (signal?.aborted) throw new AbortedError(signal.reason)
    let seen: Set<string> | undefined
    let request = first
    let selections = purpose.selections
    let replaced = false
    const cookies = this.#cookies.chain()
    for (let hop = 0; ; hop++) {
      const at = { target: purpose.target, hop, signal, followHidden, cookies }
      const asSent = `${request.method} ${request.url} ${cookies.state}`
      const answer = selections.length > 0 ? await this.#attempt(request, selections, at) : await this.#bare(request, at)
      const { response } = answer
      if (!isRedirect(response.status) || init.redirect === 'manual') {
        if (response.status < 400) cookies.settle()
        return response
      }
      await response.discard()
      seen = (seen ?? new Set()).add(asSent)
      const next = locationOf(response.headers.get('location'), response.url, this.#world.named, hop)
      this.#checkHop(response.url, next, hop, init.redirect)
      request = redirected(asked(request, response.url), response.status, next, hop)
      // With a new cookie it is not the same request.
      if (seen.has(`${request.method} ${request.url} ${cookies.state}`)) throw circle(response.url, next, hop)
      replaced ||= answer.replaced
      selections = replaced ? [] : this.#forHop(purpose.target, next)
    }
  }

  #checkHop(from: string, next: URL, hop: number, redirect: RequestInit['redirect']): void {
    const { origin } = new URL(from)
    if (hop >= MAX_HOPS)
      throw new TrustError('REDIRECT_TOO_MANY', `more than ${MAX_HOPS} redirects, the last one from ${origin}`, { url: from, hop })
    const refused = redirect === 'error' || (this.#redirects === 'error' && next.origin !== origin)
    if (refused)
      throw new TrustError('REDIRECT_CROSS_ORIGIN', `${origin} redirects to ${next.origin}, which was not allowed`, { url: from, hop })
  }

  /** A hop gets material only if its own address is granted; otherwise it goes out bare. */
  #forHop(target: Target | undefined, url: URL): readonly Selection[] {
    if (url.protocol === 'http:' && !this.#world.named.has(url.origin)) return []
    if (!target) return this.byAddress(url)
    const selections = this.#selector.select(target, url)
    return selections instanceof Unusable ? [] : selections
  }

  /** One hop: the references in turn, the next one when a server refuses. */
  async #attempt(request: HttpRequest, selections: readonly Selection[], hop: Hop): Promise<Answer> {
    let refusal: AuthError | undefined
    for (const selection of selections) {
      if (!selection.match) return this.#bare(request, hop)
      for (const warning of selection.warnings) this.#world.warn(warning)
      try {
        const answer = await this.#authorized(request, selection.match, hop)
        if (answer) return answer
      } catch (error) {
        if (!(error instanceof CredentialError) || !NEXT.has(error.code)) throw error
        refusal ??= error
      }
    }
    if (refusal) throw refusal
    return this.#bare(request, hop)
  }

  async #authorized(request: HttpRequest, match: CredentialMatch, { target, hop, cookies, ...options }: Hop): Promise<Answer | undefined> {
    const context = contextOf(this.#world, match, { url: request.url, target }, { signal: options.signal })
    const began = context.clock.now()
    const flow = match.strategy.authorize(request, context)
    const result = await runFlow(flow, async (step: AuthStep) => {
      const sent = cookies.with(match, step)
      const response = await sendStep(this.#world, match, sent, options)
      if (isRedirect(response.status) || response.status === 401) await cookies.keep(match, sent, response)
      return response
    })
    if (!result) return undefined
    const { response, step } = result
    if (response.status === 401 || response.status === 403) {
      const ended = step.expiresAt !== undefined && step.expiresAt > began && step.expiresAt <= context.clock.now()
      await response.discard()
      throw rejected(response, match.credential.id, hop, ended)
    }
    this.#world.used(match.credential.id, request.url)
    return { response, replaced: step.replaces === true }
  }

  async #bare(request: HttpRequest, { target, signal, followHidden }: Hop): Promise<Answer> {
    const send = ({ request }: { readonly request: HttpRequest }) =>
      this.#world.transport(request, granted(this.#world, request, { signal, followHidden }))
    if (/^https?:/.test(request.url)) return { response: await send({ request }), replaced: false }
    const flow = await openFlow(request, this.#selector, target)
    const result = flow && (await runFlow(flow, send))
    if (result) return { response: result.response, replaced: false }
    throw new UnsupportedError('SCHEME_UNSUPPORTED', 'an s3: address can be fetched only with the s3 strategy', { url: request.url })
  }
}

function circle(from: string, next: URL, hop: number): TrustError {
  const { origin } = new URL(from)
  const isLogin = origin !== next.origin
  return new TrustError('REDIRECT_LOOP', `the redirects lead in a circle, from ${origin} back to ${next.origin}`, {
    url: next.href,
    hop,
    ...(isLogin && { hint: 'a login that sets cookies needs each of its hosts in "sendTo" of one credential' }),
  })
}

/** The caller's request as it was put to the address that answered: at another origin it came with harmless headers only. */
function asked({ method, url, headers, body }: HttpRequest, answered: string): HttpRequest {
  if (new URL(url).origin !== new URL(answered).origin) return { method, url: answered, headers: harmlessHeaders(headers) }
  return body === undefined ? { method, url: answered, headers } : { method, url: answered, headers, body }
}

/** The words of RFC 6750 §3.1, RFC 9449 §7.1 and RFC 9470 §3; any other text of a server may repeat what it was sent. */
const ERROR =
  /\berror="?(invalid_request|invalid_token|insufficient_scope|invalid_dpop_proof|use_dpop_nonce|insufficient_user_authentication)\b/

/**
 * `AUTH_REJECTED`: the server got the material and said no. It may be asked again where the material was good when the call began
 * and has `ended` since, as happens to tokens of a few seconds.
 */
function rejected({ status, url, headers }: HttpResponse, credential: string, hop: number, ended: boolean): CredentialError {
  const { origin } = new URL(url)
  const error = ERROR.exec(headers.get('www-authenticate') ?? '')?.[1]
  return new CredentialError('AUTH_REJECTED', `${origin} refused "${credential}" with ${status}${error ? ` (${error})` : ''}`, {
    credential,
    url,
    hop,
    status,
    retryable: ended,
    hint:
      status === 403
        ? 'the account may lack the right, or must accept terms first'
        : 'check the value of the credential and whether it has expired',
  })
}

/**
 * The legs of a request without material to an address that is none of the web's (`s3:`); undefined when no strategy knows it. The
 * places that they go to are held to the rules for addresses in documents. Errors: those of the strategy, `URL_*`.
 */
export async function openFlow(request: HttpRequest, selector: CredentialSelector, target?: Target): Promise<AuthFlow | undefined> {
  const url = new URL(request.url)
  const type = url.protocol.slice(0, -1)
  const strategy = await selector.strategyOf(type)
  const own = selector.own.find((match) => match.credential.type === type && coversTarget(match, url))
  const flow = strategy?.open?.(request, { url: request.url, target }, own?.credential)
  return flow && placed(flow, selector.named, target)
}

/** The document may have named the place, so it is looked at before it is sent to or handed out. */
async function* placed(flow: AuthFlow, named: ReadonlySet<string>, target: Target | undefined): AuthFlow {
  try {
    let step = await flow.next(undefined as never)
    while (!step.done) {
      checkPlace(step.value.request.url, named, target)
      step = await flow.next(yield step.value)
    }
  } finally {
    await flow.return()
  }
}

function checkPlace(address: string, named: ReadonlySet<string>, target: Target | undefined): void {
  const problem = addressOf(address, { secure: target !== undefined && isProtected(target), named })
  if (!isAddressProblem(problem)) return
  const { origin, protocol, hostname } = new URL(address)
  const grantable = problem.code === 'URL_ADDRESS_FORBIDDEN' && (protocol === 'https:' || isLoopbackHost(hostname))
  throw new SelectionError(problem.code, `the place of this object, ${origin}, ${problem.message}. Nothing was sent`, {
    ...(target && { pointer: `${target.pointer}/href` }),
    ...(grantable && { hint: `if that is meant to be, write "${origin}/" in the sendTo of an entry` }),
  })
}

/** What an engine keeps, by credential, until it ends. */
class LoginCookies {
  readonly #clock: Clock
  readonly #kept = new Map<string, CookieJar>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** For one chain of redirects. Chains side by side do not see each other's cookies: both may be logging in. */
  chain(): CookieChain {
    return new CookieChain(this.#kept, this.#clock)
  }

  /** The user is logged out, or another one. */
  forget(credential: string): void {
    this.#kept.delete(credential)
  }
}

class CookieChain {
  readonly #kept: Map<string, CookieJar>
  readonly #clock: Clock
  readonly #jars = new Map<string, CookieJar>()

  constructor(kept: Map<string, CookieJar>, clock: Clock) {
    this.#kept = kept
    this.#clock = clock
  }

  /** Another text whenever a cookie changed: a request is not the same as before then. */
  get state(): string {
    return [...this.#jars.values()].map(({ version }) => version).join()
  }

  /** The leg with the cookies of its origin. */
  with(match: CredentialMatch, step: AuthStep): AuthStep {
    const jar = this.#jars.get(match.credential.id) ?? this.#kept.get(match.credential.id)
    if (!jar || !maySee(match, step)) return step
    const cookies = jar.header(step.request.url, step.request.headers.cookie)
    return cookies === undefined ? step : { ...step, request: withHeader(step.request, 'cookie', cookies) }
  }

  /** Keeps what a redirect sets; a refusal ends the session at that origin. */
  async keep(match: CredentialMatch, step: AuthStep, { status, headers, url }: HttpResponse): Promise<void> {
    const { id } = match.credential
    if (!maySee(match, step)) return
    if (status === 401) for (const jars of [this.#kept, this.#jars]) jars.get(id)?.forget(new URL(url).origin)
    const fields = isRedirect(status) ? (headers.getSetCookie?.() ?? []) : []
    if (fields.length > 0) (await this.#jar(id)).keep(url, fields)
  }

  /** The chain ended well: its cookies serve the next ones. */
  settle(): void {
    for (const [id, jar] of this.#jars) {
      const kept = this.#kept.get(id)
      if (kept) kept.adopt(jar)
      else this.#kept.set(id, jar)
    }
  }

  async #jar(id: string): Promise<CookieJar> {
    const { CookieJar } = await import('../http/cookies.ts')
    const jar = this.#jars.get(id) ?? new CookieJar(() => this.#clock.now(), this.#kept.get(id))
    this.#jars.set(id, jar)
    return jar
  }
}

/** A URL that a service signed opens by itself, and cookies are for hosts in `sendTo` alone, whatever else the credential may reach. */
function maySee({ credential }: CredentialMatch, { request, replaces }: AuthStep): boolean {
  return replaces !== true && matchesAny(credential.sendTo, new URL(request.url))
}
