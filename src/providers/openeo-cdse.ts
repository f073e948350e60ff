import { CLIENT, client } from './facts.ts'
import { type ClientValues, credentialsOf, type NoValues, type ProviderCredentials } from './provider.ts'

const API = 'https://openeo.dataspace.copernicus.eu/'

const OPENEO = {
  id: 'openeo-cdse',
  type: 'openIdConnect',
  openIdConnectUrl: 'https://identity.dataspace.copernicus.eu/auth/realms/CDSE/.well-known/openid-configuration',
  tokenPrefix: 'oidc/CDSE/',
  sendTo: [API],
  use: 'by-address',
}

/**
 * Returns credentials for openEO of the Copernicus Data Space: of a login, or of a client.
 *
 * @example createAuth({ credentials: [openeoCdse()] })
 */
export const openeoCdse: ProviderCredentials<NoValues<'login'> | ClientValues<'client'>> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'openeo-cdse',
  title: 'openEO of the Copernicus Data Space Ecosystem',
  homepage: 'https://dataspace.copernicus.eu/analyse/openeo',
  account: { url: 'https://dataspace.copernicus.eu/', text: 'Register there; the account is that of the Copernicus Data Space.' },
  sources: [
    { url: 'https://openeo.org/documentation/1.0/authentication.html', proves: 'the id of the login provider before the token' },
    { url: 'https://github.com/Open-EO/openeo-python-client/blob/master/docs/auth.rst', proves: 'clients without a person, variables' },
    { url: 'https://openeo.dataspace.copernicus.eu/openeo/1.2/credentials/oidc', proves: 'id CDSE, issuer and default client' },
  ],
  checked: '2026-11-28',
  recognizes: { files: [API], catalogs: [API] },
  ways: [
    {
      id: 'login',
      when: 'Results of your jobs, with a login in the browser.',
      works: [],
      holes: {},
      credentials: [{ ...OPENEO, clientId: 'sh-b1c3a958-52d4-40fe-a333-153595d1c71e', scopes: ['offline_access'] }],
    },
    {
      id: 'client',
      when: 'Results of jobs of a client that you registered in the dashboard, without a person.',
      works: ['unattended'],
      holes: client(['OPENEO_AUTH_CLIENT_ID'], ['OPENEO_AUTH_CLIENT_SECRET']),
      credentials: [{ ...OPENEO, flow: 'clientCredentials', ...CLIENT }],
    },
  ],
  notes: [
    'Signed URLs in results need no credential.',
    'Other openEO servers list their login providers at /credentials/oidc: each has an id, an issuer and clients of its own.',
  ],
}))
