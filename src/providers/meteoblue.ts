import { type ApiKeyValues, credentialsOf, type Provider, type ProviderCredentials } from './provider.ts'

const METEOBLUE = {
  id: 'meteoblue',
  title: 'meteoblue',
  homepage: 'https://www.meteoblue.com/',
  account: { url: 'https://docs.meteoblue.com/en/weather-apis/introduction/overview', text: 'Ask for an API key as described there.' },
  sources: [
    { url: 'https://docs.meteoblue.com/en/weather-apis/introduction/overview', proves: 'host, parameter of the key' },
    { url: 'https://github.com/CS-SI/eodag/blob/develop/eodag/resources/providers/meteoblue.yml', proves: 'key in the query, orders' },
  ],
  checked: '2026-11-28',
  recognizes: { files: ['https://my.meteoblue.com/'], catalogs: ['https://my.meteoblue.com/'], issuers: [], buckets: [] },
  ways: [
    {
      id: 'key',
      when: 'All APIs: the key is in the query, where servers may log it.',
      works: ['unattended'],
      holes: { apiKey: { label: 'API key', kind: 'secret', env: ['METEOBLUE_API_KEY'] } },
      credentials: [
        {
          id: 'meteoblue',
          type: 'apiKey',
          in: 'query',
          name: 'apikey',
          value: { hole: 'apiKey' },
          sendTo: ['https://my.meteoblue.com/'],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: ['Large data sets are ordered first; their results are at addresses without encryption, to which no key is sent.'],
} as const satisfies Provider

/**
 * Returns credentials for meteoblue.
 *
 * @example createAuth({ credentials: [meteoblue({ apiKey: key })] })
 */
export const meteoblue: ProviderCredentials<ApiKeyValues<'key'>> = /* @__PURE__ */ credentialsOf(METEOBLUE)
