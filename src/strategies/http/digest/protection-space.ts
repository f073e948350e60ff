import { base64 } from '../../../crypto/base64.ts'
import { closeness, rootsOf } from '../protected-roots.ts'
import { ALGORITHMS } from './algorithms.ts'
import type { DigestChallenge } from './digest-challenge.ts'

/** What makes one answer differ from every other. */
export interface Turn {
  readonly nonce: string
  /** How often the nonce was used, this time included: eight hex digits. */
  readonly nc: string
  readonly cnonce: string
  /** Nonces that an account is bound to by `-sess`: those of the first answer to the challenge (RFC 7616 §3.4.2). */
  readonly session: { readonly nonce: string; readonly cnonce: string }
}

/** One realm of an origin: its challenge, and the nonce in use. */
export class ProtectionSpace {
  readonly challenge: DigestChallenge
  readonly #roots: readonly string[]
  #nonce: { readonly value: string; count: number }
  #session: Turn['session'] | undefined

  /** @param url where the challenge came from */
  constructor(challenge: DigestChallenge, url: string) {
    this.challenge = challenge
    this.#roots = rootsOf(challenge.domain, url)
    this.#nonce = { value: challenge.nonce, count: 0 }
  }

  /** How long the part of the address is that the challenge names; -1 when it is for other addresses (RFC 7616 §3.3, `domain`). */
  covers(url: string): number {
    return closeness(this.#roots, url)
  }

  /** The next use of the nonce; counted at once, so that requests side by side differ. */
  take(random: (bytes: number) => Uint8Array): Turn {
    const { value: nonce } = this.#nonce
    const nc = (++this.#nonce.count).toString(16).padStart(8, '0')
    const { isSession } = this.challenge
    const cnonce = (isSession && this.#session?.cnonce) || base64(random(16))
    this.#session ??= { nonce, cnonce }
    return { nonce, nc, cnonce, session: this.#session }
  }

  /** Goes on with a nonce that the server sent ahead (`nextnonce`). */
  renew(nonce: string): void {
    if (nonce !== this.#nonce.value) this.#nonce = { value: nonce, count: 0 }
  }
}

/** More realms than any origin has. */
const MAX_SPACES = 32

/** The realms that an origin asked one user for. */
export class ProtectionSpaces {
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
    const space = new ProtectionSpace(challenge, url)
    const others = this.#spaces.filter((other) => other.challenge.realm !== challenge.realm)
    this.#spaces = [space, ...others].slice(0, MAX_SPACES)
    return space
  }

  /** Its answer was refused. */
  forget(space: ProtectionSpace): void {
    this.#spaces = this.#spaces.filter((other) => other !== space)
  }
}
