import { type ApiKeyValues, credentialsOf, type Provider, type ProviderCredentials } from './provider.ts'

const GEODES = {
  id: 'geodes',
  title: 'CNES GEODES',
  homepage: 'https://geodes.cnes.fr/',
  account: { url: 'https://geodes-portal.cnes.fr/', text: 'Log in and create an API key in your profile.' },
  sources: [
    { url: 'https://github.com/CS-SI/eodag/blob/develop/eodag/resources/providers/geodes.yml', proves: 'STAC API, header of the key' },
    { url: 'https://geodes.cnes.fr/support/api', proves: 'STAC API, key for downloads' },
  ],
  checked: '2026-11-28',
  recognizes: { files: ['https://geodes-portal.cnes.fr/'], catalogs: ['https://geodes-portal.cnes.fr/'], issuers: [], buckets: [] },
  ways: [
    {
      id: 'key',
      when: 'All downloads, with the API key of your profile.',
      works: ['unattended'],
      holes: { apiKey: { label: 'API key', kind: 'secret', env: ['GEODES_API_KEY'] } },
      credentials: [
        {
          id: 'geodes',
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          value: { hole: 'apiKey' },
          sendTo: ['https://geodes-portal.cnes.fr/'],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: ['Searches need no key.'],
} as const satisfies Provider

/**
 * Returns credentials for GEODES of CNES.
 *
 * @example createAuth({ credentials: [geodes({ apiKey: key })] })
 */
export const geodes: ProviderCredentials<ApiKeyValues<'key'>> = /* @__PURE__ */ credentialsOf(GEODES)
