import { platform } from '#platform'
import type { Credential } from '../../../auth/credential.ts'
import { type AuthError, ConfigurationError, UnsupportedError } from '../../../errors.ts'
import { type HttpAuthScheme, loadedFlow } from '../scheme.ts'
import type { LoadPrivacyPass } from './issuance.ts'

/** The scheme with the package that the platform finds; in pages and workers without one, see `with-token-issuer.ts`. */
export const privateToken = /* @__PURE__ */ privateTokenWith(platform.optionalPackages?.privacyPass)

/**
 * Redeems anonymous tokens (RFC 9577): ready ones, or new ones from the issuer that the credential names (RFC 9578). A token is sent once,
 * for the challenge it was issued for; parallel requests never share one. `load` imports the package that token requests need.
 */
export function privateTokenWith(load: LoadPrivacyPass = notRegistered): HttpAuthScheme {
  return {
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
    unsupported: ({ issuerRequestUri }) => (load === notRegistered && issuerRequestUri !== undefined ? unregistered() : undefined),
    authorize: loadedFlow(async () => {
      const { privateTokenFlow } = await import('./private-token-flow.ts')
      return (request, context) => privateTokenFlow(request, context, load)
    }),
  }
}

async function notRegistered(): Promise<never> {
  throw unregistered()
}

function unregistered(): UnsupportedError {
  const message = 'requesting tokens from an issuer is not part of the default strategies in pages and workers'
  const hint = "add httpWithTokenIssuer of 'stac-auth/strategies/private-token' to strategies, or set the function issuer in the credential"
  return new UnsupportedError('SCHEME_UNSUPPORTED', message, { hint })
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
