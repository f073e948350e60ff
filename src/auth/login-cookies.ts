/**
 * Cookies of logins that go from host to host: an archive sends whoever has no session to its login host, which sends them back. Only
 * answers that redirect a request of a credential set some, and they go to the origin that set them, with requests of the same
 * credential that its `sendTo` covers. They are never written down.
 */
import type { CookieJar } from '../http/cookies.ts'
import { type HttpResponse, withHeader } from '../http/message.ts'
import { isRedirect } from '../http/redirect.ts'
import type { Clock } from '../net/clock.ts'
import type { Choice } from './choice.ts'
import type { Leg } from './flow.ts'
import { coveredBy } from './grant.ts'

/** What an engine keeps, by credential, until it ends. */
export class LoginCookies {
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

export class CookieChain {
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
  with(choice: Choice, leg: Leg): Leg {
    const jar = this.#jars.get(choice.credential.id) ?? this.#kept.get(choice.credential.id)
    if (!jar || !maySee(choice, leg)) return leg
    const cookies = jar.header(leg.request.url, leg.request.headers.cookie)
    return cookies === undefined ? leg : { ...leg, request: withHeader(leg.request, 'cookie', cookies) }
  }

  /** Keeps what a redirect sets; a refusal ends the session at that origin. */
  async keep(choice: Choice, leg: Leg, { status, headers, url }: HttpResponse): Promise<void> {
    const { id } = choice.credential
    if (!maySee(choice, leg)) return
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
function maySee({ credential }: Choice, { request, replaces }: Leg): boolean {
  return replaces !== true && coveredBy(credential.sendTo, new URL(request.url))
}
