/** Asks for voluntary application server identification (RFC 8292) of one known sender. */
import type { KeyObject } from 'node:crypto'
import type { Guard } from './guards.ts'
import { isSignedBy, publicKeyOf, readJws, thumbprintOf } from './jws.ts'

const DAY = 24 * 60 * 60

/** 401 without an identification, 403 for one that is not of `sender` (§4.2). `now` in seconds. */
export function vapidGuard(sender: KeyObject, now = () => Date.now() / 1000): Guard {
  return ({ headers }) => {
    const { authorization, host } = headers
    if (!authorization) return { status: 401, headers: { 'www-authenticate': 'vapid' } }
    return isVapid(authorization, sender, `http://${host}`, now()) ? undefined : { status: 403 }
  }
}

/** What §2 and §3 demand: a token for this audience, not too long, signed by the key beside it, which is the sender's. */
export function isVapid(authorization: string, sender: KeyObject, audience: string, now: number): boolean {
  const [, token = '', point = ''] = /^vapid t=([A-Za-z0-9._-]+), ?k=([A-Za-z0-9_-]+)$/i.exec(authorization) ?? []
  const key = keyOf(point)
  const jws = readJws(token)
  if (!key || !jws || thumbprintOf(key) !== thumbprintOf(sender) || !isSignedBy(token, key)) return false
  const { aud, exp, sub } = jws.claims
  if (jws.header.alg !== 'ES256' || aud !== audience) return false
  return typeof exp === 'number' && exp > now && exp <= now + DAY && /^(?:mailto:.|https:\/\/.)/.test(String(sub))
}

/** The key of an uncompressed P-256 point in base64url. */
export function keyOf(point: string): KeyObject | undefined {
  const bytes = Buffer.from(point, 'base64url')
  if (bytes.length !== 65 || bytes[0] !== 4) return undefined
  const [x, y] = [bytes.subarray(1, 33), bytes.subarray(33)].map((half) => half.toString('base64url'))
  return publicKeyOf({ kty: 'EC', crv: 'P-256', x, y })
}
