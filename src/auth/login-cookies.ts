/** The cookies that hosts set while a credential logs in through redirects. */

import { CookieJar } from '../http/cookies.ts'
import type { Clock } from '../net/clock.ts'

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

  /** Returns the header `Cookie` of a request with a credential; undefined without cookies for that URL. `own` are cookies of the request. */
  header(credential: string, url: string, own: string | undefined): string | undefined {
    const jar = this.#jars.get(credential) ?? this.#kept.get(credential)
    return jar?.header(url, own)
  }

  /** Stores the cookies that the response of that URL sets. */
  keep(credential: string, url: string, fields: readonly string[]): void {
    this.#jar(credential).keep(url, fields)
  }

  /** Deletes the cookies of the origin that refused a request. */
  refused(credential: string, url: string): void {
    for (const jars of [this.#kept, this.#jars]) jars.get(credential)?.forget(new URL(url).origin)
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
