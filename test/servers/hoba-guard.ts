/** Asks for a signed challenge (RFC 7486) of keys that are registered already. */
import { type KeyObject, randomBytes } from 'node:crypto'
import type { Answer } from './answering-server.ts'
import type { Guard } from './guards.ts'
import { isSignature } from './jws.ts'

export interface HobaOptions {
  readonly realm?: string
  /** Seconds that a challenge can be answered; 0 is once. */
  readonly maxAge?: number
  /** Milliseconds since the epoch. */
  readonly now?: () => number
}

/** Everything that is signed, as texts (§2). */
export interface HobaFields {
  readonly nonce: string
  readonly alg: string
  readonly origin: string
  readonly realm: string
  readonly kid: string
  readonly challenge: string
}

/** 401 with a new challenge for everything but a valid answer to a living one; no nonce counts twice. */
export function hobaGuard(keys: ReadonlyMap<string, KeyObject>, { realm = '', maxAge = 60, now = Date.now }: HobaOptions = {}): Guard {
  const living = new Map<string, number>()
  const nonces = new Set<string>()
  return ({ headers }) => {
    const [, kid = '', challenge = '', nonce = '', signature = ''] = PATTERN.exec(headers.authorization ?? '') ?? []
    const key = keys.get(kid)
    const end = living.get(challenge) ?? 0
    if (maxAge === 0) living.delete(challenge)
    const fields = { nonce, alg: '0', origin: `http://${headers.host}`, realm, kid, challenge }
    const isFresh = end >= now() && nonce !== '' && !nonces.has(nonce)
    nonces.add(nonce)
    if (key && isFresh && isHoba(fields, key, signature)) return undefined
    const offer = randomBytes(32).toString('base64url')
    living.set(offer, now() + (maxAge === 0 ? 60 : maxAge) * 1000)
    return asked(offer, maxAge, realm)
  }
}

/** True when the signature (base64url) is of that key over the fields, each after its length in bytes. */
export function isHoba(fields: HobaFields, key: KeyObject, signature: string): boolean {
  const { nonce, alg, origin, realm, kid, challenge } = fields
  const text = [nonce, alg, origin, realm, kid, challenge].map((field) => `${Buffer.byteLength(field)}:${field}`).join('')
  return isSignature(text, key, Buffer.from(signature, 'base64url'))
}

const PATTERN = /^HOBA result="([\w-]+)\.([\w-]+)\.([\w-]+)\.([\w-]+)"$/

function asked(challenge: string, maxAge: number, realm: string): Answer {
  const named = realm === '' ? '' : `, realm="${realm}"`
  return { status: 401, headers: { 'www-authenticate': `HOBA challenge="${challenge}", max-age=${maxAge}${named}` } }
}
