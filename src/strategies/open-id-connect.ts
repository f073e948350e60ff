/** OpenID Connect: named by its discovery address. */
import type { Credential } from '../auth/credential.ts'
import type { Strategy } from '../auth/strategy.ts'
import { type AuthError, ConfigurationError, SelectionError } from '../errors.ts'
import { isOpenIdConnectScheme, type OpenIdConnectScheme } from '../stac/scheme.ts'
import { bearer } from './http/bearer.ts'
import { clientFields } from './oauth2/client-fields.ts'
import { loginRequired } from './oauth2/login-required.ts'

type OpenIdConnectCredential = Credential & { readonly openIdConnectUrl?: string; readonly issuer?: string }

const DISCOVERY = '/.well-known/openid-configuration'

/**
 * Matches providers by their discovery address (OpenID Connect Discovery 1.0 §4). A finished bearer token answers it; a
 * login is not part of this version.
 */
export const openIdConnect: Strategy<OpenIdConnectScheme, OpenIdConnectCredential> = {
  type: 'openIdConnect',
  acceptsToken: true,
  forms: [
    {
      fields: {
        openIdConnectUrl: { kind: 'url', label: 'Discovery address' },
        issuer: { kind: 'url', label: 'Issuer, instead of the discovery address' },
        flow: { kind: 'text', label: 'Flow', values: ['authorizationCode', 'clientCredentials', 'password'] },
        ...clientFields,
        clientId: { ...clientFields.clientId, required: true },
      },
    },
  ],
  problem(scheme, at): AuthError | undefined {
    if (isOpenIdConnectScheme(scheme)) return undefined
    return new SelectionError('SCHEME_INVALID', 'an openIdConnect scheme needs "openIdConnectUrl"', { pointer: at })
  },
  identity: ({ openIdConnectUrl }) => [
    [{ name: 'openIdConnectUrl', value: discoveryUrl(openIdConnectUrl), pointer: '/openIdConnectUrl', url: 'absolute' }],
  ],
  schemeOf: ({ openIdConnectUrl, issuer }) => ({ type: 'openIdConnect', openIdConnectUrl: openIdConnectUrl ?? issuer ?? '' }),
  refine(entry) {
    if ((entry.openIdConnectUrl === undefined) === (entry.issuer === undefined)) {
      throw new ConfigurationError('CONFIG_INVALID', 'give either openIdConnectUrl or issuer')
    }
    return entry
  },
  describe: () => ({ entry: { type: 'http', scheme: 'bearer' }, fields: bearer.fields }),
  endpoints: ({ openIdConnectUrl, issuer }) => [discoveryUrl(openIdConnectUrl ?? issuer ?? '')],
  prepare({ credential }) {
    throw loginRequired(credential.id)
  },
  // biome-ignore lint/correctness/useYield: there is no leg before a login
  async *authorize(_request, { credential }) {
    throw loginRequired(credential.id)
  },
}

/** An address without the well-known suffix is an issuer. */
function discoveryUrl(url: string): string {
  return url.includes(DISCOVERY) ? url : `${url.replace(/\/$/, '')}${DISCOVERY}`
}
