import { ConfigurationError } from '../../../errors.ts'
import { type HttpAuthScheme, loadedFlow, withoutConnections } from '../scheme.ts'

/**
 * Authenticates the user with a ticket from the system's Kerberos cache, for the service `HTTP@host` of the URL as written.
 * The first token is sent preemptively; a response is returned only when the server has proved its identity. The credential
 * holds no secret: `sendTo` alone decides who may get a token.
 */
export const negotiate: HttpAuthScheme = {
  name: 'negotiate',
  fields: {
    principal: { kind: 'text', label: 'Kerberos principal, when there are tickets of several' },
    delegate: { kind: 'boolean', label: 'Let the server act on your behalf elsewhere (ticket delegation)' },
  },
  about: {
    standard: 'RFC 4559',
    browsers: 'never',
    steps: 'a; again for each token of the server',
    testedAgainst: 'Apache (mod_auth_gssapi), MIT Kerberos, Heimdal',
  },
  check({ principal = '' }) {
    if (!/[\u0000-\u001f\u007f]/.test(String(principal))) return undefined
    return new ConfigurationError('CONFIG_INVALID', 'principal contains a control character', { pointer: '/principal' })
  },
  unsupported: () => withoutConnections('Negotiate', "let the browser log in by itself: fetch(url, { credentials: 'include' })"),
  authorize: loadedFlow(async () => (await import('./negotiate-flow.ts')).negotiateFlow),
}
