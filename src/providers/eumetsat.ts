import { client, clientWay, eodag } from './facts.ts'
import { type ClientValues, credentialsOf, type ProviderCredentials } from './provider.ts'

const DATA = 'https://api.eumetsat.int/data/'

/**
 * Returns credentials for the EUMETSAT Data Store.
 *
 * @example createAuth({ credentials: [eumetsat({ clientId: consumerKey, clientSecret: consumerSecret })] })
 */
export const eumetsat: ProviderCredentials<ClientValues<'key'>> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'eumetsat',
  title: 'EUMETSAT Data Store',
  homepage: 'https://data.eumetsat.int/',
  account: { url: 'https://api.eumetsat.int/api-key/', text: 'The page shows your consumer key and consumer secret.' },
  sources: [
    {
      url: 'https://eumetsatspace.atlassian.net/wiki/spaces/DSEV/pages/375652353/API+Authentication',
      proves: 'client credentials at the token endpoint',
    },
    eodag('eumetsat_ds', 'token endpoint and host of files'),
  ],
  checked: '2026-11-28',
  recognizes: { files: [DATA], catalogs: [DATA] },
  ways: [
    clientWay({
      credential: 'eumetsat',
      id: 'key',
      when: 'All products of the Data Store, with your consumer key and secret.',
      holes: client(['EUMETSAT_CONSUMER_KEY'], ['EUMETSAT_CONSUMER_SECRET'], 'Consumer key', 'Consumer secret'),
      tokenUrl: 'https://api.eumetsat.int/token',
      sendTo: [DATA],
    }),
  ],
  notes: ['Token endpoint and data are on one host: the token is never sent to other paths than /data/.'],
}))
