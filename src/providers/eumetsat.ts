import { type ClientValues, credentialsOf, type Provider, type ProviderCredentials } from './provider.ts'

const EUMETSAT = {
  id: 'eumetsat',
  title: 'EUMETSAT Data Store',
  homepage: 'https://data.eumetsat.int/',
  account: { url: 'https://api.eumetsat.int/api-key/', text: 'The page shows your consumer key and consumer secret.' },
  sources: [
    {
      url: 'https://eumetsatspace.atlassian.net/wiki/spaces/DSEV/pages/375652353/API+Authentication',
      proves: 'client credentials at the token endpoint',
    },
    {
      url: 'https://github.com/CS-SI/eodag/blob/develop/eodag/resources/providers/eumetsat_ds.yml',
      proves: 'token endpoint and host of files',
    },
  ],
  checked: '2026-11-28',
  recognizes: { files: ['https://api.eumetsat.int/data/'], catalogs: ['https://api.eumetsat.int/data/'], issuers: [], buckets: [] },
  ways: [
    {
      id: 'key',
      when: 'All products of the Data Store, with your consumer key and secret.',
      works: ['unattended'],
      holes: {
        clientId: { label: 'Consumer key', kind: 'text', env: ['EUMETSAT_CONSUMER_KEY'] },
        clientSecret: { label: 'Consumer secret', kind: 'secret', env: ['EUMETSAT_CONSUMER_SECRET'] },
      },
      credentials: [
        {
          id: 'eumetsat',
          type: 'oauth2',
          flow: 'clientCredentials',
          tokenUrl: 'https://api.eumetsat.int/token',
          clientId: { hole: 'clientId' },
          clientSecret: { hole: 'clientSecret' },
          sendTo: ['https://api.eumetsat.int/data/'],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: ['Token endpoint and data are on one host: the token is never sent to other paths than /data/.'],
} as const satisfies Provider

/**
 * Returns credentials for the EUMETSAT Data Store.
 *
 * @example createAuth({ credentials: [eumetsat({ clientId: consumerKey, clientSecret: consumerSecret })] })
 */
export const eumetsat: ProviderCredentials<ClientValues<'key'>> = /* @__PURE__ */ credentialsOf(EUMETSAT)
