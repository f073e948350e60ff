import { credentialsOf, type Provider, type ProviderCredentials, type TokenValues, type UserValues } from './provider.ts'

const WEKEO = {
  id: 'wekeo',
  title: 'WEkEO',
  homepage: 'https://www.wekeo.eu/',
  account: { url: 'https://www.wekeo.eu/', text: 'Register there.' },
  sources: [
    {
      url: 'https://github.com/CS-SI/eodag/blob/develop/eodag/resources/providers/wekeo_main.yml',
      proves: 'hosts, token endpoint, orders',
    },
    {
      url: 'https://help.wekeo.eu/en/articles/6771578-how-to-use-the-wekeo-harmonized-data-access-api-rest-with-curl',
      proves: 'JSON of the token request, a token for one hour',
    },
  ],
  checked: '2026-11-28',
  recognizes: {
    files: ['https://gateway.prod.wekeo2.eu/hda-broker/api/'],
    catalogs: ['https://gateway.prod.wekeo2.eu/hda-broker/'],
    issuers: [],
    buckets: [],
  },
  ways: [
    {
      id: 'password',
      when: 'With user name and password: a token is requested every hour.',
      works: ['unattended'],
      holes: {
        username: { label: 'User name', kind: 'text-or-secret', env: ['WEKEO_USERNAME'] },
        password: { label: 'Password', kind: 'secret', env: ['WEKEO_PASSWORD'] },
      },
      credentials: [
        {
          id: 'wekeo',
          type: 'http',
          scheme: 'bearer',
          tokenUrl: 'https://gateway.prod.wekeo2.eu/hda-broker/gettoken',
          tokenParameters: { username: { hole: 'username' }, password: { hole: 'password' } },
          tokenRequest: 'json',
          sendTo: ['https://gateway.prod.wekeo2.eu/hda-broker/api/'],
          use: 'by-address',
        },
      ],
    },
    {
      id: 'token',
      when: 'With a token that a program of yours requests.',
      works: ['unattended'],
      holes: { token: { label: 'Access token', kind: 'secret', env: ['WEKEO_TOKEN'] } },
      credentials: [
        {
          id: 'wekeo',
          type: 'http',
          scheme: 'bearer',
          token: { hole: 'token' },
          sendTo: ['https://gateway.prod.wekeo2.eu/hda-broker/api/'],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: ['Downloads are ordered first, and their terms accepted in the account.'],
  // EODAG's wekeo_main.yml: order links, the request, the states, and the URL of the file.
  order: {
    files: ['https://gateway.prod.wekeo2.eu/hda-broker/api/v1/dataaccess/download'],
    parameters: ['dataset_id', 'product_id', 'location'],
    request: {
      method: 'POST',
      url: '{href}',
      body: { dataset_id: { hole: 'dataset_id' }, product_id: { hole: 'product_id' }, location: { hole: 'location' } },
      answer: { download: '/download_id' },
    },
    status: {
      url: 'https://gateway.prod.wekeo2.eu/hda-broker/api/v1/dataaccess/downloads?download_id={download}',
      state: '/features/0/status',
      ready: ['Done'],
      failed: ['Error'],
      reason: '/features/0/message',
    },
    location: 'https://gateway.prod.wekeo2.eu/hda-broker/api/v1/dataaccess/download/{download}',
  },
} as const satisfies Provider

/**
 * Returns credentials for WEkEO.
 *
 * @example createAuth({ credentials: [wekeo({ username: 'ada', password: { env: 'WEKEO_PASSWORD' } })] })
 */
export const wekeo: ProviderCredentials<UserValues<'password'> | TokenValues<'token'>> = /* @__PURE__ */ credentialsOf(WEKEO)
