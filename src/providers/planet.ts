import { discovery, keyWay, secretHole } from './facts.ts'
import { type ApiKeyValues, credentialsOf, type ProviderCredentials, type PublicClientValues, type Way } from './provider.ts'

const API = 'https://api.planet.com/'
const TILES = 'https://tiles.planet.com/'
const LOGIN = 'https://login.planet.com/'
const KEY = { apiKey: secretHole('API key', ['PL_API_KEY']) }

const login = (): Way => ({
  id: 'login',
  when: 'Documents of the STAC API, which name a login: in the browser, with an application that you register.',
  works: [],
  holes: { clientId: { label: 'Client id of your application', kind: 'text' } },
  credentials: [
    {
      id: 'planet',
      type: 'openIdConnect',
      ...discovery(LOGIN),
      clientId: { hole: 'clientId' },
      scopes: ['planet', 'offline_access'],
      sendTo: [API],
    },
  ],
})

const ways = (): readonly Way[] => [
  {
    id: 'key',
    when: 'Files and APIs, with the API key in the header.',
    works: ['unattended'],
    holes: KEY,
    credentials: [
      {
        id: 'planet-key',
        type: 'http',
        scheme: 'api-key',
        credentials: { hole: 'apiKey' },
        sendTo: [API],
        use: 'by-address',
      },
    ],
  },
  {
    id: 'basic',
    when: 'Documents that name the scheme basic: the key is the user name, with an empty password.',
    works: ['unattended'],
    holes: KEY,
    credentials: [
      {
        id: 'planet-basic',
        type: 'http',
        scheme: 'basic',
        username: { hole: 'apiKey' },
        emptyPassword: true,
        sendTo: [API],
        use: 'by-address',
      },
    ],
  },
  keyWay({
    id: 'tiles',
    credential: 'planet-tiles',
    when: 'Tiles, also in pages: the key is in the query, where servers may log it.',
    works: ['page', 'unattended'],
    in: 'query',
    name: 'api_key',
    env: ['PL_API_KEY'],
    sendTo: [TILES],
  }),
  login(),
]

/**
 * Returns credentials for Planet: of an API key, with `way: 'basic'` or `'tiles'` in another place, or of a login of your application.
 *
 * @example createAuth({ credentials: [planet({ apiKey: key }), planet({ way: 'tiles', apiKey: key })] })
 */
export const planet: ProviderCredentials<
  ApiKeyValues<'key'> | ApiKeyValues<'basic'> | ApiKeyValues<'tiles'> | PublicClientValues<'login'>
> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'planet',
  title: 'Planet',
  homepage: 'https://www.planet.com/',
  account: { url: 'https://www.planet.com/account/', text: 'The settings of your account show the API key.' },
  sources: [
    { url: 'https://docs.planet.com/develop/authentication/', proves: 'API key by header, by Basic and by query; login; tokens' },
    { url: 'https://github.com/planetlabs/planet-client-python/blob/main/docs/auth/auth-sdk.md', proves: 'PL_API_KEY' },
    { url: 'https://github.com/planetlabs/planet-client-python/blob/main/planet/auth_builtins.py', proves: 'issuer and scopes' },
    { url: 'https://github.com/planetlabs/planet-client-python/blob/main/planet/clients/data.py', proves: 'activation of assets' },
    { url: 'https://support.planet.com/hc/en-us/articles/4414022365201', proves: 'what counts against the quota' },
  ],
  checked: '2026-11-28',
  recognizes: { files: [API, TILES], catalogs: [API], issuers: [LOGIN] },
  ways: ways(),
  notes: [
    'An API key opens everything that its account may read.',
    'An asset that is not active has no file yet: `download` and `fetch` activate it. Orders of the Orders API are not placed.',
  ],
  // activate_asset, wait_asset and download_asset of planet/clients/data.py; the quota by support.planet.com.
  order: {
    files: ['https://api.planet.com/data/v1/assets/{asset}'],
    costs: 'an asset that is activated and then downloaded counts against the quota of your account',
    request: { url: '{href}/activate' },
    status: {
      url: '{href}',
      state: '/status',
      ready: ['active'],
      orderable: ['inactive'],
      answer: { location: '/location' },
    },
    location: '{location}',
  },
}))
