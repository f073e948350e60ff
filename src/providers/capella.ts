import { type ApiKeyValues, credentialsOf, type Provider, type ProviderCredentials } from './provider.ts'

const CAPELLA = {
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
  recognizes: { files: ['https://api.capellaspace.com/'], catalogs: ['https://api.capellaspace.com/'], issuers: [], buckets: [] },
  ways: [
    {
      id: 'key',
      when: 'The catalog and orders, with an API key.',
      works: ['unattended'],
      holes: { apiKey: { label: 'API key', kind: 'secret', env: ['CAPELLA_API_KEY'] } },
      credentials: [
        {
          id: 'capella',
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          prefix: 'ApiKey',
          value: { hole: 'apiKey' },
          sendTo: ['https://api.capellaspace.com/'],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: ['Files are ordered first and then at signed URLs, which need no key.'],
} as const satisfies Provider

/**
 * Returns credentials for Capella Space.
 *
 * @example createAuth({ credentials: [capella({ apiKey: key })] })
 */
export const capella: ProviderCredentials<ApiKeyValues<'key'>> = /* @__PURE__ */ credentialsOf(CAPELLA)
