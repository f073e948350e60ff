import { ACCOUNT, account, eodag, passwordWay, tokenWay } from './facts.ts'
import { credentialsOf, type ProviderCredentials, type TokenValues, type UserValues } from './provider.ts'

const API = 'https://gateway.prod.wekeo2.eu/hda-broker/api/'

/**
 * Returns credentials for WEkEO.
 *
 * @example createAuth({ credentials: [wekeo({ username: 'ada', password: { env: 'WEKEO_PASSWORD' } })] })
 */
export const wekeo: ProviderCredentials<UserValues<'password'> | TokenValues<'token'>> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'wekeo',
  title: 'WEkEO',
  homepage: 'https://www.wekeo.eu/',
  account: { url: 'https://www.wekeo.eu/', text: 'Register there.' },
  sources: [
    eodag('wekeo_main', 'hosts, token endpoint, orders'),
    {
      url: 'https://help.wekeo.eu/en/articles/6771578-how-to-use-the-wekeo-harmonized-data-access-api-rest-with-curl',
      proves: 'JSON of the token request, a token for one hour',
    },
  ],
  checked: '2026-11-28',
  recognizes: { files: [API], catalogs: ['https://gateway.prod.wekeo2.eu/hda-broker/'] },
  ways: [
    passwordWay({
      credential: 'wekeo',
      when: 'With user name and password: a token is requested every hour.',
      holes: account('WEKEO'),
      fields: {
        type: 'http',
        scheme: 'bearer',
        tokenUrl: 'https://gateway.prod.wekeo2.eu/hda-broker/gettoken',
        tokenParameters: ACCOUNT,
        tokenRequest: 'json',
      },
      sendTo: [API],
    }),
    tokenWay({
      credential: 'wekeo',
      when: 'With a token that a program of yours requests.',
      env: ['WEKEO_TOKEN'],
      sendTo: [API],
    }),
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
}))
