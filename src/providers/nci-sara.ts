import { credentialsOf, type Provider, type ProviderCredentials, type UserValues } from './provider.ts'

const SARA = {
  id: 'nci-sara',
  title: 'Sentinel Australasia Regional Access (NCI)',
  homepage: 'https://www.copernicus.gov.au/',
  account: { url: 'https://copernicus.nci.org.au/sara.client/', text: 'Register there.' },
  sources: [
    {
      url: 'https://github.com/CS-SI/eodag/blob/develop/eodag/resources/providers/sara.yml',
      proves: 'host of catalog and files, Basic, status 403',
    },
  ],
  checked: '2026-11-28',
  recognizes: { files: ['https://copernicus.nci.org.au/'], catalogs: ['https://copernicus.nci.org.au/'], issuers: [], buckets: [] },
  ways: [
    {
      id: 'password',
      when: 'All downloads, with user name and password of your account.',
      works: ['unattended'],
      holes: {
        username: { label: 'User name (e-mail address)', kind: 'text-or-secret', env: ['SARA_USERNAME'] },
        password: { label: 'Password', kind: 'secret', env: ['SARA_PASSWORD'] },
      },
      credentials: [
        {
          id: 'nci-sara',
          type: 'http',
          scheme: 'basic',
          username: { hole: 'username' },
          password: { hole: 'password' },
          sendTo: ['https://copernicus.nci.org.au/'],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: ['The server answers 403 without a password.'],
} as const satisfies Provider

/**
 * Returns credentials for Sentinel Australasia Regional Access.
 *
 * @example createAuth({ credentials: [nciSara({ username, password })] })
 */
export const nciSara: ProviderCredentials<UserValues<'password'>> = /* @__PURE__ */ credentialsOf(SARA)
