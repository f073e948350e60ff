import { eodag, keyWay } from './facts.ts'
import { type ApiKeyValues, credentialsOf, type ProviderCredentials } from './provider.ts'

const API = 'https://my.meteoblue.com/'

/**
 * Returns credentials for meteoblue.
 *
 * @example createAuth({ credentials: [meteoblue({ apiKey: key })] })
 */
export const meteoblue: ProviderCredentials<ApiKeyValues<'key'>> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'meteoblue',
  title: 'meteoblue',
  homepage: 'https://www.meteoblue.com/',
  account: { url: 'https://docs.meteoblue.com/en/weather-apis/introduction/overview', text: 'Ask for an API key as described there.' },
  sources: [
    { url: 'https://docs.meteoblue.com/en/weather-apis/introduction/overview', proves: 'host, parameter of the key' },
    eodag('meteoblue', 'key in the query, orders'),
  ],
  checked: '2026-11-28',
  recognizes: { files: [API], catalogs: [API] },
  ways: [
    keyWay({
      credential: 'meteoblue',
      when: 'All APIs: the key is in the query, where servers may log it.',
      in: 'query',
      name: 'apikey',
      env: ['METEOBLUE_API_KEY'],
      sendTo: [API],
    }),
  ],
  notes: ['Large data sets are ordered first; their results are at addresses without encryption, to which no key is sent.'],
}))
