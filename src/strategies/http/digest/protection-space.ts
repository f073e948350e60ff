import { base64 } from '../../../crypto/encoding.ts'
import { unlessAborted } from '../../../net/cancellation.ts'
import { closeness, rootsOf } from '../challenge-response.ts'
import { ALGORITHMS } from './digest.ts'
import type { DigestChallenge } from './digest-flow.ts'

/** What makes one answer differ from every other. */
export interface Turn {
  readonly nonce: string
  /** How often the nonce was used, this time included: eight hex digits. */
  readonly nc: string
  readonly cnonce: string
  /** Nonces that an account is bound to by `-sess`: those of the first answer to the challenge (RFC 7616 §3.4.2). */
  readonly session: { readonly nonce: string; readonly cnonce: string }
}

/**
 * A nonce and its uses. It belongs to the realm and not to one challenge: servers hand the same nonce to several requests, and
 * refuse a count that they have seen (RFC 7616 §3.4, `nc`).
 */
class Nonce {
  readonly value: string
  session: Turn['session'] | undefined
  #count = 0

  constructor(value: string) {
    this.value = value
  }

  /** The next count, taken at once, so that parallel requests differ. */
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

  /** How long the part of the address is that the challenge names; -1 when it is for other addresses (RFC 7616 §3.3, `domain`). */
  covers(url: string): number {
    return closeness(this.#roots, url)
  }

  /** The next use of the nonce. */
  take(random: (bytes: number) => Uint8Array): Turn {
    const nonce = this.#nonce
    const known = this.#session ?? nonce.session
    const cnonce = (this.challenge.isSession && known?.cnonce) || base64(random(16))
    const session = known ?? { nonce: nonce.value, cnonce }
    nonce.session ??= session
    this.#session = session
    return { nonce: nonce.value, nc: nonce.next(), cnonce, session }
  }

  /** Uses a nonce that the server sent ahead (`nextnonce`) from now on. */
  renew(nonce: string): void {
    if (nonce !== this.#nonce.value) this.#nonce = this.#nonces.get(this.challenge.realm, nonce)
  }
}

/** More realms than any origin has. */
const MAX_SPACES = 32
/** More nonces than a server remembers for one user. */
const MAX_NONCES = 1024

/** The nonces of an origin, those that were used last. */
class Nonces {
  readonly #nonces = new Map<string, Nonce>()

  get(realm: string, value: string): Nonce {
    const key = JSON.stringify([realm, value])
    const nonce = this.#nonces.get(key) ?? new Nonce(value)
    // The order of a map is that of insertion: what is used becomes the youngest.
    this.#nonces.delete(key)
    this.#nonces.set(key, nonce)
    if (this.#nonces.size > MAX_NONCES) this.#nonces.delete(this.#nonces.keys().next().value ?? key)
    return nonce
  }
}

/** How the octets of a name and a password are made from their text, where the server does not say it. */
type Charset = 'UTF-8' | 'ISO-8859-1'

/** The realms that an origin asked one user for. */
export class ProtectionSpaces {
  /** With which an answer was accepted. */
  charset: Charset | undefined
  /** Held while a request is answered. */
  readonly lock = new SharedLock()
  /** The server loses track of parallel requests: each is answered alone. */
  isOrdered = false
  /** How many answers were refused that no other request could have disturbed. */
  refusals = 0
  readonly #nonces = new Nonces()
  #spaces: readonly ProtectionSpace[] = []

  /** The realm that an address probably belongs to: the one named most closely, or else the one that asked last. */
  covering(url: string): ProtectionSpace | undefined {
    const [best] = this.#spaces.map((space) => ({ space, length: space.covers(url) })).sort((a, b) => b.length - a.length)
    return best && best.length >= 0 ? best.space : undefined
  }

  /** True when the realm asked for a stronger algorithm before. */
  isWeaker({ realm, hash }: DigestChallenge): boolean {
    const known = this.#spaces.find((space) => space.challenge.realm === realm)
    return known !== undefined && ALGORITHMS.indexOf(hash) > ALGORITHMS.indexOf(known.challenge.hash)
  }

  /** A new challenge, in place of what the realm asked for before. */
  keep(challenge: DigestChallenge, url: string): ProtectionSpace {
    const space = new ProtectionSpace(challenge, url, this.#nonces)
    const others = this.#spaces.filter((other) => other.challenge.realm !== challenge.realm)
    this.#spaces = [space, ...others].slice(0, MAX_SPACES)
    return space
  }

  /** Its answer was refused. */
  forget(space: ProtectionSpace): void {
    this.#spaces = this.#spaces.filter((other) => other !== space)
    this.charset = undefined
  }

  /** True when more than one answer was made for the nonce: a refusal may be about its count. */
  isShared({ challenge }: ProtectionSpace, { nonce }: Turn): boolean {
    return this.#nonces.get(challenge.realm, nonce).isShared
  }
}

/** A place in a {@link SharedLock}. */
export interface Stay {
  readonly isAlone: boolean
  /** Another one was there at the same time. */
  readonly wasCrowded: boolean
  leave(): void
}

/** Lets any number in together, or one alone; those who want to be alone go before all who come later. */
class SharedLock {
  readonly #together = new Map<{ wasCrowded: boolean }, Promise<void>>()
  #lastAlone: Promise<unknown> | undefined

  /** Errors: `ABORTED` while waiting. */
  async enter(isAlone: boolean, signal?: AbortSignal): Promise<Stay> {
    const before = [this.#lastAlone, ...(isAlone ? this.#together.values() : [])].filter((one) => one !== undefined)
    let leave = () => {}
    const left = new Promise<void>((resolve) => {
      leave = resolve
    })
    const stay = { isAlone, wasCrowded: false, leave: () => leave() }
    if (isAlone) this.#waitFor(Promise.all([...before, left]))
    else this.#join(stay, left)
    try {
      if (before.length > 0) await unlessAborted(Promise.all(before), signal)
    } catch (error) {
      leave()
      throw error
    }
    return stay
  }

  #waitFor(end: Promise<unknown>): void {
    this.#lastAlone = end
    void end.then(() => {
      if (this.#lastAlone === end) this.#lastAlone = undefined
    })
  }

  #join(stay: { wasCrowded: boolean }, left: Promise<void>): void {
    stay.wasCrowded = this.#together.size > 0
    for (const other of this.#together.keys()) other.wasCrowded = true
    this.#together.set(stay, left)
    void left.then(() => this.#together.delete(stay))
  }
}
