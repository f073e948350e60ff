/** Addresses that open by themselves for a while: an HMAC over path and end, as content delivery networks do it. */
import { createHmac } from 'node:crypto'
import { type Guard, sameText } from './guards.ts'

export interface UrlSigner {
  /** The address with `Expires` (epoch seconds) and `Signature`. */
  sign(url: string): { readonly url: string; readonly expires: Date }
  /** Lets signed requests pass until their end; every other one is 403. */
  readonly guard: Guard
}

export interface UrlSignerOptions {
  readonly key: string | Uint8Array
  /** Seconds; default 300. */
  readonly lifetime?: number
  readonly now?: () => number
}

/** A signer and the guard that believes it, and nobody else. */
export function createUrlSigner({ key, lifetime = 300, now = Date.now }: UrlSignerOptions): UrlSigner {
  const signatureOf = (path: string, expires: string) => createHmac('sha256', key).update(`${path}\n${expires}`).digest('base64url')
  return {
    sign(address) {
      const url = new URL(address)
      const expires = Math.floor(now() / 1000) + lifetime
      url.search = new URLSearchParams({ Expires: String(expires), Signature: signatureOf(url.pathname, String(expires)) }).toString()
      return { url: url.href, expires: new Date(expires * 1000) }
    },
    guard({ path, query }) {
      const { Expires: expires = '', Signature: signature = '' } = Object.fromEntries(query)
      return sameText(signature, signatureOf(path, expires)) && Number(expires) * 1000 > now() ? undefined : { status: 403 }
    },
  }
}
