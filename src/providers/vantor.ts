import { keyWay } from './facts.ts'
import { type ApiKeyValues, credentialsOf, type ProviderCredentials } from './provider.ts'

const API = 'https://api.maxar.com/'

/**
 * Returns credentials for Vantor Hub.
 *
 * @example createAuth({ credentials: [vantor({ apiKey: key })] })
 */
export const vantor: ProviderCredentials<ApiKeyValues<'key'>> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'vantor',
  title: 'Vantor Hub (Maxar)',
  homepage: 'https://vantor.com/',
  account: { url: 'https://hub.vantor.com/', text: 'Create an API key in your account.' },
  sources: [
    { url: 'https://developers.maxar.com/docs/analytics/vector/guides/vector-analytics-guide', proves: 'header of the key, its life' },
  ],
  checked: '2026-11-28',
  recognizes: { files: [API], catalogs: [API] },
  ways: [
    keyWay({
      credential: 'vantor',
      when: 'All APIs, with an API key in the header.',
      name: 'maxar-api-key',
      env: ['MAXAR_API_KEY'],
      sendTo: [API],
    }),
  ],
  notes: ['An API key ends after at most 180 days.'],
}))
