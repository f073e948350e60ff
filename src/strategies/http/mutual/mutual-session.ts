import { closeness, rootsOf } from '../protected-roots.ts'
import type { SharedSecret } from './kam3.ts'
import type { MutualRealm, ServerExchange } from './mutual-challenge.ts'

/** What an exchange led to: requests of one realm of a server prove themselves with it, each once. */
export class MutualSession {
  readonly realm: MutualRealm
  readonly sid: string
  readonly shared: SharedSecret
  /** Epoch milliseconds. */
  readonly expiresAt: number
  readonly #roots: readonly string[]
  readonly #ncMax: number
  #nc = 0

  /** @param url where the exchange took place; `now` in epoch milliseconds */
  constructor(
    realm: MutualRealm,
    { sid, ncMax, time, path }: ServerExchange,
    shared: SharedSecret,
    { url, now }: { url: string; now: number },
  ) {
    this.realm = realm
    this.sid = sid
    this.shared = shared
    this.expiresAt = now + time * 1000
    this.#roots = rootsOf(path, url)
    this.#ncMax = ncMax
  }

  /** The number of the next request; counted at once, so that requests side by side differ. */
  take(): number {
    return ++this.#nc
  }

  /** False when it was used as often or as long as the server allows. */
  isUsable(now: number): boolean {
    return this.#nc < this.#ncMax && now < this.expiresAt
  }

  /** How long the part of the address is that it is for; -1 when it is for other addresses. */
  covers(url: string): number {
    return closeness(this.#roots, url)
  }
}

/** More realms than any server has. */
const MAX_SESSIONS = 32

/** The sessions of one user with one server. */
export class MutualSessions {
  #sessions: readonly MutualSession[] = []

  /** The one that an address probably needs: named most closely, or else begun last. */
  covering(url: string, now: number): MutualSession | undefined {
    const usable = this.#sessions.filter((session) => session.isUsable(now))
    const [best] = usable.map((session) => ({ session, length: session.covers(url) })).sort((a, b) => b.length - a.length)
    return best && best.length >= 0 ? best.session : undefined
  }

  /** The one of a realm. */
  of(realm: MutualRealm, now: number): MutualSession | undefined {
    return this.#sessions.find((session) => isSame(session.realm, realm) && session.isUsable(now))
  }

  /** A new one, in place of the realm's last. */
  keep(session: MutualSession): void {
    const others = this.#sessions.filter((other) => !isSame(other.realm, session.realm))
    this.#sessions = [session, ...others].slice(0, MAX_SESSIONS)
  }

  /** It was refused. */
  forget(session: MutualSession): void {
    this.#sessions = this.#sessions.filter((other) => other !== session)
  }
}

function isSame(one: MutualRealm, other: MutualRealm): boolean {
  return one.scope === other.scope && one.realm === other.realm
}
