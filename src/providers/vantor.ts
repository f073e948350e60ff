import { type ApiKeyValues, credentialsOf, type Provider, type ProviderCredentials } from './provider.ts'

const VANTOR = {
  id: 'vantor',
  title: 'Vantor Hub (Maxar)',
  homepage: 'https://vantor.com/',
  account: { url: 'https://hub.vantor.com/', text: 'Create an API key in your account.' },
  sources: [
    { url: 'https://developers.maxar.com/docs/analytics/vector/guides/vector-analytics-guide', proves: 'header of the key, its life' },
  ],
  checked: '2026-11-28',
  recognizes: { files: ['https://api.maxar.com/'], catalogs: ['https://api.maxar.com/'], issuers: [], buckets: [] },
  ways: [
    {
      id: 'key',
      when: 'All APIs, with an API key in the header.',
      works: ['unattended'],
      holes: { apiKey: { label: 'API key', kind: 'secret', env: ['MAXAR_API_KEY'] } },
      credentials: [
        {
          id: 'vantor',
          type: 'apiKey',
          in: 'header',
          name: 'maxar-api-key',
          value: { hole: 'apiKey' },
          sendTo: ['https://api.maxar.com/'],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: ['An API key ends after at most 180 days.'],
} as const satisfies Provider

/**
 * Returns credentials for Vantor Hub.
 *
 * @example createAuth({ credentials: [vantor({ apiKey: key })] })
 */
export const vantor: ProviderCredentials<ApiKeyValues<'key'>> = /* @__PURE__ */ credentialsOf(VANTOR)
