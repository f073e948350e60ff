import { credentialsOf, type Provider, type ProviderCredentials, type TokenValues } from './provider.ts'

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
      id: 'token',
      when: 'With a token of https://gateway.prod.wekeo2.eu/hda-broker/gettoken, which a command of yours requests.',
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
  notes: [
    'Downloads are ordered first, and their terms accepted in the account.',
    'The token is requested with JSON, which no login does yet.',
  ],
} as const satisfies Provider

/**
 * Returns credentials for WEkEO.
 *
 * @example createAuth({ credentials: [wekeo({ token: () => token() })] })
 */
export const wekeo: ProviderCredentials<TokenValues<'token'>> = /* @__PURE__ */ credentialsOf(WEKEO)
