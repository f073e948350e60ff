import { type ClientValues, credentialsOf, type Provider, type ProviderCredentials } from './provider.ts'

const SENTINEL_HUB = {
  id: 'sentinel-hub',
  title: 'Sentinel Hub',
  homepage: 'https://www.sentinel-hub.com/',
  account: { url: 'https://apps.sentinel-hub.com/dashboard/', text: 'Create an OAuth client in the user settings.' },
  sources: [
    {
      url: 'https://docs.sentinel-hub.com/api/latest/api/overview/authentication/',
      proves: 'client credentials, rate limit of tokens',
    },
    { url: 'https://github.com/sentinel-hub/sentinelhub-py/blob/master/docs/source/configure.rst', proves: 'hosts and variables' },
  ],
  checked: '2026-11-28',
  recognizes: {
    files: ['https://services.sentinel-hub.com/'],
    catalogs: ['https://services.sentinel-hub.com/'],
    issuers: ['https://services.sentinel-hub.com/auth/realms/main'],
    buckets: [],
  },
  ways: [
    {
      id: 'client',
      when: 'All APIs, with an OAuth client of your account.',
      works: ['unattended'],
      holes: {
        clientId: { label: 'Client id', kind: 'text', env: ['SH_CLIENT_ID'] },
        clientSecret: { label: 'Client secret', kind: 'secret', env: ['SH_CLIENT_SECRET'] },
      },
      credentials: [
        {
          id: 'sentinel-hub',
          type: 'oauth2',
          flow: 'clientCredentials',
          tokenUrl: 'https://services.sentinel-hub.com/auth/realms/main/protocol/openid-connect/token',
          clientId: { hole: 'clientId' },
          clientSecret: { hole: 'clientSecret' },
          sendTo: ['https://services.sentinel-hub.com/'],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: ['The number of tokens is limited: one token serves all requests until it ends.'],
} as const satisfies Provider

/**
 * Returns credentials for Sentinel Hub.
 *
 * @example createAuth({ credentials: [sentinelHub({ clientId, clientSecret })] })
 */
export const sentinelHub: ProviderCredentials<ClientValues<'client'>> = /* @__PURE__ */ credentialsOf(SENTINEL_HUB)
