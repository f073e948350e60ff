import { base64 } from '../../../crypto/encoding.ts'
import { unlessAborted } from '../../../net/cancellation.ts'
import { closeness, rootsOf } from '../challenge-response.ts'
import { ALGORITHMS } from './digest.ts'
import type { DigestChallenge } from './digest-flow.ts'

/** The values that make one answer unique. */
export interface Turn {
  readonly nonce: string
  /** The number of uses of the nonce, including this one: eight hex digits. */
  readonly nc: string
  readonly cnonce: string
  /** Nonces that an account is bound to by `-sess`: those of the first answer to the challenge (RFC 7616 §3.4.2). */
  readonly session: { readonly nonce: string; readonly cnonce: string }
}

/**
 * A nonce and its uses. It belongs to the realm and not to one challenge: servers send the same nonce to several requests, and
 * refuse a count that they have seen (RFC 7616 §3.4, `nc`).
 */
class Nonce {
  readonly value: string
  session: Turn['session'] | undefined
  #count = 0

  constructor(value: string) {
    this.value = value
  }

  /** Returns the next count, synchronously, so that parallel requests differ. */
  next(): string {
    return (++this.#count).toString(16).padStart(8, '0')
  }

  /** True when it was used more than once. */
  get isShared(): boolean {
    return this.#count > 1
  }
}

/** One realm of an origin: its challenge, and the nonce in use. */
export class ProtectionSpace {
  readonly challenge: DigestChallenge
  readonly #roots: readonly string[]
  readonly #nonces: Nonces
  #nonce: Nonce
  #session: Turn['session'] | undefined

  /** @param url where the challenge came from */
  constructor(challenge: DigestChallenge, url: string, nonces: Nonces) {
    this.challenge = challenge
    this.#roots = rootsOf(challenge.domain, url)
    this.#nonces = nonces
    this.#nonce = nonces.get(challenge.realm, challenge.nonce)
  }

  /** Returns the length of the URL prefix that the challenge names; -1 when it is for other URLs (RFC 7616 §3.3, `domain`). */
  covers(url: string): number {
    return closeness(this.#roots, url)
  }

  /** Returns the next use of the nonce. */
  take(random: (bytes: number) => Uint8Array): Turn {
    const nonce = this.#nonce
    const known = this.#session ?? nonce.session
    const cnonce = (this.challenge.isSession && known?.cnonce) || base64(random(16))
    const session = known ?? { nonce: nonce.value, cnonce }
    nonce.session ??= session
    this.#session = session
    return { nonce: nonce.value, nc: nonce.next(), cnonce, session }
  }

  /** Replaces the nonce with one that the server sent ahead (`nextnonce`). */
  renew(nonce: string): void {
    this.#nonce = this.#nonces.get(this.challenge.realm, nonce)
  }
}

/** Above the number of realms of any origin. */
const MAX_SPACES = 32
/** Above the number of nonces that a server keeps for one user. */
const MAX_NONCES = 1024

/** The most recently used nonces of an origin. */
class Nonces {
  readonly #nonces = new Map<string, Nonce>()

  get(realm: string, value: string): Nonce {
    const key = JSON.stringify([realm, value])
    const nonce = this.#nonces.get(key) ?? new Nonce(value)
    // A Map iterates in insertion order: reinserting marks a value as most recently used.
    this.#nonces.delete(key)
    this.#nonces.set(key, nonce)
    if (this.#nonces.size > MAX_NONCES) this.#nonces.delete(this.#nonces.keys().next().value ?? key)
    return nonce
  }
}

/** The encoding of user name and password when the server does not name one. */
type Charset = 'UTF-8' | 'ISO-8859-1'

/** The realms of an origin for one user. */
export class ProtectionSpaces {
  /** The charset of an accepted answer. */
  charset: Charset | undefined
  /** Held while a request is sent. */
  readonly lock = new SharedLock()
  /** True when the server does not support parallel requests: each is sent alone. */
  isOrdered = false
  /** How many answers were refused that no other request can have disturbed. */
  refusals = 0
  readonly #nonces = new Nonces()
  #spaces: readonly ProtectionSpace[] = []

  /** Returns the realm that a URL probably belongs to: the most specific one, or the latest. */
  covering(url: string): ProtectionSpace | undefined {
    const [best] = this.#spaces.map((space) => ({ space, length: space.covers(url) })).sort((a, b) => b.length - a.length)
    return best && best.length >= 0 ? best.space : undefined
  }

  /** True when the realm required a stronger algorithm before. */
  isWeaker({ realm, hash }: DigestChallenge): boolean {
    const known = this.#spaces.find((space) => space.challenge.realm === realm)
    return known !== undefined && ALGORITHMS.indexOf(hash) > ALGORITHMS.indexOf(known.challenge.hash)
  }

  /** Replaces the challenge of its realm. */
  keep(challenge: DigestChallenge, url: string): ProtectionSpace {
    const space = new ProtectionSpace(challenge, url, this.#nonces)
    const others = this.#spaces.filter((other) => other.challenge.realm !== challenge.realm)
    this.#spaces = [space, ...others].slice(0, MAX_SPACES)
    return space
  }

  /** Removes a realm whose answer was refused. */
  forget(space: ProtectionSpace): void {
    this.#spaces = this.#spaces.filter((other) => other !== space)
    this.charset = undefined
  }

  /** True when more than one answer used the nonce: a refusal may be caused by its count. */
  isShared({ challenge }: ProtectionSpace, { nonce }: Turn): boolean {
    return this.#nonces.get(challenge.realm, nonce).isShared
  }
}

/** A held {@link SharedLock}. */
export interface Stay {
  readonly isAlone: boolean
  /** True when another holder was present at the same time. */
  readonly wasCrowded: boolean
  leave(): void
}

/** A lock that any number may share or one may hold alone; exclusive waiters go before all later ones. */
class SharedLock {
  readonly #together = new Map<{ wasCrowded: boolean }, Promise<void>>()
  #lastAlone: Promise<void> | undefined

  /** Errors: `ABORTED` while waiting. */
  async enter(isAlone: boolean, signal?: AbortSignal): Promise<Stay> {
    const before = [this.#lastAlone, ...(isAlone ? this.#together.values() : [])]
    let leave = () => {}
    const left = new Promise<void>((resolve) => {
      leave = resolve
    })
    const stay = { isAlone, wasCrowded: false, leave: () => leave() }
    // Without its results: each would hold those of all before it.
    if (isAlone) this.#lastAlone = Promise.all([...before, left]).then(() => undefined)
    else this.#join(stay, left)
    try {
      await unlessAborted(Promise.all(before), signal)
    } catch (error) {
      leave()
      throw error
    }
    return stay
  }

  #join(stay: { wasCrowded: boolean }, left: Promise<void>): void {
    stay.wasCrowded = this.#together.size > 0
    for (const other of this.#together.keys()) other.wasCrowded = true
    this.#together.set(stay, left)
    void left.then(() => this.#together.delete(stay))
  }
}
