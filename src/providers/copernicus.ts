import { accountWithCode, CLIENT, client, discovery, KEY_PAIR, keyPair, realm } from './facts.ts'
import {
  type ClientValues,
  credentialsOf,
  type KeyValues,
  type NoValues,
  type ProviderCredentials,
  type UserWithCodeValues,
  type Way,
} from './provider.ts'

const REALM = 'https://identity.dataspace.copernicus.eu/auth/realms/CDSE'

const FILES = [
  'https://download.dataspace.copernicus.eu/',
  'https://zipper.dataspace.copernicus.eu/',
  'https://catalogue.dataspace.copernicus.eu/odata/v1/',
]

const SENTINEL_HUB = 'https://sh.dataspace.copernicus.eu/'

const KEY_MANAGER = 'https://s3-keys-manager.cloudferro.com/api/user/'

/** The account by its password; with the key manager among its hosts, also for {@link MADE_KEYS}. */
const byPassword = (...more: readonly string[]) => ({
  id: 'copernicus',
  ...realm(REALM, 'cdse-public'),
  totp: { hole: 'totp' },
  sendTo: [...FILES, ...more],
  use: 'by-address',
})

const byLogin = (...more: readonly string[]) => ({
  id: 'copernicus',
  type: 'openIdConnect',
  ...discovery(REALM),
  clientId: 'cdse-public',
  scopes: ['offline_access'],
  sendTo: [...FILES, ...more],
  use: 'by-address',
})

const STORE = { id: 'copernicus-s3', type: 's3', endpoint: 'https://eodata.dataspace.copernicus.eu', region: 'default' }

const BUCKET = { sendTo: ['s3://eodata/'] }

/** Keys that the key manager makes with the account. */
const madeKeys = () => ({
  ...STORE,
  credentialsUrl: `${KEY_MANAGER}credentials`,
  method: 'POST',
  with: 'copernicus',
  fields: { accessKeyId: 'access_id', secretAccessKey: 'secret' },
  releaseUrl: `${KEY_MANAGER}credentials/access_id/{accessKeyId}`,
  ...BUCKET,
})

const holes = () => accountWithCode('CDSE', 'User name (e-mail address)')

const ways = (): readonly Way[] => [
  {
    id: 'password',
    when: 'Downloads by HTTP with the user name and password of your account.',
    works: ['unattended'],
    holes: holes(),
    credentials: [byPassword()],
  },
  {
    id: 'login',
    when: 'Downloads by HTTP with a login in the browser, where the provider accepts the redirect to your machine.',
    works: [],
    holes: {},
    credentials: [byLogin()],
  },
  {
    id: 's3',
    when: 'Files of s3://eodata with keys of the key manager: parts of products, and many files at once.',
    works: ['unattended'],
    holes: keyPair('CDSE_S3'),
    credentials: [{ ...STORE, ...KEY_PAIR, ...BUCKET }],
  },
  {
    id: 's3-password',
    when: 'Files of s3://eodata with keys that are made with the password of your account, and downloads by HTTP.',
    works: ['unattended'],
    holes: holes(),
    credentials: [byPassword(KEY_MANAGER), madeKeys()],
  },
  {
    id: 's3-login',
    when: 'Files of s3://eodata with keys that are made with a login in the browser, and downloads by HTTP.',
    works: [],
    holes: {},
    credentials: [byLogin(KEY_MANAGER), madeKeys()],
  },
  {
    id: 'sentinel-hub',
    when: 'The APIs of Sentinel Hub, with an OAuth client of your dashboard; its id begins with sh-.',
    works: ['page', 'unattended'],
    holes: client([], ['CDSE_SH_CLIENT_SECRET', 'SH_CLIENT_SECRET']),
    credentials: [
      {
        id: 'copernicus-sentinel-hub',
        type: 'openIdConnect',
        ...discovery(REALM),
        flow: 'clientCredentials',
        ...CLIENT,
        sendTo: [SENTINEL_HUB],
        use: 'by-address',
      },
    ],
  },
]

/**
 * Returns credentials for Copernicus Data Space: of a password, of S3 keys (given, or made with the account), of a client of Sentinel Hub, or without values of a login.
 *
 * @example createAuth({ credentials: [copernicus({ username, password }), copernicus({ accessKeyId, secretAccessKey })] })
 */
export const copernicus: ProviderCredentials<
  | UserWithCodeValues<'password'>
  | UserWithCodeValues<'s3-password'>
  | NoValues<'login'>
  | NoValues<'s3-login'>
  | KeyValues<'s3'>
  | ClientValues<'sentinel-hub'>
> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'copernicus',
  title: 'Copernicus Data Space Ecosystem',
  homepage: 'https://dataspace.copernicus.eu/',
  account: {
    url: 'https://dataspace.copernicus.eu/',
    text: 'Register there; keys for s3:// are made at https://eodata-s3keysmanager.dataspace.copernicus.eu/.',
  },
  sources: [
    documented('APIs/Token', 'realm, client cdse-public, password grant, totp'),
    documented('APIs/OData', 'hosts of downloads, Bearer header, refresh'),
    documented('APIs/S3', 'endpoint, region, bucket and key manager of S3, and its calls'),
    documented('APIs/STAC', 'addresses of both STAC APIs'),
    documented('Quotas', 'life of tokens, limits of sessions'),
    documented('APIs/SentinelHub/Overview/Authentication', 'clients of Sentinel Hub, also for pages'),
  ],
  checked: '2026-11-28',
  recognizes: {
    files: [...FILES, SENTINEL_HUB],
    catalogs: ['https://stac.dataspace.copernicus.eu/', 'https://catalogue.dataspace.copernicus.eu/'],
    issuers: [REALM],
    buckets: [{ name: 'eodata', endpoint: STORE.endpoint }],
  },
  ways: ways(),
  notes: [
    'An access token is valid for 10 minutes and can be refreshed for an hour; the number of sessions of an account is limited.',
    'Keys for S3 end on the day chosen when they are made, and their secret is shown once.',
    'An account has a limited number of keys: a logout deletes those that were made with it. New keys work after some seconds.',
    'Products that are offline must be ordered in the Data Workspace first.',
  ],
}))

function documented(page: string, proves: string) {
  return { url: `https://github.com/eu-cdse/documentation/blob/main/${page}.qmd`, proves }
}
