import { ConfigurationError } from '../../../errors.ts'
import { type HttpAuthScheme, loadedFlow, withoutConnections } from '../scheme.ts'

/**
 * Proves the user with a ticket of the system's Kerberos cache, for the service `HTTP@host` of the address as it is written.
 * The first token goes out at once; an answer is delivered only when the server has proved itself. No secret is in the
 * entry: `sendTo` alone says who may get a token.
 */
export const negotiate: HttpAuthScheme = {
  name: 'negotiate',
  fields: {
    principal: { kind: 'text', label: 'Kerberos principal, where there are tickets of several' },
    delegate: { kind: 'boolean', label: 'Let the server act for you elsewhere, with your ticket' },
  },
  about: {
    standard: 'RFC 4559',
    browsers: 'never',
    steps: 'a; again for each token of the server',
    testedAgainst: 'Apache (mod_auth_gssapi), MIT Kerberos, Heimdal',
  },
  check({ principal = '' }) {
    if (!/[\u0000-\u001f\u007f]/.test(String(principal))) return undefined
    return new ConfigurationError('CONFIG_INVALID', 'principal has a control character in it', { pointer: '/principal' })
  },
  unsupported: () => withoutConnections('Negotiate', "let the browser log in by itself: fetch(url, { credentials: 'include' })"),
  authorize: loadedFlow(async () => (await import('./negotiate-flow.ts')).negotiateFlow),
}
