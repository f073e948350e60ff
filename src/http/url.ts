/** URLs as documents state them, and where a secret may not follow. */
import { type HrefOptions, type HrefProblem, urlOfHref } from './href.ts'
import { isLoopbackHost, isPublicHost } from './public-address.ts'

/** Why a URL is refused; the codes are those of `AuthError`. */
export interface AddressProblem {
  readonly code: HrefProblem['code'] | 'URL_INSECURE' | 'URL_ADDRESS_FORBIDDEN'
  readonly message: string
}

interface AddressRules extends HrefOptions {
  /** True when a secret may follow: `http:` is refused then, except for a loopback address the user named. */
  readonly secure: boolean
  /** Origins that the user wrote down: only these may be loopback or private. */
  readonly named: Pick<ReadonlySet<string>, 'has'>
}

/**
 * The parsed URL, or what is wrong with it. Checked in this order: syntax, scheme, user info, encryption, network.
 *
 * @example addressOf('../a.tif', { base: 'https://data.example/items/1', secure: true, named: new Set() })
 */
export function addressOf(text: string, rules: AddressRules): URL | AddressProblem {
  const url = addressInAnyNetwork(text, rules)
  if (isAddressProblem(url) || url.protocol === 's3:' || rules.named.has(url.origin) || isPublicHost(url.hostname)) return url
  return { code: 'URL_ADDRESS_FORBIDDEN', message: 'is a loopback or private address that you did not name' }
}

/** The same without the check of the network, for an address that is only shown. */
export function addressInAnyNetwork(text: string, rules: AddressRules): URL | AddressProblem {
  const url = urlOfHref(text, rules)
  if (isAddressProblem(url) || !rules.secure || url.protocol !== 'http:') return url
  if (rules.named.has(url.origin) && isLoopbackHost(url.hostname)) return url
  return { code: 'URL_INSECURE', message: 'is not encrypted (http:)' }
}

/** True for what {@link addressOf} refused. */
export function isAddressProblem(value: URL | AddressProblem): value is AddressProblem {
  return !(value instanceof URL)
}

/**
 * The origin of URLs that come one after the other, parsed only when it is another one than before: most programs ask for
 * many URLs of one origin, and parsing costs more than comparing.
 */
export class LastOrigin {
  #origin = ''

  /** The origin of an absolute URL. Errors: `TypeError` for what is none. */
  of(url: string): string {
    const { length } = this.#origin
    if (length > 0 && url.charCodeAt(length) === 0x2f && url.startsWith(this.#origin)) return this.#origin
    const { origin } = new URL(url)
    if (origin !== 'null') this.#origin = origin
    return origin
  }
}
