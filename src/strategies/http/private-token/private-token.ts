import type { Credential } from '../../../auth/credential.ts'
import { type AuthError, ConfigurationError } from '../../../errors.ts'
import { type HttpAuthScheme, loadedFlow } from '../scheme.ts'

/**
 * Redeems anonymous tokens (RFC 9577): ready ones, or new ones from the issuer that the credential names
 * (RFC 9578). A token is sent once, for the challenge it was issued for; parallel requests never share one.
 */
export const privateToken: HttpAuthScheme = {
  name: 'privatetoken',
  fields: { token: { kind: 'secret', label: 'Tokens in base64url, separated by blanks; each is for one request', required: true } },
  alternative: {
    by: ['issuerName', 'issuerRequestUri', 'issuer'],
    fields: {
      issuerName: { kind: 'text', label: 'Name of the issuer, as in challenges; other issuers are refused', required: true },
      issuerRequestUri: { kind: 'url', label: 'URL of the token issuer' },
      with: { kind: 'id', label: 'Credential that authorizes token requests' },
      issuer: { kind: 'function', label: 'In code only: function that returns a token for a challenge' },
    },
  },
  about: { standard: 'RFC 9577', browsers: 'if exposed', steps: 'h, a', testedAgainst: '@cloudflare/privacypass-ts' },
  check,
  endpoints: ({ issuerRequestUri }) => (typeof issuerRequestUri === 'string' ? [issuerRequestUri] : []),
  authorize: loadedFlow(async () => (await import('./private-token-flow.ts')).privateTokenFlow),
}

function check({ issuerName, issuerRequestUri, issuer, with: via }: Credential): AuthError | undefined {
  if (issuerName === undefined) return undefined
  const wrong = (field: string, text: string) => new ConfigurationError('CONFIG_INVALID', text, { pointer: `/${field}` })
  if ((issuerRequestUri === undefined) === (issuer === undefined)) {
    return wrong('issuerRequestUri', 'set either the URL issuerRequestUri or, in code, the function issuer, not both')
  }
  if (via !== undefined && issuer !== undefined) return wrong('with', '"with" requires issuerRequestUri')
  return undefined
}
