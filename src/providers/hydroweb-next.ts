import { type ApiKeyValues, credentialsOf, type Provider, type ProviderCredentials } from './provider.ts'

const HYDROWEB = {
  id: 'hydroweb-next',
  title: 'hydroweb.next',
  homepage: 'https://hydroweb.next.theia-land.fr/',
  account: { url: 'https://hydroweb.next.theia-land.fr/', text: 'Register there and create an API key in your account.' },
  sources: [
    {
      url: 'https://github.com/CS-SI/eodag/blob/develop/eodag/resources/providers/hydroweb_next.yml',
      proves: 'STAC API, header of the key',
    },
    { url: 'https://pypi.org/project/py-hydroweb/', proves: 'account, key and its variable' },
  ],
  checked: '2026-11-28',
  recognizes: {
    files: ['https://hydroweb.next.theia-land.fr/'],
    catalogs: ['https://hydroweb.next.theia-land.fr/'],
    issuers: [],
    buckets: [],
  },
  ways: [
    {
      id: 'key',
      when: 'Catalog and files, with the API key of your account.',
      works: ['unattended'],
      holes: { apiKey: { label: 'API key', kind: 'secret', env: ['HYDROWEB_API_KEY'] } },
      credentials: [
        {
          id: 'hydroweb-next',
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          value: { hole: 'apiKey' },
          sendTo: ['https://hydroweb.next.theia-land.fr/'],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: ['The catalog needs the key as well as its files.'],
} as const satisfies Provider

/**
 * Returns credentials for hydroweb.next.
 *
 * @example createAuth({ credentials: [hydrowebNext({ apiKey: key })] })
 */
export const hydrowebNext: ProviderCredentials<ApiKeyValues<'key'>> = /* @__PURE__ */ credentialsOf(HYDROWEB)
