import { type HttpAuthScheme, loadedFlow, privateKeyField } from '../scheme.ts'

/** A token bound to a key (RFC 9449): both of the entry, or both of the `oauth2` or `openIdConnect` entry named in `with`. */
export const dpop: HttpAuthScheme = {
  name: 'dpop',
  fields: {
    token: { kind: 'secret', label: 'Access token', required: true },
    privateKey: { ...privateKeyField, required: true },
  },
  alternative: { by: ['with'], fields: { with: { kind: 'id', label: 'Entry that obtains token and key', required: true } } },
  about: { standard: 'RFC 9449', browsers: 'yes', steps: 'a; again for a nonce', testedAgainst: 'oidc-provider' },
  authorize: loadedFlow(async () => (await import('./dpop-flow.ts')).dpopFlow),
}
