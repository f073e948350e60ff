import { TrustError } from '../errors.ts'
import { isRedirect } from '../http/redirect.ts'

/**
 * Why an answer that leads elsewhere is not followed: `REDIRECT_DOWNGRADE` out of https, `REDIRECT_CROSS_ORIGIN` to another origin;
 * undefined for one that stays, and for what is no redirect. Clients of an API never follow: the credential is for the base address.
 *
 * @param from the address that answered
 */
export function redirectRefusal(status: number, location: string | null, from: string): TrustError | undefined {
  if (!isRedirect(status) || location === null || !URL.canParse(location, from)) return undefined
  const [to, own] = [new URL(location, from), new URL(from)]
  if (to.origin === own.origin && to.protocol === own.protocol) return undefined
  const downgrade = own.protocol === 'https:' && to.protocol !== 'https:'
  const code = downgrade ? 'REDIRECT_DOWNGRADE' : 'REDIRECT_CROSS_ORIGIN'
  const place = to.origin === 'null' ? to.protocol : to.origin
  const error = new TrustError(code, `${own.origin} redirects to ${place}; clients follow no redirect`, {
    url: from,
    status,
    hint: `if the service has moved, give the client its new base address`,
  })
  return Object.assign(error, { from: own.origin, to: place })
}
