/** The cookies that hosts set while a credential logs in through redirects. Loaded when a redirect sets the first one. */

import { CookieJar } from '../http/cookies.ts'
import { type HttpResponse, isRedirect, withHeader } from '../http/message.ts'
import type { Clock } from '../net/clock.ts'
import type { CredentialMatch } from './scheme-matching.ts'
import type { AuthStep } from './strategy.ts'
import { matchesAny } from './url-pattern.ts'

/** Cookies by credential, kept as long as the engine exists. */
export class LoginCookies {
  readonly #clock: Clock
  readonly #kept = new Map<string, CookieJar>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns the cookies for one chain of redirects. Parallel chains do not share cookies, because both may be logging in. */
  chain(): CookieChain {
    return new CookieChain(this.#kept, this.#clock)
  }

  /** Deletes the cookies after a logout or a change of user. */
  forget(credential: string): void {
    this.#kept.delete(credential)
  }
}

/** The cookies of one chain of redirects. */
export class CookieChain {
  readonly #kept: Map<string, CookieJar>
  readonly #clock: Clock
  readonly #jars = new Map<string, CookieJar>()

  constructor(kept: Map<string, CookieJar>, clock: Clock) {
    this.#kept = kept
    this.#clock = clock
  }

  /** Changes with every cookie: requests before and after are not the same. */
  get state(): string {
    return [...this.#jars.values()].map(({ version }) => version).join()
  }

  /** Returns the step with the cookies of its origin. */
  with(match: CredentialMatch, step: AuthStep): AuthStep {
    const jar = this.#jars.get(match.credential.id) ?? this.#kept.get(match.credential.id)
    if (!jar || !maySee(match, step)) return step
    const cookies = jar.header(step.request.url, step.request.headers.cookie)
    return cookies === undefined ? step : { ...step, request: withHeader(step.request, 'cookie', cookies) }
  }

  /** Stores the cookies that a redirect sets; a refused request deletes those of that origin. */
  keep(match: CredentialMatch, step: AuthStep, { status, headers, url }: HttpResponse): void {
    const { id } = match.credential
    if (!maySee(match, step)) return
    if (status === 401) for (const jars of [this.#kept, this.#jars]) jars.get(id)?.forget(new URL(url).origin)
    const fields = isRedirect(status) ? (headers.getSetCookie?.() ?? []) : []
    if (fields.length > 0) this.#jar(id).keep(url, fields)
  }

  /** Keeps the cookies of a successful chain for later ones. */
  settle(): void {
    for (const [id, jar] of this.#jars) {
      const kept = this.#kept.get(id)
      if (kept) kept.adopt(jar)
      else this.#kept.set(id, jar)
    }
  }

  #jar(id: string): CookieJar {
    const jar = this.#jars.get(id) ?? new CookieJar(() => this.#clock.now(), this.#kept.get(id))
    this.#jars.set(id, jar)
    return jar
  }
}

/** True unless the URL is signed or not in `sendTo`: cookies are sent to hosts in `sendTo` only. */
function maySee({ credential }: CredentialMatch, { request, replaces }: AuthStep): boolean {
  return replaces !== true && matchesAny(credential.sendTo, new URL(request.url))
}
