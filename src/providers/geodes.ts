import { eodag, keyWay } from './facts.ts'
import { type ApiKeyValues, credentialsOf, type ProviderCredentials } from './provider.ts'

const API = 'https://geodes-portal.cnes.fr/'

/**
 * Returns credentials for GEODES of CNES.
 *
 * @example createAuth({ credentials: [geodes({ apiKey: key })] })
 */
export const geodes: ProviderCredentials<ApiKeyValues<'key'>> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'geodes',
  title: 'CNES GEODES',
  homepage: 'https://geodes.cnes.fr/',
  account: { url: 'https://geodes-portal.cnes.fr/', text: 'Log in and create an API key in your profile.' },
  sources: [
    eodag('geodes', 'STAC API, header of the key'),
    { url: 'https://geodes.cnes.fr/support/api', proves: 'STAC API, key for downloads' },
  ],
  checked: '2026-11-28',
  recognizes: { files: [API], catalogs: [API] },
  ways: [
    keyWay({
      credential: 'geodes',
      when: 'All downloads, with the API key of your profile.',
      name: 'X-API-Key',
      env: ['GEODES_API_KEY'],
      sendTo: [API],
    }),
  ],
  notes: ['Searches need no key.'],
}))
