import { type HttpAuthScheme, loadedFlow, privateKeyField } from '../scheme.ts'

/** Sends a token bound to a key (RFC 9449): both from the credential, or both from the `oauth2` or `openIdConnect` credential named in `with`. */
export const dpop: HttpAuthScheme = {
  name: 'dpop',
  fields: {
    token: { kind: 'secret', label: 'Access token', required: true },
    privateKey: { ...privateKeyField, required: true },
  },
  alternative: { by: ['with'], fields: { with: { kind: 'id', label: 'Credential that obtains token and key', required: true } } },
  about: { standard: 'RFC 9449', browsers: 'yes', steps: 'a; again for a nonce', testedAgainst: 'oidc-provider' },
  authorize: loadedFlow(async () => (await import('./dpop-flow.ts')).dpopFlow),
}
