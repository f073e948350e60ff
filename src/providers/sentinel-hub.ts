import { client, clientWay } from './facts.ts'
import { type ClientValues, credentialsOf, type ProviderCredentials } from './provider.ts'

const API = 'https://services.sentinel-hub.com/'
const REALM = 'https://services.sentinel-hub.com/auth/realms/main'

/**
 * Returns credentials for Sentinel Hub.
 *
 * @example createAuth({ credentials: [sentinelHub({ clientId, clientSecret })] })
 */
export const sentinelHub: ProviderCredentials<ClientValues<'client'>> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'sentinel-hub',
  title: 'Sentinel Hub',
  homepage: 'https://www.sentinel-hub.com/',
  account: { url: 'https://apps.sentinel-hub.com/dashboard/', text: 'Create an OAuth client in the user settings.' },
  sources: [
    { url: 'https://docs.sentinel-hub.com/api/latest/api/overview/authentication/', proves: 'client credentials, rate limit of tokens' },
    { url: 'https://github.com/sentinel-hub/sentinelhub-py/blob/master/docs/source/configure.rst', proves: 'hosts and variables' },
  ],
  checked: '2026-11-28',
  recognizes: { files: [API], catalogs: [API], issuers: [REALM] },
  ways: [
    clientWay({
      credential: 'sentinel-hub',
      when: 'All APIs, with an OAuth client of your account.',
      holes: client(['SH_CLIENT_ID'], ['SH_CLIENT_SECRET']),
      tokenUrl: `${REALM}/protocol/openid-connect/token`,
      sendTo: [API],
    }),
  ],
  notes: ['The number of tokens is limited: one token serves all requests until it ends.'],
}))
