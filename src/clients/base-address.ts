import { ConfigurationError } from '../errors.ts'
import { addressOf, isAddressProblem } from '../http/address.ts'
import { isLoopbackHost } from '../http/public-address.ts'

/**
 * The origin of a base address, and its path without a slash at the end. Nothing of it is a secret: user names, queries and fragments are
 * refused.
 *
 * Errors: `URL_INSECURE` for http:, unless `allowInsecure` and a loopback address; `CONFIG_INVALID` for everything else that is wrong.
 */
export function baseAddress(baseUrl: unknown, allowInsecure: 'loopback' | undefined): { readonly origin: string; readonly path: string } {
  if (typeof baseUrl !== 'string') throw new TypeError('a client needs a baseUrl, which is a text')
  const named = new Set(URL.canParse(baseUrl) ? [new URL(baseUrl).origin] : [])
  const url = addressOf(baseUrl, { secure: false, named })
  if (isAddressProblem(url)) throw invalid(`baseUrl ${url.message}`)
  if (url.protocol === 's3:') throw invalid('baseUrl must begin with https:')
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(baseUrl)) throw invalid('baseUrl must have no query and no fragment')
  if (url.protocol === 'http:' && !(allowInsecure === 'loopback' && isLoopbackHost(url.hostname))) {
    const hint = 'use https:; only for tests on this very machine: allowInsecure: "loopback"'
    throw new ConfigurationError('URL_INSECURE', `baseUrl ${url.origin} is not encrypted (http:); no credential was read`, { hint })
  }
  return { origin: url.origin, path: url.pathname.replace(/\/+$/, '') }
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', message)
}
