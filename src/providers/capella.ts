import { keyWay } from './facts.ts'
import { type ApiKeyValues, credentialsOf, type ProviderCredentials } from './provider.ts'

const API = 'https://api.capellaspace.com/'

/**
 * Returns credentials for Capella Space.
 *
 * @example createAuth({ credentials: [capella({ apiKey: key })] })
 */
export const capella: ProviderCredentials<ApiKeyValues<'key'>> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'capella',
  title: 'Capella Space',
  homepage: 'https://www.capellaspace.com/',
  account: { url: 'https://console.capellaspace.com/', text: 'Create an API key in the settings of your account.' },
  sources: [
    { url: 'https://docs.capellaspace.com/authentication/requesting-api-key', proves: 'header and word of the key' },
    { url: 'https://docs.capellaspace.com/accessing-data/ordering-and-downloading', proves: 'orders and signed URLs' },
    { url: 'https://capella-console-client.readthedocs.io/en/main/pages/api_reference.html', proves: 'host, variable of the key' },
  ],
  checked: '2026-11-28',
  recognizes: { files: [API], catalogs: [API] },
  ways: [
    keyWay({
      credential: 'capella',
      when: 'The catalog and orders, with an API key.',
      prefix: 'ApiKey',
      name: 'Authorization',
      env: ['CAPELLA_API_KEY'],
      sendTo: [API],
    }),
  ],
  notes: ['Files are ordered first and then at signed URLs, which need no key.'],
}))
