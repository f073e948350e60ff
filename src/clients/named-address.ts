import { ProtocolError } from '../errors.ts'
import { addressOf, isAddressProblem } from '../http/address.ts'
import { isLoopbackHost } from '../http/public-address.ts'

/**
 * An address that a service named, as its user would allow it: https, public, nobody's login in it. A loopback address only where the
 * user said so, for tests. Errors: `RESPONSE_INVALID`, which never shows the address: it may hold a secret.
 *
 * @param by origin of the service
 */
export function namedAddress(address: unknown, by: string, allowInsecure: 'loopback' | undefined): URL {
  const text = typeof address === 'string' ? address : ''
  const origin = URL.canParse(text) ? new URL(text) : undefined
  const isGranted = origin !== undefined && allowInsecure === 'loopback' && isLoopbackHost(origin.hostname)
  const url = addressOf(text, { secure: true, named: new Set(isGranted ? [origin.origin] : []) })
  if (!isAddressProblem(url) && url.protocol !== 's3:') return url
  const why = isAddressProblem(url) ? url.message : 'is no address of the web'
  throw new ProtocolError('RESPONSE_INVALID', `${by} names an address that ${why}; nothing was sent there`, { url: by })
}
