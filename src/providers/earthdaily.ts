import { type ApiKeyValues, credentialsOf, type Provider, type ProviderCredentials } from './provider.ts'

const EARTHDAILY = {
  id: 'earthdaily',
  title: 'EarthDaily',
  homepage: 'https://earthdaily.com/',
  account: { url: 'https://console.earthdaily.com/account', text: '"Provision New API Credentials" shows the secret once.' },
  sources: [
    { url: 'https://github.com/earthdaily/earthdaily-python-client/blob/main/README.md', proves: 'token endpoint, client id, variables' },
    {
      url: 'https://earthdaily.github.io/EDA-Documentation/GettingStarted/APIAuthentication',
      proves: 'client credentials, life of tokens',
    },
  ],
  checked: '2026-11-28',
  recognizes: {
    files: ['https://api.earthdaily.com/platform/'],
    catalogs: ['https://api.earthdaily.com/platform/'],
    issuers: [],
    buckets: [],
  },
  ways: [
    {
      id: 'token',
      when: 'The STAC API, with the API token of your account.',
      works: ['unattended'],
      holes: { apiKey: { label: 'API token (client secret)', kind: 'secret', env: ['EDS_SECRET'] } },
      credentials: [
        {
          id: 'earthdaily',
          type: 'oauth2',
          flow: 'clientCredentials',
          tokenUrl: 'https://api.earthdaily.com/account_management/v1/authentication/api_tokens/exchange',
          clientId: 'EARTHDAILY_API_TOKEN',
          clientSecret: { hole: 'apiKey' },
          sendTo: ['https://api.earthdaily.com/platform/'],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: ['An access token is valid for an hour.'],
} as const satisfies Provider

/**
 * Returns credentials for EarthDaily.
 *
 * @example createAuth({ credentials: [earthdaily({ apiKey: key })] })
 */
export const earthdaily: ProviderCredentials<ApiKeyValues<'token'>> = /* @__PURE__ */ credentialsOf(EARTHDAILY)
