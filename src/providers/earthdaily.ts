import { clientWay, secretHole } from './facts.ts'
import { type ApiKeyValues, credentialsOf, type ProviderCredentials } from './provider.ts'

const API = 'https://api.earthdaily.com/platform/'

/**
 * Returns credentials for EarthDaily.
 *
 * @example createAuth({ credentials: [earthdaily({ apiKey: key })] })
 */
export const earthdaily: ProviderCredentials<ApiKeyValues<'token'>> = /* @__PURE__ */ credentialsOf(() => ({
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
  recognizes: { files: [API], catalogs: [API] },
  ways: [
    clientWay({
      credential: 'earthdaily',
      id: 'token',
      when: 'The STAC API, with the API token of your account.',
      holes: { apiKey: secretHole('API token (client secret)', ['EDS_SECRET']) },
      tokenUrl: 'https://api.earthdaily.com/account_management/v1/authentication/api_tokens/exchange',
      more: { clientId: 'EARTHDAILY_API_TOKEN', clientSecret: { hole: 'apiKey' } },
      sendTo: [API],
    }),
  ],
  notes: ['An access token is valid for an hour.'],
}))
