import type { Credential } from '../../../auth/credential.ts'
import { type AuthError, ConfigurationError } from '../../../errors.ts'
import type { HashName } from '../../../platform/platform.ts'
import { type HttpAuthScheme, loadedFlow } from '../scheme.ts'

/** Strongest first (RFC 7616 §3.7). */
export const ALGORITHMS: readonly HashName[] = ['SHA-512-256', 'SHA-256', 'MD5']

/**
 * `Digest` (RFC 7616, with the forms of RFC 2617 and RFC 2069): the password itself is never sent. Challenges are cached,
 * so only the first request of a protection space takes another round trip.
 */
export const digest: HttpAuthScheme = {
  name: 'digest',
  fields: {
    username: { kind: 'text-or-secret', label: 'User name', required: true },
    password: { kind: 'secret', label: 'Password', required: true },
    algorithms: { kind: 'texts', label: `Algorithms to accept: ${ALGORITHMS.join(', ')}` },
    requireServerProof: { kind: 'boolean', label: 'Refuse responses of servers that do not prove that they know the password' },
  },
  about: { standard: 'RFC 7616', browsers: 'if exposed', steps: 'h, a', testedAgainst: 'lighttpd, Apache, Tomcat, libmicrohttpd, Twisted' },
  check,
  authorize: loadedFlow(async () => (await import('./digest-flow.ts')).digestFlow),
}

function check({ algorithms }: Credential): AuthError | undefined {
  if (algorithms === undefined) return undefined
  const list = algorithms as readonly string[]
  if (list.length > 0 && list.every((name) => (ALGORITHMS as readonly string[]).includes(name))) return undefined
  return new ConfigurationError('CONFIG_INVALID', `algorithms must be a list of some of ${ALGORITHMS.join(', ')}`, {
    pointer: '/algorithms',
  })
}
